# The Python package kevo (docs/python.md): the module python/src, which links the library that is built anyway, beside the Python
# files of python/kevo. KEVO_PYTHON=ON in a build folder puts a package that can be imported into BUILD/python; `pip install .`
# (pyproject.toml) makes a wheel of it, with the helper programs in kevo/libexec.
find_package(Python3 3.9 QUIET COMPONENTS Interpreter Development.Module)
set(KEVO_PYTHON_MISSING "")
if(NOT Python3_Interpreter_FOUND)
  set(KEVO_PYTHON_MISSING "Python 3.9 or newer is not installed")
elseif(NOT Python3_Development.Module_FOUND)
  set(KEVO_PYTHON_MISSING "the headers of Python are not installed (python3-dev)")
else()
  # pybind11 takes the interpreter that was found here.
  set(Python_EXECUTABLE ${Python3_EXECUTABLE})
  set(PYTHON_EXECUTABLE ${Python3_EXECUTABLE})
  set(PYBIND11_FINDPYTHON ON)
  find_package(pybind11 2.10 CONFIG QUIET)
  if(NOT pybind11_FOUND)
    set(KEVO_PYTHON_MISSING "pybind11 2.10 or newer is not installed (pybind11-dev)")
  endif()
endif()

if(KEVO_PYTHON_MISSING)
  if(DEFINED SKBUILD)
    message(FATAL_ERROR "The Python package cannot be built: ${KEVO_PYTHON_MISSING}")
  endif()
  message(STATUS "No Python package: ${KEVO_PYTHON_MISSING}")
else()
  file(GLOB kevo_python_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} python/src/*.cpp)
  kevo_join(kevo_python_units ${kevo_python_sources})
  pybind11_add_module(kevo_python MODULE NO_EXTRAS ${kevo_python_units})
  target_link_libraries(kevo_python PRIVATE kevo::kevo)
  target_include_directories(kevo_python PRIVATE ${PROJECT_SOURCE_DIR})
  set_target_properties(kevo_python PROPERTIES OUTPUT_NAME _kevo LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/python/kevo)
  kevo_own(kevo_python)
  # Converting values is not worth optimizing where every build costs time; wheels have the build type's options.
  if(NOT DEFINED SKBUILD)
    target_compile_options(kevo_python PRIVATE $<$<CONFIG:Release>:-O0>)
  endif()
  if(NOT KEVO_JOINED)
    kevo_precompile(kevo_python <pybind11/pybind11.h> <pybind11/stl.h>)
  endif()
  # What the library takes from its static layers stays its own: another module may bring another version.
  target_link_options(kevo_python PRIVATE -Wl,--exclude-libs,ALL)

  set(KEVO_HELPERS)
  foreach(program kevo-worker-cpu kevo-worker-torch kevo-worker-cuda kevo-worker-hosted kevo-device kevo-replay-cuda kevo-compile-cuda
                  kevo-parse-cpp)
    if(TARGET ${program})
      list(APPEND KEVO_HELPERS ${program})
    endif()
  endforeach()
  add_dependencies(kevo_python ${KEVO_HELPERS})

  # In a build folder the package consists of links, so that an edited file counts at once.
  file(GLOB kevo_package_files CONFIGURE_DEPENDS python/kevo/*.py python/kevo/*.pyi python/kevo/py.typed)
  file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/python/kevo)
  foreach(file IN LISTS kevo_package_files)
    get_filename_component(name ${file} NAME)
    file(CREATE_LINK ${file} ${PROJECT_BINARY_DIR}/python/kevo/${name} SYMBOLIC)
  endforeach()
  file(CREATE_LINK ${PROJECT_BINARY_DIR} ${PROJECT_BINARY_DIR}/python/kevo/libexec SYMBOLIC)

  # The wheel takes this component and the Python files; so does a test.
  install(TARGETS kevo_python LIBRARY DESTINATION kevo COMPONENT python EXCLUDE_FROM_ALL)
  foreach(program IN LISTS KEVO_HELPERS)
    install(TARGETS ${program} RUNTIME DESTINATION kevo/libexec COMPONENT python EXCLUDE_FROM_ALL
                               LIBRARY DESTINATION kevo/libexec COMPONENT python EXCLUDE_FROM_ALL)
  endforeach()
  add_custom_target(kevo_wheel DEPENDS kevo_python)
endif()

# Every python/tests/test_*.py is a test of its own. A module that is not there makes it a skip that says why.
if(KEVO_TESTS)
  file(GLOB kevo_python_tests CONFIGURE_DEPENDS python/tests/test_*.py)
  foreach(source IN LISTS kevo_python_tests)
    get_filename_component(name ${source} NAME_WE)
    string(REGEX REPLACE "^test_" "python." name ${name})
    if(KEVO_PYTHON_MISSING)
      add_test(NAME ${name} COMMAND sh -c "echo 'skipped: ${KEVO_PYTHON_MISSING}'; exit 77")
    else()
      add_test(NAME ${name} COMMAND ${Python3_EXECUTABLE} -B ${source} WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
      set_tests_properties(${name} PROPERTIES ENVIRONMENT
                           "PYTHONPATH=${PROJECT_BINARY_DIR}/python:${PROJECT_SOURCE_DIR}/python/tests;KEVO_BUILD=${PROJECT_BINARY_DIR};CMAKE=${CMAKE_COMMAND}")
    endif()
    set_tests_properties(${name} PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77 LABELS "python;timing")
    # Each takes about half a minute. If they ran last, most processors would be idle.
    set_tests_properties(${name} PROPERTIES COST 200)
    # Most of them measure, and what they judge does not depend on how well (cmake/tests.cmake, "// one processor").
    set_tests_properties(${name} PROPERTIES PROCESSORS 1 PROCESSOR_AFFINITY ON)
    if(name MATCHES "^python\\.ray")  # starts a Ray cluster of three nodes, where Ray is installed
      set_tests_properties(${name} PROPERTIES TIMEOUT 1200 LABELS "python;slow;timing")
    endif()
    if(name STREQUAL "python.slurm")  # starts a Slurm cluster of three nodes, where Slurm and Ray are installed
      set_tests_properties(${name} PROPERTIES TIMEOUT 1200 LABELS "python;long;timing")
    endif()
  endforeach()
endif()
