# An installed copy: bin/kevo, its helper programs in libexec/kevo, the configs, the headers of include/kevo (no others), the
# libraries, and a CMake package. find_package(kevo) gives kevo::core (header-only, needs Boost headers) and, where the program
# was built, kevo::kevo; find_package(kevo COMPONENTS core) asks for nothing but Boost; COMPONENTS learn adds kevo::learn
# (kevo/learn/*.hpp, needs Eigen).
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(kevo_install_targets kevo_core)
if(TARGET kevo_kevo)
  list(APPEND kevo_install_targets kevo_kevo)
  foreach(layer IN LISTS KEVO_LAYERS)
    list(APPEND kevo_install_targets kevo_${layer})
  endforeach()
endif()

# What is linked by the path that it has here is found by its name there.
foreach(target IN LISTS kevo_install_targets)
  get_target_property(links ${target} INTERFACE_LINK_LIBRARIES)
  set(movable)
  foreach(link IN LISTS links)
    if(link MATCHES "^(.*<LINK_ONLY:)?(/[^>]*/lib([^/>]+)\\.(so|a))>?$")
      list(APPEND movable $<BUILD_INTERFACE:${CMAKE_MATCH_2}> $<INSTALL_INTERFACE:${CMAKE_MATCH_3}>)
    elseif(link)
      list(APPEND movable ${link})
    endif()
  endforeach()
  if(movable)
    set_target_properties(${target} PROPERTIES INTERFACE_LINK_LIBRARIES "${movable}")
  endif()
endforeach()

install(TARGETS ${kevo_install_targets} EXPORT kevo-targets)
if(TARGET kevo)
  install(TARGETS kevo)
endif()
set(KEVO_PROGRAM_FOLDER ${CMAKE_INSTALL_LIBEXECDIR}/kevo)
foreach(program kevo-worker-cpu kevo-worker-cuda kevo-worker-hosted kevo-device kevo-replay-cuda kevo-compile-cuda)
  if(TARGET ${program})
    install(TARGETS ${program} RUNTIME DESTINATION ${KEVO_PROGRAM_FOLDER})
  endif()
endforeach()
install(DIRECTORY include/kevo DESTINATION include)
install(DIRECTORY configs DESTINATION share/kevo)
set(destination ${CMAKE_INSTALL_LIBDIR}/cmake/kevo)
install(EXPORT kevo-targets NAMESPACE kevo:: DESTINATION ${destination})
configure_package_config_file(cmake/kevo-config.cmake.in ${PROJECT_BINARY_DIR}/kevo-config.cmake
                              INSTALL_DESTINATION ${destination} PATH_VARS KEVO_PROGRAM_FOLDER)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/kevo-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/kevo-config.cmake ${PROJECT_BINARY_DIR}/kevo-config-version.cmake
        DESTINATION ${destination})
