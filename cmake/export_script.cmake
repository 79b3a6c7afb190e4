# The script that writes Parquet becomes part of the library, so that `kevo export` has it wherever the program was copied to.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/export/parquet.py)
file(READ src/export/parquet.py kevo_parquet_text)
set(kevo_export_source ${PROJECT_BINARY_DIR}/generated/parquet_script.cpp)
file(GENERATE OUTPUT ${kevo_export_source} CONTENT "#include \"src/export/parquet.hpp\"

namespace kevo {
std::string_view parquet_script() {
  return R\"kevo_py(${kevo_parquet_text})kevo_py\";
}
}  // namespace kevo
")
