# The script that calls evaluators of other systems becomes part of the library, so that it is there wherever the program was copied to.
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/fitness/evaluator/kevo_evaluator.py
                                                              ${PROJECT_SOURCE_DIR}/fitness/evaluator/kevo_evaluator_shinka.py)
file(READ fitness/evaluator/kevo_evaluator_shinka.py kevo_evaluator_shinka_text)
file(READ fitness/evaluator/kevo_evaluator.py kevo_evaluator_text)
set(kevo_evaluator_source ${PROJECT_BINARY_DIR}/generated/evaluator_script.cpp)
file(GENERATE OUTPUT ${kevo_evaluator_source} CONTENT "#include \"fitness/evaluator/evaluator_fitness.hpp\"

namespace kevo {
std::string_view evaluator_script() {
  return R\"kevo_py(${kevo_evaluator_shinka_text})kevo_py\" R\"kevo_py(${kevo_evaluator_text})kevo_py\";
}
}  // namespace kevo
")
