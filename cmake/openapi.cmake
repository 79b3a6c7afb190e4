# The description of the evaluation service becomes part of the library, so that a server answers it wherever the program was copied to.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/serve/openapi.json)
file(READ src/serve/openapi.json kevo_openapi_text)
set(kevo_openapi_source ${PROJECT_BINARY_DIR}/generated/openapi.cpp)
file(GENERATE OUTPUT ${kevo_openapi_source} CONTENT "#include \"src/serve/routes.hpp\"

namespace kevo::serve {
std::string_view openapi_text() {
  return R\"kevo_api(${kevo_openapi_text})kevo_api\";
}
}  // namespace kevo::serve
")
