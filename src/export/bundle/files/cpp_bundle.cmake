# A program that kevo found. add_subdirectory() gives the target @name@; alone, it builds the tests, too.
cmake_minimum_required(VERSION 3.18)
project(@name@ LANGUAGES CXX)

# The options of the run and its compiler, @version@.
# Another compiler: -D@name@_COMPILER=...
separate_arguments(@name@_options UNIX_COMMAND @options@)
find_program(@name@_COMPILER NAMES @compilers@)
if(NOT @name@_COMPILER)
  set(@name@_COMPILER ${CMAKE_CXX_COMPILER} CACHE FILEPATH "compiler of the program" FORCE)
endif()
execute_process(COMMAND ${@name@_COMPILER} --version OUTPUT_VARIABLE @name@_version)
string(REGEX REPLACE "\n.*" "" @name@_version "${@name@_version}")
if(NOT @name@_version STREQUAL @version@)
  message(STATUS "@name@: compiled by ${@name@_version}, so that its speed may differ from that of the run")
endif()

# Where binutils or their like are there, a program's own names are no names of the whole program that it is linked into.
execute_process(COMMAND ${CMAKE_LINKER} --help OUTPUT_VARIABLE @name@_linker ERROR_QUIET)
set(@name@_joins OFF)
if(CMAKE_OBJCOPY AND @name@_linker MATCHES "force-group-allocation")
  set(@name@_joins ON)
else()
  message(STATUS "@name@: without objcopy, functions of the program may clash with functions of the same names")
endif()
execute_process(COMMAND ${@name@_COMPILER} -fno-gnu-unique -E -x c++ /dev/null RESULT_VARIABLE @name@_other
                OUTPUT_QUIET ERROR_QUIET)
if(@name@_other EQUAL 0)
  list(APPEND @name@_options -fno-gnu-unique)
endif()

# A translation unit of its own, as in the run: the function `entry` of main, a file of folder, becomes `symbol` in
# symbol.o. It lies as in the run: `offset` bytes behind the begin of a page, because some code depends on it.
function(@name@_unit symbol entry folder main offset options)
  set(base ${CMAKE_CURRENT_BINARY_DIR}/${symbol})
  file(GLOB_RECURSE texts CONFIGURE_DEPENDS ${folder}/*)
  set(compile ${@name@_COMPILER} ${@name@_options} ${options} -fno-lto -c ${main})
  if(NOT @name@_joins)
    add_custom_command(OUTPUT ${base}.o DEPENDS ${texts} WORKING_DIRECTORY ${folder} VERBATIM
      COMMAND ${compile} -D${entry}=${symbol} -o ${base}.o)
    return()
  endif()
  file(CONFIGURE OUTPUT ${base}_place.s CONTENT
       ".text\n.p2align 12\n.fill ${offset}, 1, 0x90\n.section .note.GNU-stack,\"\",%progbits\n" @ONLY)
  add_custom_command(OUTPUT ${base}.o DEPENDS ${texts} ${base}_place.s WORKING_DIRECTORY ${folder} VERBATIM
    COMMAND ${compile} -o ${base}_compiled.o
    COMMAND ${@name@_COMPILER} -c ${base}_place.s -o ${base}_place.o
    COMMAND ${CMAKE_LINKER} -r --force-group-allocation -o ${base}_joined.o ${base}_place.o ${base}_compiled.o
    COMMAND ${CMAKE_OBJCOPY} --redefine-sym ${entry}=${symbol} --keep-global-symbol=${entry}
            --keep-global-symbol=${symbol} ${base}_joined.o ${base}.o)
endfunction()

@name@_unit(@name@_run run ${CMAKE_CURRENT_SOURCE_DIR}/source @main@ @offset@ "@choices@")
add_library(@name@ STATIC ${CMAKE_CURRENT_BINARY_DIR}/@name@_run.o)
set_target_properties(@name@ PROPERTIES LINKER_LANGUAGE CXX)
target_include_directories(@name@ PUBLIC include)
target_link_libraries(@name@ PUBLIC @libraries@)
if("-fopenmp" IN_LIST @name@_options)
  target_link_options(@name@ PUBLIC -fopenmp)
endif()
if(CMAKE_SOURCE_DIR STREQUAL PROJECT_SOURCE_DIR AND EXISTS ${PROJECT_SOURCE_DIR}/test/@name@_test.cpp)
  enable_testing()
  find_package(Threads REQUIRED)
  @name@_unit(@name@_reference reference ${CMAKE_CURRENT_SOURCE_DIR}/test/reference @reference@ 0 "@reference_choices@")
  add_executable(@name@_test test/@name@_test.cpp ${CMAKE_CURRENT_BINARY_DIR}/@name@_reference.o)
  target_compile_features(@name@_test PRIVATE cxx_std_17)
  target_compile_options(@name@_test PRIVATE -O2)
  target_link_libraries(@name@_test PRIVATE @name@ Threads::Threads)
  add_test(NAME @name@ COMMAND @name@_test)
  if(EXISTS ${PROJECT_SOURCE_DIR}/test/baseline)
    @name@_unit(@name@_baseline run ${CMAKE_CURRENT_SOURCE_DIR}/test/baseline @baseline@ @baseline_offset@
                "@baseline_choices@")
    target_sources(@name@_test PRIVATE ${CMAKE_CURRENT_BINARY_DIR}/@name@_baseline.o)
    # Skipped on another processor than that of the run.
    add_test(NAME @name@_speed COMMAND @name@_test --speed)
    set_tests_properties(@name@_speed PROPERTIES SKIP_RETURN_CODE 77 RUN_SERIAL TRUE)
  endif()
endif()
