# The manual page and the completions of shells, written by the program itself after each link, and installed.
if(TARGET kevo AND NOT CMAKE_CROSSCOMPILING)
  set(written ${PROJECT_BINARY_DIR}/shell)
  file(MAKE_DIRECTORY ${written})
  add_custom_command(TARGET kevo POST_BUILD
                     COMMAND $<TARGET_FILE:kevo> man > ${written}/kevo.1
                     COMMAND $<TARGET_FILE:kevo> completion bash > ${written}/kevo
                     COMMAND $<TARGET_FILE:kevo> completion zsh > ${written}/_kevo
                     COMMAND $<TARGET_FILE:kevo> completion fish > ${written}/kevo.fish
                     COMMENT "Writing the manual page and the completions")
  if(KEVO_INSTALL)
    include(GNUInstallDirs)
    install(FILES ${written}/kevo.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
    install(FILES ${written}/kevo DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
    install(FILES ${written}/_kevo DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
    install(FILES ${written}/kevo.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
  endif()
endif()
