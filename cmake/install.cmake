# SPDX-License-Identifier: MIT
# The installed tree is relocatable: the program looks for ../share/rooftile beside itself, so that path is fixed, whatever
# the GNU folders are set to. `cmake --build . --target uninstall` takes away what the last `cmake --install` put there, and
# `cpack -G DEB` makes a package.
set(generated ${PROJECT_BINARY_DIR}/generated)
set(completions ${generated}/completion)
file(MAKE_DIRECTORY ${completions})

# Whoever builds the program alone can install it.
add_custom_command(TARGET rooftile POST_BUILD
                   COMMAND rooftile man -o ${generated}/rooftile.1
                   COMMAND rooftile completion bash -o ${completions}/rooftile
                   COMMAND rooftile completion zsh -o ${completions}/_rooftile
                   COMMAND rooftile completion fish -o ${completions}/rooftile.fish
                   VERBATIM COMMENT "Writing the man page and the completions")

install(TARGETS rooftile RUNTIME DESTINATION bin)
install(TARGETS rooftile_library LIBRARY DESTINATION lib) # it looks for ../bin/rooftile
install(FILES include/rooftile/rooftile.h DESTINATION include/rooftile)
install(DIRECTORY kernels configs import DESTINATION share/rooftile PATTERN __pycache__ EXCLUDE)
install(FILES ${generated}/rooftile.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${completions}/rooftile DESTINATION share/bash-completion/completions)
install(FILES ${completions}/_rooftile DESTINATION share/zsh/site-functions)
install(FILES ${completions}/rooftile.fish DESTINATION share/fish/vendor_completions.d)
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs examples DESTINATION ${CMAKE_INSTALL_DOCDIR})

add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -D MANIFEST=${PROJECT_BINARY_DIR}/install_manifest.txt
                  -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake VERBATIM)

# Packages are for the Debian that they are made on and later ones. Without a compiler the program predicts and reports, and
# runs kernels that were built elsewhere: compilers are recommended, in the versions that scripts/install_deps looks for.
execute_process(COMMAND getconf GNU_LIBC_VERSION OUTPUT_VARIABLE glibc OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
string(REGEX REPLACE "^glibc " "" glibc "${glibc}")
set(compilers)
foreach(tool clang lld llvm)
  set(versions)
  foreach(version 22 21 20 19 18 17 16 15)
    list(APPEND versions ${tool}-${version})
  endforeach()
  list(JOIN versions " | " versions)
  list(APPEND compilers ${versions})
endforeach()
list(JOIN compilers ", " CPACK_DEBIAN_PACKAGE_RECOMMENDS)
set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_CONTACT "the developers of rooftile")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION utils)
set(CPACK_DEBIAN_PACKAGE_DEPENDS "libc6 (>= ${glibc}), libcjson1, libxxhash0, libmd0, libhwloc15, libelf1 | libelf1t64, \
libdw1 | libdw1t64, libzstd1, zlib1g, libsqlite3-0, python3 (>= 3.11)")
include(CPack)
