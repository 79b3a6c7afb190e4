# Tests mirror the tree: every tests/**/*.test.cpp is a doctest program of its own name, run by ctest.
# Tags in the first lines of a test file: "// labels: slow" adds ctest labels; "// serial" runs it alone, because it measures;
# "// timed" says that the verdict depends on how fast the machine is, for example because the test checks how long something takes.
# "// one processor" binds it to a processor that no other such test has meanwhile. That is for tests in which programs are measured on
# the CPU, but whose verdict does not depend on how well: the controller and the candidate take turns on that processor, so that two such
# tests need not wait for each other, and neither spins while the other one works.
# "// links: kevo" (default) or "// links: core"; "// once: WILDCARD,..." (several lines are allowed) names cases that sanitized builds
# leave out: they judge other processes, which are not sanitized, or the numbers that a long simulation ends with, while other cases run the
# same code.
# "// build: optimized" or "// build: sanitized" names the build that runs the tests of a file when each test runs in one build only
# (KEVO_TEST_SHARE below).
find_package(doctest REQUIRED)
add_library(kevo_doctest_main STATIC tests/support/doctest_main.cpp)
# fmt, which is in the precompiled header, defines macros that every unit which shares it has to see.
target_link_libraries(kevo_doctest_main PUBLIC doctest::doctest ${KEVO_FMT_TARGET})
target_include_directories(kevo_doctest_main PUBLIC ${PROJECT_SOURCE_DIR})
target_compile_definitions(kevo_doctest_main PUBLIC KEVO_SOURCE_DIR="${PROJECT_SOURCE_DIR}"
                                                    KEVO_BINARY_DIR="${PROJECT_BINARY_DIR}")
kevo_own(kevo_doctest_main)
# For the tests themselves a fast compiler counts more than fast code. What tests of the compiled library test is not in the test, so
# that they are compiled without optimization in a release build, which took 0.6 to 0.9 of the processor time. Tests of the header-only
# core and tests that measure keep -O1.
function(kevo_test_speed target level)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O${level}>)
endfunction()

# All tests with the same options share one precompiled header, which a target of its own has to hold.
file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled/tests.cpp CONTENT "")
set(KEVO_TEST_LEVELS 1)
if(CMAKE_BUILD_TYPE STREQUAL "Release")
  set(KEVO_TEST_LEVELS 0 1)
endif()
foreach(level IN LISTS KEVO_TEST_LEVELS)
  add_executable(kevo_test_headers_${level} ${PROJECT_BINARY_DIR}/precompiled/tests.cpp)
  target_link_libraries(kevo_test_headers_${level} PRIVATE kevo_doctest_main kevo::core)
  kevo_own(kevo_test_headers_${level})
  kevo_test_speed(kevo_test_headers_${level} ${level})
  kevo_precompile(kevo_test_headers_${level} <doctest/doctest.h>)
endforeach()

# A whole search, compiled once for the tests that show what came of it.
add_library(kevo_synthetic_run STATIC EXCLUDE_FROM_ALL tests/report/synthetic_run.cpp)
target_link_libraries(kevo_synthetic_run PUBLIC kevo_doctest_main kevo::core)
kevo_own(kevo_synthetic_run)
kevo_test_speed(kevo_synthetic_run 1)
target_compile_options(kevo_synthetic_run PRIVATE -fPIE)  # as the tests, whose precompiled header it shares
kevo_precompile_as(kevo_synthetic_run kevo_test_headers_1)

# scripts/test.sh makes two builds, and runs each test in one of them, to save time. The optimized build runs what measures,
# what tests programs rather than functions, and the cases that sanitized builds leave out; the sanitized build runs all others, because it
# finds more. `scripts/test.sh --all` runs all tests in both.
set(KEVO_TEST_SHARE all CACHE STRING "Which tests this build has: all of them, or the share named optimized or sanitized")
set_property(CACHE KEVO_TEST_SHARE PROPERTY STRINGS all optimized sanitized)
if(NOT KEVO_TEST_SHARE MATCHES "^(all|optimized|sanitized)$")
  message(FATAL_ERROR "KEVO_TEST_SHARE is '${KEVO_TEST_SHARE}': must be all, optimized or sanitized")
endif()
# Tests of whole programs. The tag "// build:" in a file overrides this. Their programs measure, or end others by time limits, so that these
# tests have the label `timing`, as those with the tags "// serial", "// one processor" and "// timed" have. scripts/test.sh runs a test with
# this label again if it fails, because a neighbour may have disturbed it; no other test gets a second chance.
set(KEVO_OPTIMIZED_TESTS "^(attacks|cli|configs|docs|export\\.bundle|fitness\\.cuda\\.(compile|hosted)|gpu|import|layers|torch)\\.")

# In `result`, whether this build has the test `name`: all of its cases ("all"), those that sanitized builds leave out ("once"), or none.
function(kevo_share_of_test result name tags)
  set(share all)
  if(NOT KEVO_TEST_SHARE STREQUAL "all")
    set(build sanitized)
    if(tags MATCHES "// build: ([a-z]+)")
      set(build ${CMAKE_MATCH_1})
    elseif((name MATCHES "${KEVO_OPTIMIZED_TESTS}" AND NOT name MATCHES "^layers") OR tags MATCHES "// (serial|labels: [a-z ]*(slow|gpu))")
      set(build optimized)
    endif()
    if(NOT build STREQUAL KEVO_TEST_SHARE)
      set(share none)
      if(KEVO_TEST_SHARE STREQUAL "optimized" AND tags MATCHES "// once: ")
        set(share once)
      endif()
    endif()
  endif()
  set(${result} ${share} PARENT_SCOPE)
endfunction()

# Sources of tests that are compiled together are compiled in less than half of the processor time, because the templates that they
# share are instantiated once. Names in unnamed namespaces must therefore differ within a folder, as in the library.
option(KEVO_JOINED_TESTS "Compile the tests of a folder several at a time" ${KEVO_JOINED})
set(KEVO_JOINED_TESTS_MOST 12)
# Small folders that are compiled as one: each program costs some seconds for what all of them include, and for linking. Names in
# unnamed namespaces must differ within each line, too. The program has the name of the first folder.
set(KEVO_TESTS_TOGETHER
    "base.text base.json base.settings base.tensor_file"
    "evaluate filter layers stop vary"
    "export export.bundle"
    "fitness.build fitness.attack fitness.cascade fitness.command fitness.machine"
    "fitness.oracle fitness.process fitness.sandbox fitness.worker"
    "fitness.cuda fitness.cuda.measure fitness.cuda.python fitness.cuda.tools"
    "operators operators.agent"
    "operators.rewrite operators.rewrite.actions operators.rewrite.cuda operators.mutants"
    "report display"
    "suite fuzz plugins rejudge remote")

# The program `target` of the given sources, compiled with optimization `level`.
function(kevo_test_program target level is_core)
  add_executable(${target} ${ARGN})
  set_target_properties(${target} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests)
  target_link_libraries(${target} PRIVATE kevo_doctest_main)
  if(is_core)
    target_link_libraries(${target} PRIVATE kevo::core)
  else()
    target_link_libraries(${target} PRIVATE kevo::kevo)
    foreach(program kevo kevo-worker-cpu kevo-worker-torch kevo-worker-cuda kevo-worker-hosted kevo-device kevo-compile-cuda kevo-parse-cpp)
      if(TARGET ${program})
        add_dependencies(${target} ${program})
      endif()
    endforeach()
  endif()
  if(target MATCHES "^test\\.(report|display)")
    target_link_libraries(${target} PRIVATE kevo_synthetic_run)
  endif()
  if(target MATCHES "^test\\.(learn|operators)" AND EIGEN_INCLUDE_DIR)
    target_include_directories(${target} SYSTEM PRIVATE ${EIGEN_INCLUDE_DIR})
  endif()
  kevo_own(${target})
  kevo_test_speed(${target} ${level})
  kevo_precompile_as(${target} kevo_test_headers_${level})
endfunction()

# The test of one source: its cases in the program `program`, whichever sources that program has besides.
function(kevo_add_test name source program tags)
  set(labels)
  set(cases)
  set(once ${tags})
  list(FILTER once INCLUDE REGEX "^// once: ")
  list(TRANSFORM once REPLACE "^// once: " "")
  list(JOIN once "," once)
  kevo_share_of_test(share ${name} "${tags}")
  if(once AND share STREQUAL "once")
    set(cases "--test-case=${once}")
  elseif(once AND NOT KEVO_SLOW_TESTS)
    set(cases "--test-case-exclude=${once}")
  endif()
  file(RELATIVE_PATH inside ${PROJECT_SOURCE_DIR} ${source})
  add_test(NAME ${name} COMMAND ${program} --source-file=*/${inside} ${cases} WORKING_DIRECTORY ${PROJECT_BINARY_DIR})
  # 77 is the code of a program in which a case could not run here (tests/support/skip.hpp).
  set_tests_properties(${name} PROPERTIES TIMEOUT 300 SKIP_RETURN_CODE 77)
  if(tags MATCHES "// timeout: ([0-9]+)")
    # What may take long begins first, so that no processor waits for it at the end.
    set_tests_properties(${name} PROPERTIES TIMEOUT ${CMAKE_MATCH_1} COST ${CMAKE_MATCH_1})
  endif()
  if(tags MATCHES "// one processor")
    set_tests_properties(${name} PROPERTIES PROCESSORS 1 PROCESSOR_AFFINITY ON)
  endif()
  if(tags MATCHES "// labels: ([a-z ]+)")
    string(REPLACE " " ";" labels "${CMAKE_MATCH_1}")
  endif()
  if((name MATCHES "${KEVO_OPTIMIZED_TESTS}" AND NOT name MATCHES "^layers") OR tags MATCHES "// (serial|one processor|timed)")
    list(APPEND labels timing)
  endif()
  if(tags MATCHES "// serial")
    # The label, so that a script can run them when nothing else runs on the machine.
    set_tests_properties(${name} PROPERTIES RUN_SERIAL ON)
    list(APPEND labels alone)
  endif()
  set_tests_properties(${name} PROPERTIES LABELS "${labels}")
endfunction()

file(GLOB_RECURSE kevo_test_sources CONFIGURE_DEPENDS tests/*.test.cpp)
set(kevo_test_groups)
foreach(source IN LISTS kevo_test_sources)
  file(RELATIVE_PATH inside ${PROJECT_SOURCE_DIR}/tests ${source})
  string(REGEX REPLACE "\\.test\\.cpp$" "" name ${inside})
  string(REPLACE "/" "." name ${name})
  file(STRINGS ${source} tags LIMIT_COUNT 20 REGEX "^// (labels|serial|one processor|timed|links|timeout|once|build)")
  if(tags MATCHES "// labels: [a-z ]*slow" AND NOT KEVO_SLOW_TESTS)
    continue()
  endif()
  kevo_share_of_test(share ${name} "${tags}")
  if(share STREQUAL "none")
    continue()
  endif()
  set(is_core OFF)
  if(tags MATCHES "// links: core" OR NOT TARGET kevo_kevo)
    set(is_core ON)
  endif()
  set(level 1)
  if(CMAKE_BUILD_TYPE STREQUAL "Release" AND NOT is_core AND NOT tags MATCHES "// serial")
    set(level 0)
  endif()
  if(KEVO_JOINED_TESTS AND NOT tags MATCHES "// (serial|labels: [a-z ]*gpu)")
    get_filename_component(folder ${inside} DIRECTORY)
    string(REPLACE "/" "." folder ${folder})
    foreach(line IN LISTS KEVO_TESTS_TOGETHER)
      string(REPLACE " " ";" folders ${line})
      if(folder IN_LIST folders)
        list(GET folders 0 folder)
      endif()
    endforeach()
    set(group ${folder}-${level}-${is_core})
    list(APPEND kevo_test_groups ${group})
    list(APPEND sources_of_${group} ${source})
    list(APPEND names_of_${group} ${name})
  else()
    kevo_test_program(test.${name} ${level} ${is_core} ${source})
    kevo_add_test(${name} ${source} test.${name} "${tags}")
  endif()
endforeach()

list(REMOVE_DUPLICATES kevo_test_groups)
foreach(group IN LISTS kevo_test_groups)
  string(REGEX MATCH "^(.*)-([01])-(ON|OFF)$" matched ${group})
  set(folder ${CMAKE_MATCH_1})
  set(level ${CMAKE_MATCH_2})
  set(is_core ${CMAKE_MATCH_3})
  list(LENGTH sources_of_${group} count)
  math(EXPR parts "(${count} + ${KEVO_JOINED_TESTS_MOST} - 1) / ${KEVO_JOINED_TESTS_MOST}")
  set(index 0)
  foreach(source name IN ZIP_LISTS sources_of_${group} names_of_${group})
    math(EXPR part "${index} * ${parts} / ${count} + 1")
    math(EXPR index "${index} + 1")
    set(program test.${group}-${part})
    file(RELATIVE_PATH included ${PROJECT_BINARY_DIR}/joined/tests ${source})
    string(APPEND text_of_${program} "#include \"${included}\"\n")
    # The target that is named after a test builds the program that contains it.
    add_custom_target(test.${name} DEPENDS ${program})
    file(STRINGS ${source} tags LIMIT_COUNT 20 REGEX "^// (labels|serial|one processor|timed|links|timeout|once|build)")
    kevo_add_test(${name} ${source} ${program} "${tags}")
  endforeach()
  foreach(part RANGE 1 ${parts})
    set(program test.${group}-${part})
    set(unit ${PROJECT_BINARY_DIR}/joined/tests/${program}.cpp)
    file(CONFIGURE OUTPUT ${unit} CONTENT "${text_of_${program}}" @ONLY)
    kevo_test_program(${program} ${level} ${is_core} ${unit})
  endforeach()
endforeach()

# Every public header compiles alone, and twice in one unit.
file(GLOB_RECURSE kevo_headers CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR}/include include/kevo/*.hpp)
set(header_units)
foreach(header IN LISTS kevo_headers)
  if(NOT header MATCHES "kevo/learn/")
    string(MAKE_C_IDENTIFIER ${header} unit)
    set(file ${PROJECT_BINARY_DIR}/header_alone/${unit}.cpp)
    file(CONFIGURE OUTPUT ${file} CONTENT "#include <@header@>\n#include <@header@>\n" @ONLY)
    list(APPEND header_units ${file})
  endif()
endforeach()
set(KEVO_SYNTAX_ONLY -fsyntax-only -Wall -Wextra -Wconversion -Wshadow -Wno-missing-field-initializers -Werror)
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # The build's own "-c" is unused here, which newer Clangs say; and they report what kevo_own is silent about, too.
  list(APPEND KEVO_SYNTAX_ONLY -Wno-unused-command-line-argument -Wno-deprecated-declarations)
endif()
if(header_units)
  add_library(header_alone OBJECT EXCLUDE_FROM_ALL ${header_units})
  target_link_libraries(header_alone PRIVATE kevo::core)
  target_compile_options(header_alone PRIVATE ${KEVO_SYNTAX_ONLY})
endif()

# CI compiles the benchmarks without making programs of them: nobody runs them there.
find_package(benchmark QUIET)
if(benchmark_FOUND AND TARGET kevo_kevo)
  file(GLOB_RECURSE benchmark_units CONFIGURE_DEPENDS bench/*.cpp)
  add_library(benchmarks_compile OBJECT EXCLUDE_FROM_ALL ${benchmark_units})
  target_include_directories(benchmarks_compile PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(benchmarks_compile PRIVATE kevo::core benchmark::benchmark)
  target_compile_definitions(benchmarks_compile PRIVATE KEVO_BINARY_DIR="${PROJECT_BINARY_DIR}")
  target_compile_options(benchmarks_compile PRIVATE ${KEVO_SYNTAX_ONLY})
endif()

include(cmake/tests_extra.cmake OPTIONAL)
