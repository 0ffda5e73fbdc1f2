# Manual pages and completions, made by the programs themselves once they are built.
set(FATHOM_MAN_FOLDER ${CMAKE_BINARY_DIR}/man)
set(fathom_pages)
foreach(program fathom fathomd fathom-collector fathom-cordon)
  set(section 8)
  if(program STREQUAL "fathom")
    set(section 1)
  endif()
  set(page ${FATHOM_MAN_FOLDER}/${program}.${section})
  add_custom_command(OUTPUT ${page}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${FATHOM_MAN_FOLDER}
    COMMAND ${PROJECT_SOURCE_DIR}/deploy/scripts/man_page $<TARGET_FILE:${program}> ${section} > ${page}
    DEPENDS ${program} ${PROJECT_SOURCE_DIR}/deploy/scripts/man_page VERBATIM)
  install(FILES ${page} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section})
  list(APPEND fathom_pages ${page})
endforeach()

function(fathom_completion shell folder name)
  set(file ${FATHOM_MAN_FOLDER}/${name})
  add_custom_command(OUTPUT ${file}
    COMMAND ${CMAKE_COMMAND} -E make_directory ${FATHOM_MAN_FOLDER}
    COMMAND fathom completion ${shell} > ${file} DEPENDS fathom VERBATIM)
  install(FILES ${file} DESTINATION ${CMAKE_INSTALL_DATADIR}/${folder})
  set(fathom_pages ${fathom_pages} ${file} PARENT_SCOPE)
endfunction()
fathom_completion(bash bash-completion/completions fathom)
fathom_completion(zsh zsh/site-functions _fathom)
fathom_completion(fish fish/vendor_completions.d fathom.fish)
add_custom_target(fathom_pages ALL DEPENDS ${fathom_pages})
