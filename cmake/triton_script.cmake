# The script that compiles Triton programs becomes part of the library, so that Python gets it wherever the program was copied to.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fitness/cuda/compile/kevo_triton.py)
file(READ fitness/cuda/compile/kevo_triton.py kevo_triton_text)
set(kevo_triton_source ${PROJECT_BINARY_DIR}/generated/triton_script.cpp)
file(GENERATE OUTPUT ${kevo_triton_source} CONTENT "#include \"fitness/cuda/compile/triton.hpp\"

namespace kevo::cuda {
std::string_view triton_script() {
  return R\"kevo_py(${kevo_triton_text})kevo_py\";
}
}  // namespace kevo::cuda
")
