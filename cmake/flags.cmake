# SPDX-License-Identifier: MIT
set(ROOFTILE_WARNINGS -Wall -Wextra -Wshadow -Wconversion -Werror -Wstrict-prototypes -Wmissing-prototypes -Wvla
    -Wwrite-strings -Wpointer-arith)
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  list(APPEND ROOFTILE_WARNINGS -Wno-format-truncation) # texts are cut on purpose; their ends are marked or do not matter
endif()
add_compile_definitions(_GNU_SOURCE)
set(ROOFTILE_SANITIZE "" CACHE STRING "sanitizers of the whole build, for example address,undefined")
if(ROOFTILE_SANITIZE)
  add_compile_options(-fsanitize=${ROOFTILE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${ROOFTILE_SANITIZE})
endif()
