# The trusted device code becomes part of the library, so that NVRTC gets it wherever the program was copied to.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fitness/cuda/device/kit.cu)
file(READ fitness/cuda/device/kit.cu kevo_kit_text)
set(kevo_kit_source ${PROJECT_BINARY_DIR}/device_kit/kit_text.cpp)
file(GENERATE OUTPUT ${kevo_kit_source} CONTENT "#include \"fitness/cuda/device/kit.hpp\"

namespace kevo::cuda {
std::string_view kit_text() {
  return R\"kevo_kit(${kevo_kit_text})kevo_kit\";
}
}  // namespace kevo::cuda
")
