# SPDX-License-Identifier: MIT
# The installed tree is relocatable: the program looks for ../share/rooftile beside itself, so that path is fixed, whatever
# the GNU folders are set to.
set(generated ${PROJECT_BINARY_DIR}/generated)
set(completions ${generated}/completion)
file(MAKE_DIRECTORY ${completions})

add_custom_command(OUTPUT ${generated}/rooftile.1 ${completions}/rooftile ${completions}/_rooftile ${completions}/rooftile.fish
                   COMMAND rooftile man -o ${generated}/rooftile.1
                   COMMAND rooftile completion bash -o ${completions}/rooftile
                   COMMAND rooftile completion zsh -o ${completions}/_rooftile
                   COMMAND rooftile completion fish -o ${completions}/rooftile.fish
                   DEPENDS rooftile VERBATIM
                   COMMENT "Writing the man page and the completions")
add_custom_target(rooftile_documents ALL DEPENDS ${generated}/rooftile.1)

install(TARGETS rooftile RUNTIME DESTINATION bin)
install(DIRECTORY kernels configs DESTINATION share/rooftile)
install(FILES ${generated}/rooftile.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES ${completions}/rooftile DESTINATION share/bash-completion/completions)
install(FILES ${completions}/_rooftile DESTINATION share/zsh/site-functions)
install(FILES ${completions}/rooftile.fish DESTINATION share/fish/vendor_completions.d)
foreach(document README.md LICENSE)
  if(EXISTS ${PROJECT_SOURCE_DIR}/${document})
    install(FILES ${document} DESTINATION ${CMAKE_INSTALL_DOCDIR})
  endif()
endforeach()
