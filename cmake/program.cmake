# kevo::kevo (operators, fitness functions and what a program needs around them), the program and its worker.
if(KEVO_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a ${CMAKE_FIND_LIBRARY_SUFFIXES})
  set(OPENSSL_USE_STATIC_LIBS ON)
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
find_package(CLI11 REQUIRED)
find_path(SECCOMP_INCLUDE_DIR seccomp.h REQUIRED)
find_path(EIGEN_INCLUDE_DIR Eigen/Core PATH_SUFFIXES eigen3 REQUIRED)
find_library(SECCOMP_LIBRARY seccomp REQUIRED)
# The worker's sandbox holds the C and C++ libraries alone, so that it takes libseccomp with it.
find_library(SECCOMP_ARCHIVE NAMES libseccomp.a seccomp REQUIRED)

file(GLOB_RECURSE kevo_sources CONFIGURE_DEPENDS src/*.cpp operators/*.cpp fitness/*.cpp)
list(FILTER kevo_sources EXCLUDE REGEX "/src/cli/|/fitness/worker/main/|/fitness/cuda/(device|worker|hosted|compile|tools)/main/")
file(GLOB_RECURSE kevo_cli_sources CONFIGURE_DEPENDS src/cli/*.cpp)
file(GLOB_RECURSE kevo_worker_sources CONFIGURE_DEPENDS fitness/worker/main/*.cpp)

# Where the library finds the worker when it is not installed beside it.
set(KEVO_YAML_TARGET yaml-cpp)
if(TARGET yaml-cpp::yaml-cpp)
  set(KEVO_YAML_TARGET yaml-cpp::yaml-cpp)
endif()
if(KEVO_STATIC)
  # Its package speaks of the shared library alone, and has the archive beside it.
  find_library(YAML_ARCHIVE NAMES libyaml-cpp.a REQUIRED)
  set(KEVO_YAML_TARGET ${YAML_ARCHIVE})
endif()

include(cmake/prompts.cmake)
include(cmake/attacks.cmake)
if(kevo_sources)
  add_library(kevo_kevo STATIC ${kevo_sources} ${kevo_prompt_source} ${kevo_attack_source})
  add_library(kevo::kevo ALIAS kevo_kevo)
  set_target_properties(kevo_kevo PROPERTIES EXPORT_NAME kevo OUTPUT_NAME kevo)
  target_include_directories(kevo_kevo PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                              $<INSTALL_INTERFACE:include/kevo-program>)
  target_include_directories(kevo_kevo SYSTEM PRIVATE ${SECCOMP_INCLUDE_DIR} ${EIGEN_INCLUDE_DIR})
  target_link_libraries(kevo_kevo PUBLIC kevo::core ${KEVO_FMT_TARGET} Threads::Threads
                                  PRIVATE ${KEVO_YAML_TARGET} ${KEVO_SQLITE_TARGET} OpenSSL::SSL OpenSSL::Crypto ${SECCOMP_LIBRARY} ${CMAKE_DL_LIBS})
  kevo_own(kevo_kevo)
  kevo_precompile(kevo_kevo)
endif()

if(kevo_worker_sources)
  add_executable(kevo-worker-cpu ${kevo_worker_sources} fitness/sandbox/lock_down.cpp
                                 fitness/sandbox/limit_memory.cpp)
  target_include_directories(kevo-worker-cpu PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(kevo-worker-cpu SYSTEM PRIVATE ${SECCOMP_INCLUDE_DIR})
  target_link_libraries(kevo-worker-cpu PRIVATE kevo::core ${SECCOMP_ARCHIVE} ${CMAKE_DL_LIBS})
  target_compile_options(kevo-worker-cpu PRIVATE -Wall -Wextra -Wconversion -Wshadow -Wno-missing-field-initializers)
  if(KEVO_STATIC)
    target_link_options(kevo-worker-cpu PRIVATE -static-libstdc++ -static-libgcc)
  endif()
  set_target_properties(kevo-worker-cpu PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endif()

# The processes of the CUDA fitness function. None links CUDA; all take their C++ library along, for the sandbox
# and for machines that are not where they were built.
add_library(kevo_cuda_common OBJECT fitness/cuda/driver/driver.cpp fitness/cuda/driver/execute.cpp
                                    fitness/cuda/wire/plan.cpp fitness/cuda/wire/module.cpp)
add_executable(kevo-worker-cuda fitness/cuda/worker/main/main.cpp)
add_executable(kevo-worker-hosted fitness/cuda/hosted/main/main.cpp fitness/sandbox/lock_down.cpp
                                  fitness/sandbox/limit_memory.cpp)
target_include_directories(kevo-worker-hosted SYSTEM PRIVATE ${SECCOMP_INCLUDE_DIR})
target_link_libraries(kevo-worker-hosted PRIVATE ${SECCOMP_ARCHIVE})
add_executable(kevo-device fitness/cuda/device/main/main.cpp
                           fitness/cuda/device/contents.cpp fitness/cuda/device/engine.cpp fitness/cuda/device/foreign_processes.cpp
                           fitness/cuda/device/end_of_call.cpp fitness/cuda/device/interval.cpp
                           fitness/cuda/device/gpu.cpp
                           fitness/cuda/device/protocol.cpp fitness/cuda/device/socket.cpp
                           fitness/cuda/device/type_code.cpp fitness/cuda/device/worker_link.cpp
                           fitness/oracle/element_type.cpp fitness/oracle/generate.cpp)
# One call of a candidate, for NVIDIA's checkers and profilers to watch.
add_executable(kevo-replay-cuda fitness/cuda/tools/main/main.cpp fitness/cuda/tools/replay.cpp)
# One compilation by NVRTC, which it loads at run time, in a sandbox.
add_executable(kevo-compile-cuda fitness/cuda/compile/main/main.cpp fitness/cuda/compile/message.cpp)
foreach(program kevo-worker-cuda kevo-worker-hosted kevo-device kevo-replay-cuda)
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

if(kevo_cli_sources)
  add_executable(kevo ${kevo_cli_sources})
  target_link_libraries(kevo PRIVATE kevo::kevo CLI11::CLI11)
  set_target_properties(kevo PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} ENABLE_EXPORTS ON)
  kevo_own(kevo)
  # Nothing here is worth optimizing: parsing a command line; the library does the work.
  target_compile_options(kevo PRIVATE $<$<CONFIG:Release>:-O1>)
  kevo_precompile(kevo <CLI/CLI.hpp>)
  if(kevo_worker_sources)
    add_dependencies(kevo kevo-worker-cpu kevo-worker-cuda kevo-worker-hosted kevo-device kevo-replay-cuda kevo-compile-cuda)
  endif()
endif()
