# The script of the torch backend's Python processes becomes part of the library, so that Python gets it wherever the program was copied to.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fitness/torch/kevo_torch.py
                                                              ${PROJECT_SOURCE_DIR}/fitness/torch/kevo_torch_device.py
                                                              ${PROJECT_SOURCE_DIR}/fitness/torch/kevo_torch_program.py
                                                              ${PROJECT_SOURCE_DIR}/fitness/torch/kevo_torch_calls.py
                                                              ${PROJECT_SOURCE_DIR}/fitness/torch/kevo_torch_results.py
                                                              ${PROJECT_SOURCE_DIR}/fitness/torch/kevo_torch_pretend.py
                                                              ${PROJECT_SOURCE_DIR}/fitness/torch/kevo_torch_libdevice.py
                                                              ${PROJECT_SOURCE_DIR}/fitness/torch/kevo_torch_races.py
                                                              ${PROJECT_SOURCE_DIR}/fitness/torch/kevo_torch_pretrained.py
                                                              ${PROJECT_SOURCE_DIR}/fitness/torch/kevo_torch_compile.py
                                                              ${PROJECT_SOURCE_DIR}/fitness/torch/kevo_torch_build.py
                                                              ${PROJECT_SOURCE_DIR}/fitness/torch/kevo_torch_triton.py
                                                              ${PROJECT_SOURCE_DIR}/fitness/torch/kevo_torch_ahead.py
                                                              ${PROJECT_SOURCE_DIR}/fitness/torch/kevo_torch_extension.py)
file(READ fitness/torch/kevo_torch_build.py kevo_torch_build_text)
file(READ fitness/torch/kevo_torch_triton.py kevo_torch_triton_text)
file(READ fitness/torch/kevo_torch_extension.py kevo_torch_extension_text)
file(READ fitness/torch/kevo_torch_ahead.py kevo_torch_ahead_text)
file(READ fitness/torch/kevo_torch_compile.py kevo_torch_compile_text)
file(READ fitness/torch/kevo_torch.py kevo_torch_text)
file(READ fitness/torch/kevo_torch_device.py kevo_torch_device_text)
file(READ fitness/torch/kevo_torch_program.py kevo_torch_program_text)
file(READ fitness/torch/kevo_torch_calls.py kevo_torch_calls_text)
file(READ fitness/torch/kevo_torch_results.py kevo_torch_results_text)
file(READ fitness/torch/kevo_torch_pretend.py kevo_torch_pretend_text)
file(READ fitness/torch/kevo_torch_libdevice.py kevo_torch_libdevice_text)
file(READ fitness/torch/kevo_torch_races.py kevo_torch_races_text)
file(READ fitness/torch/kevo_torch_pretrained.py kevo_torch_pretrained_text)
set(kevo_torch_source ${PROJECT_BINARY_DIR}/generated/torch_script.cpp)
file(GENERATE OUTPUT ${kevo_torch_source} CONTENT "#include \"fitness/torch/compile_server.hpp\"
#include \"fitness/torch/python_server.hpp\"

namespace kevo::torch {
std::string_view torch_script() {
  return R\"kevo_py(${kevo_torch_extension_text})kevo_py\" R\"kevo_py(${kevo_torch_ahead_text})kevo_py\" R\"kevo_py(${kevo_torch_device_text})kevo_py\"
         R\"kevo_py(${kevo_torch_calls_text})kevo_py\" R\"kevo_py(${kevo_torch_pretend_text})kevo_py\"
         R\"kevo_py(${kevo_torch_program_text})kevo_py\" R\"kevo_py(${kevo_torch_libdevice_text})kevo_py\"
         R\"kevo_py(${kevo_torch_races_text})kevo_py\"
         R\"kevo_py(${kevo_torch_results_text})kevo_py\" R\"kevo_py(${kevo_torch_pretrained_text})kevo_py\"
         R\"kevo_py(${kevo_torch_text})kevo_py\";
}
std::string_view compile_script() {
  return R\"kevo_py(${kevo_torch_build_text})kevo_py\" R\"kevo_py(${kevo_torch_triton_text})kevo_py\" R\"kevo_py(${kevo_torch_compile_text})kevo_py\";
}
}  // namespace kevo::torch
")

set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/import/kernelbench.py
                                                              ${PROJECT_SOURCE_DIR}/src/import/kernelbench_sizes.py
                                                              ${PROJECT_SOURCE_DIR}/src/import/suite_calls.py
                                                              ${PROJECT_SOURCE_DIR}/src/import/suite_changes.py
                                                              ${PROJECT_SOURCE_DIR}/src/import/suite_memory.py
                                                              ${PROJECT_SOURCE_DIR}/src/import/suite_probe.py
                                                              ${PROJECT_SOURCE_DIR}/src/import/suite_reduce.py
                                                              ${PROJECT_SOURCE_DIR}/src/import/suite_task.py)
file(READ src/import/suite_calls.py kevo_suite_calls_text)
file(READ src/import/suite_changes.py kevo_suite_changes_text)
file(READ src/import/suite_memory.py kevo_suite_memory_text)
file(READ src/import/suite_probe.py kevo_suite_probe_text)
file(READ src/import/suite_reduce.py kevo_suite_reduce_text)
file(READ src/import/suite_task.py kevo_suite_task_text)
file(READ src/import/kernelbench.py kevo_kernelbench_text)
file(READ src/import/kernelbench_sizes.py kevo_kernelbench_sizes_text)
set(kevo_import_source ${PROJECT_BINARY_DIR}/generated/kernelbench_script.cpp)
file(GENERATE OUTPUT ${kevo_import_source} CONTENT "#include \"src/import/kernelbench_script.hpp\"

namespace kevo {
std::string_view kernelbench_script() {
  return R\"kevo_py(${kevo_kernelbench_text})kevo_py\" R\"kevo_py(${kevo_kernelbench_sizes_text})kevo_py\";
}

std::string_view suite_script() {
  return R\"kevo_py(${kevo_kernelbench_text})kevo_py\" R\"kevo_py(${kevo_kernelbench_sizes_text})kevo_py\"
         R\"kevo_py(${kevo_suite_calls_text})kevo_py\" R\"kevo_py(${kevo_suite_changes_text})kevo_py\" R\"kevo_py(${kevo_suite_memory_text})kevo_py\"
         R\"kevo_py(${kevo_suite_probe_text})kevo_py\" R\"kevo_py(${kevo_suite_reduce_text})kevo_py\"
         R\"kevo_py(${kevo_suite_task_text})kevo_py\";
}
}  // namespace kevo
")
