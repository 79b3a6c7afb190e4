# The trusted device code becomes part of the library, so that NVRTC gets it wherever the program was copied to.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fitness/cuda/device/trusted_kernels.cu)
file(READ fitness/cuda/device/trusted_kernels.cu kevo_trusted_kernels_text)
set(kevo_trusted_kernels_source ${PROJECT_BINARY_DIR}/generated/trusted_kernels_text.cpp)
file(GENERATE OUTPUT ${kevo_trusted_kernels_source} CONTENT "#include \"fitness/cuda/device/trusted_kernels.hpp\"

namespace kevo::cuda {
std::string_view trusted_kernels_text() {
  return R\"kevo_text(${kevo_trusted_kernels_text})kevo_text\";
}
}  // namespace kevo::cuda
")
