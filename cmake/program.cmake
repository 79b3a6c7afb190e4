# The compiled library, one target a layer, and kevo::kevo, which links all of them; the program and its workers.
if(KEVO_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a ${CMAKE_FIND_LIBRARY_SUFFIXES})
  set(OPENSSL_USE_STATIC_LIBS ON)
  set(Boost_USE_STATIC_LIBS ON)
endif()
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
# Debian has no static fmt.
set(KEVO_FMT_TARGET $<IF:$<BOOL:${KEVO_STATIC}>,fmt::fmt-header-only,fmt::fmt>)
find_package(yaml-cpp REQUIRED)
find_package(SQLite3 REQUIRED)
# CMake 4 calls the older name deprecated.
set(KEVO_SQLITE_TARGET SQLite::SQLite3)
if(TARGET SQLite3::SQLite3)
  set(KEVO_SQLITE_TARGET SQLite3::SQLite3)
endif()
find_package(OpenSSL 3 REQUIRED)
find_package(Boost 1.81 CONFIG REQUIRED COMPONENTS url)
find_package(CLI11 REQUIRED)
find_path(SECCOMP_INCLUDE_DIR seccomp.h REQUIRED)
find_path(EIGEN_INCLUDE_DIR Eigen/Core PATH_SUFFIXES eigen3 REQUIRED)
find_library(SECCOMP_LIBRARY seccomp REQUIRED)
# The worker's sandbox holds the C and C++ libraries alone, so that it takes libseccomp with it.
find_library(SECCOMP_ARCHIVE NAMES libseccomp.a seccomp REQUIRED)

set(KEVO_YAML_TARGET yaml-cpp)
if(TARGET yaml-cpp::yaml-cpp)
  set(KEVO_YAML_TARGET yaml-cpp::yaml-cpp)
endif()
if(KEVO_STATIC)
  # Its package names the shared library only; the archive lies beside it.
  find_library(YAML_ARCHIVE NAMES libyaml-cpp.a REQUIRED)
  set(KEVO_YAML_TARGET ${YAML_ARCHIVE})
endif()

include(cmake/prompts.cmake)
include(cmake/bundle_files.cmake)
include(cmake/attacks.cmake)
include(cmake/trusted_kernels.cmake)
include(cmake/triton_script.cmake)
include(cmake/torch_script.cmake)
include(cmake/openapi.cmake)
include(cmake/export_script.cmake)
include(cmake/evaluator_script.cmake)

# One static library a layer, each linking only what is below it (scripts/layers.txt). A library that only one layer uses is
# private to that layer. All layers share the precompiled header of the lowest one.
function(kevo_layer name)
  kevo_join(units ${ARGN})
  set(kevo_${name}_units ${units} PARENT_SCOPE)
  add_library(kevo_${name} STATIC ${units})
  add_library(kevo::${name} ALIAS kevo_${name})
  set_target_properties(kevo_${name} PROPERTIES EXPORT_NAME ${name})
  target_include_directories(kevo_${name} PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>)
  kevo_own(kevo_${name})
  if(name STREQUAL base)
    kevo_precompile(kevo_${name})
  else()
    kevo_precompile_as(kevo_${name} kevo_base)
  endif()
endfunction()

file(GLOB_RECURSE kevo_base_sources CONFIGURE_DEPENDS src/base/*.cpp)
kevo_layer(base ${kevo_base_sources})
target_link_libraries(kevo_base PUBLIC kevo::core ${KEVO_FMT_TARGET} Threads::Threads
                                PRIVATE ${KEVO_YAML_TARGET} ${KEVO_SQLITE_TARGET})

file(GLOB_RECURSE kevo_fitness_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} fitness/*.cpp)
list(FILTER kevo_fitness_sources EXCLUDE REGEX "/main/")
kevo_layer(fitness ${kevo_fitness_sources} ${kevo_attack_source} ${kevo_trusted_kernels_source} ${kevo_triton_source} ${kevo_torch_source} ${kevo_evaluator_source})
target_include_directories(kevo_fitness SYSTEM PRIVATE ${SECCOMP_INCLUDE_DIR})
target_link_libraries(kevo_fitness PUBLIC kevo::base PRIVATE ${SECCOMP_LIBRARY} ${CMAKE_DL_LIBS})

file(GLOB_RECURSE kevo_llm_sources CONFIGURE_DEPENDS src/llm/*.cpp)
kevo_layer(llm ${kevo_llm_sources})
target_link_libraries(kevo_llm PUBLIC kevo::base PRIVATE OpenSSL::SSL OpenSSL::Crypto Boost::url)

file(GLOB_RECURSE kevo_operators_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} operators/*.cpp)
list(FILTER kevo_operators_sources EXCLUDE REGEX "/main/")
kevo_layer(operators ${kevo_operators_sources} ${kevo_prompt_source})
target_include_directories(kevo_operators SYSTEM PRIVATE ${EIGEN_INCLUDE_DIR})
target_link_libraries(kevo_operators PUBLIC kevo::fitness kevo::llm)

# The parser of the operator `rewrite`, a program of its own, is the only part that uses libclang.
include(cmake/libclang.cmake)
if(KEVO_LIBCLANG)
  target_compile_definitions(kevo_operators PRIVATE KEVO_HAS_LIBCLANG)
  add_executable(kevo-parse-cpp operators/rewrite/main/main.cpp fitness/sandbox/lock_down.cpp)
  target_include_directories(kevo-parse-cpp PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(kevo-parse-cpp SYSTEM PRIVATE ${KEVO_LIBCLANG_INCLUDE_DIR} ${SECCOMP_INCLUDE_DIR})
  target_link_libraries(kevo-parse-cpp PRIVATE kevo::core ${KEVO_LIBCLANG} ${SECCOMP_ARCHIVE})
  target_compile_options(kevo-parse-cpp PRIVATE -Wall -Wextra -Wconversion -Wshadow -Wno-missing-field-initializers)
  if(KEVO_SANITIZE)
    target_compile_definitions(kevo-parse-cpp PRIVATE KEVO_SANITIZED)
  endif()
  set_target_properties(kevo-parse-cpp PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endif()

file(GLOB_RECURSE kevo_run_sources CONFIGURE_DEPENDS RELATIVE ${PROJECT_SOURCE_DIR} src/*.cpp)
list(FILTER kevo_run_sources EXCLUDE REGEX "^src/(base|llm|cli)/")
kevo_layer(run ${kevo_run_sources} ${kevo_import_source} ${kevo_openapi_source} ${kevo_export_source} ${kevo_bundle_source})
target_include_directories(kevo_run SYSTEM PRIVATE ${EIGEN_INCLUDE_DIR})
target_link_libraries(kevo_run PUBLIC kevo::operators PRIVATE OpenSSL::SSL OpenSSL::Crypto Boost::url ${CMAKE_DL_LIBS})

# What waits for a compiler, a model, a parser or a reader is compiled with -O1, which took a quarter less time in the files that were measured. The
# search, the journal, the laboratory and all that measures keep the build type's options. GCC 13 and newer do not use a header that
# was precompiled with -O2 for such a file and read it as text instead, which is no reason to fail.
function(kevo_compile_quickly layer)
  foreach(folder IN LISTS ARGN)
    set(files ${kevo_${layer}_units})
    list(FILTER files INCLUDE REGEX "(^|/)${folder}/")
    set_property(SOURCE ${files} APPEND PROPERTY COMPILE_OPTIONS $<$<CONFIG:Release>:-O1>)
  endforeach()
  set_target_properties(kevo_${layer} PROPERTIES PCH_WARN_INVALID OFF)
endfunction()
kevo_compile_quickly(fitness fitness/attack fitness/build fitness/cuda/compile fitness/cuda/launch fitness/cuda/tools)
kevo_compile_quickly(llm src/llm)
kevo_compile_quickly(operators operators/llm operators/agent operators/rewrite operators/mutants)
kevo_compile_quickly(run src/display src/export src/import src/mutants src/rejudge src/remote src/report src/run src/serve src/suite src/task)

# All layers below the command line.
set(KEVO_LAYERS base fitness llm operators run)
add_library(kevo_kevo INTERFACE)
add_library(kevo::kevo ALIAS kevo_kevo)
set_target_properties(kevo_kevo PROPERTIES EXPORT_NAME kevo)
target_link_libraries(kevo_kevo INTERFACE kevo::run)

file(GLOB_RECURSE kevo_cli_sources CONFIGURE_DEPENDS src/cli/*.cpp)
file(GLOB_RECURSE kevo_worker_sources CONFIGURE_DEPENDS fitness/worker/main/*.cpp)
add_executable(kevo-worker-cpu ${kevo_worker_sources} fitness/worker/worker_side.cpp fitness/sandbox/lock_down.cpp fitness/sandbox/limit_memory.cpp)
target_include_directories(kevo-worker-cpu PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(kevo-worker-cpu SYSTEM PRIVATE ${SECCOMP_INCLUDE_DIR})
target_link_libraries(kevo-worker-cpu PRIVATE kevo::core ${SECCOMP_ARCHIVE} ${CMAKE_DL_LIBS})
target_compile_options(kevo-worker-cpu PRIVATE -Wall -Wextra -Wconversion -Wshadow -Wno-missing-field-initializers)
# What a candidate finds here before it finds the C library's: fitness/worker/main/interposed.hpp.
foreach(name pthread_create shm_open shm_unlink ftruncate)
  target_link_options(kevo-worker-cpu PRIVATE -Wl,--export-dynamic-symbol=${name})
endforeach()
if(KEVO_STATIC)
  target_link_options(kevo-worker-cpu PRIVATE -static-libstdc++ -static-libgcc)
endif()
set_target_properties(kevo-worker-cpu PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

# What Python loads in the processes of the torch fitness function.
add_library(kevo-worker-torch MODULE fitness/torch/main/helper.cpp fitness/torch/main/serve_calls.cpp fitness/cuda/python/main/helper.cpp
                                     fitness/worker/worker_side.cpp fitness/sandbox/lock_down.cpp fitness/sandbox/limit_memory.cpp
                                     fitness/sandbox/own_files.cpp)
target_include_directories(kevo-worker-torch PRIVATE ${PROJECT_SOURCE_DIR})
target_include_directories(kevo-worker-torch SYSTEM PRIVATE ${SECCOMP_INCLUDE_DIR})
target_link_libraries(kevo-worker-torch PRIVATE kevo::core ${SECCOMP_ARCHIVE} ${CMAKE_DL_LIBS})
target_compile_options(kevo-worker-torch PRIVATE -Wall -Wextra -Wconversion -Wshadow -Wno-missing-field-initializers)
target_link_options(kevo-worker-torch PRIVATE -static-libstdc++ -static-libgcc)
set_target_properties(kevo-worker-torch PROPERTIES PREFIX "" SUFFIX ".so" LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})

# The processes of the CUDA fitness function. None links CUDA; all take their C++ library along, for the sandbox
# and for machines that are not where they were built.
add_library(kevo_cuda_common OBJECT fitness/cuda/driver/driver.cpp fitness/cuda/driver/execute.cpp
                                    fitness/cuda/wire/plan.cpp fitness/cuda/wire/module.cpp
                                    fitness/cuda/wire/result_place.cpp)
set_target_properties(kevo_cuda_common PROPERTIES POSITION_INDEPENDENT_CODE ON)  # one of the programs is loaded by Python
add_executable(kevo-worker-cuda fitness/cuda/worker/main/main.cpp)
add_executable(kevo-worker-hosted fitness/cuda/hosted/main/main.cpp fitness/sandbox/lock_down.cpp
                                  fitness/sandbox/limit_memory.cpp)
target_include_directories(kevo-worker-hosted SYSTEM PRIVATE ${SECCOMP_INCLUDE_DIR})
target_link_libraries(kevo-worker-hosted PRIVATE ${SECCOMP_ARCHIVE})
set(kevo_device_sources fitness/cuda/device/contents.cpp fitness/cuda/device/device_nodes.cpp fitness/cuda/device/engine.cpp
                        fitness/cuda/device/engine_ceilings.cpp fitness/cuda/device/foreign_processes.cpp
                        fitness/cuda/device/end_of_call.cpp fitness/cuda/device/interval.cpp
                        fitness/cuda/device/named_results.cpp fitness/cuda/device/open_blocks.cpp
                        fitness/cuda/device/occupation.cpp
                        fitness/cuda/device/gpu.cpp fitness/cuda/device/reference.cpp
                        fitness/cuda/device/protocol.cpp fitness/cuda/device/socket.cpp
                        fitness/cuda/device/type_code.cpp fitness/cuda/device/worker_link.cpp
                        fitness/process/mapped_file.cpp
                        fitness/oracle/element_type.cpp fitness/oracle/output_contract.cpp fitness/oracle/generate.cpp
                        fitness/oracle/ragged.cpp fitness/oracle/sum_bound.cpp)
kevo_join_program(kevo_device_units kevo-device ${kevo_device_sources})
add_executable(kevo-device fitness/cuda/device/main/main.cpp ${kevo_device_units})
# One call of a candidate, for NVIDIA's checkers and profilers to watch.
add_executable(kevo-replay-cuda fitness/cuda/tools/main/main.cpp fitness/cuda/tools/replay.cpp)
# One compilation by NVRTC, which it loads at run time, in a sandbox.
add_executable(kevo-compile-cuda fitness/cuda/compile/main/main.cpp fitness/cuda/compile/message.cpp)
set_target_properties(kevo-compile-cuda PROPERTIES ENABLE_EXPORTS ON)  # the clock that NVRTC sees
foreach(program kevo-worker-cuda kevo-worker-hosted kevo-worker-torch kevo-device kevo-replay-cuda)
  target_link_libraries(${program} PRIVATE kevo_cuda_common)
endforeach()
foreach(target kevo_cuda_common kevo-worker-cuda kevo-worker-hosted kevo-device kevo-replay-cuda kevo-compile-cuda)
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(${target} PRIVATE kevo::core ${CMAKE_DL_LIBS})
  target_compile_options(${target} PRIVATE -Wall -Wextra -Wconversion -Wshadow -Wno-missing-field-initializers)
endforeach()
foreach(program kevo-worker-cuda kevo-worker-hosted kevo-device kevo-replay-cuda kevo-compile-cuda)
  target_link_options(${program} PRIVATE -static-libstdc++ -static-libgcc)
  set_target_properties(${program} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endforeach()

kevo_join(kevo_cli_units ${kevo_cli_sources})
add_executable(kevo ${kevo_cli_units})
target_link_libraries(kevo PRIVATE kevo::kevo CLI11::CLI11)
set_target_properties(kevo PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} ENABLE_EXPORTS ON)
kevo_own(kevo)
# Nothing here is worth optimizing: parsing a command line; the library does the work.
target_compile_options(kevo PRIVATE $<$<CONFIG:Release>:-O1>)
if(KEVO_JOINED)
  # A precompiled header for one unit is not worth its own time; that of the library, which serves another level as well, is there.
  target_compile_options(kevo PRIVATE -fPIC)
  kevo_precompile_as(kevo kevo_base)
  set_target_properties(kevo PROPERTIES PCH_WARN_INVALID OFF)
else()
  kevo_precompile(kevo <CLI/CLI.hpp>)
endif()
add_dependencies(kevo kevo-worker-cpu kevo-worker-torch kevo-worker-cuda kevo-worker-hosted kevo-device kevo-replay-cuda kevo-compile-cuda)
if(TARGET kevo-parse-cpp)
  add_dependencies(kevo kevo-parse-cpp)
endif()
