# kevo::core, the header-only library. Boost headers are all it needs (Eigen only for kevo/learn).
find_package(Boost 1.81 CONFIG REQUIRED)
add_library(kevo_core INTERFACE)
add_library(kevo::core ALIAS kevo_core)
set_target_properties(kevo_core PROPERTIES EXPORT_NAME core)
target_compile_features(kevo_core INTERFACE cxx_std_20)
target_include_directories(kevo_core INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                               $<INSTALL_INTERFACE:include>)
target_link_libraries(kevo_core INTERFACE Boost::headers)

# kevo::learn, the core with Eigen for kevo/learn; the installed package has it as a component.
find_package(Eigen3 3.4 QUIET NO_MODULE)
if(TARGET Eigen3::Eigen)
  add_library(kevo_learn INTERFACE)
  add_library(kevo::learn ALIAS kevo_learn)
  target_link_libraries(kevo_learn INTERFACE kevo_core Eigen3::Eigen)
endif()
