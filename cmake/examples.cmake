# Every examples/*.cpp is a program that ctest runs; examples/plugin is a shared object that `kevo run` loads.
file(GLOB kevo_example_sources CONFIGURE_DEPENDS examples/*.cpp)
foreach(source IN LISTS kevo_example_sources)
  get_filename_component(name ${source} NAME_WE)
  add_executable(example.${name} ${source})
  target_link_libraries(example.${name} PRIVATE kevo::kevo)
  set_target_properties(example.${name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
  kevo_own(example.${name})
  # They time what they search for, which means nothing without optimization. -O1 is enough, and compiles about a seventh faster than -O2.
  target_compile_options(example.${name} PRIVATE $<$<OR:$<CONFIG:Release>,$<CONFIG:RelWithDebInfo>>:-O1>)
  target_compile_options(example.${name} PRIVATE -fPIC)  # as the library, whose precompiled header they share
  kevo_precompile_as(example.${name} kevo_base)
  set_target_properties(example.${name} PROPERTIES PCH_WARN_INVALID OFF)
  add_test(NAME examples.${name} COMMAND example.${name} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(examples.${name} PROPERTIES TIMEOUT 120 COST 120 LABELS timing)
  # Some measure, and do not depend on how well (cmake/tests.cmake, "// one processor").
  set_tests_properties(examples.${name} PROPERTIES PROCESSORS 1 PROCESSOR_AFFINITY ON)
endforeach()

add_library(kevo_example_plugin MODULE examples/plugin/plugin.cpp)
target_link_libraries(kevo_example_plugin PRIVATE kevo::core)
set_target_properties(kevo_example_plugin PROPERTIES PREFIX "" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/examples)
kevo_own(kevo_example_plugin)
