# SPDX-License-Identifier: MIT
set(ROOFTILE_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Werror -Wstrict-prototypes -Wmissing-prototypes -Wvla
    -Wwrite-strings -Wpointer-arith)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  list(APPEND ROOFTILE_WARNINGS -Wno-format-truncation) # texts are cut on purpose; their ends are marked or do not matter
endif()
add_compile_definitions(_GNU_SOURCE)
# Verdicts must not depend on whether a compiler fuses a * b + c.
add_compile_options($<$<COMPILE_LANGUAGE:C>:-ffp-contract=off>)
# Nobody reads the flags of floating-point exceptions, or errno of math functions: without them loops become vector code.
add_compile_options($<$<COMPILE_LANGUAGE:C>:-fno-trapping-math> $<$<COMPILE_LANGUAGE:C>:-fno-math-errno>)
set(ROOFTILE_SANITIZE "" CACHE STRING "sanitizers of the whole build, for example address,undefined")
if(ROOFTILE_SANITIZE)
  add_compile_options(-fsanitize=${ROOFTILE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ROOFTILE_SANITIZE})
endif()
# Without coverage of the libraries a fuzzer searches blindly.
if(ROOFTILE_FUZZ AND CMAKE_C_COMPILER_ID MATCHES "Clang")
  add_compile_options(-fsanitize=fuzzer-no-link)
endif()
