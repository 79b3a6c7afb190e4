# kevo::core, the header-only library. Boost headers are all it needs (Eigen only for kevo/learn).
find_package(Boost 1.81 REQUIRED)
add_library(kevo_core INTERFACE)
add_library(kevo::core ALIAS kevo_core)
set_target_properties(kevo_core PROPERTIES EXPORT_NAME core)
target_compile_features(kevo_core INTERFACE cxx_std_20)
target_include_directories(kevo_core INTERFACE $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                               $<INSTALL_INTERFACE:include>)
target_link_libraries(kevo_core INTERFACE Boost::headers)
