# kevo::kevo (operators, fitness functions and what a program needs around them), the program and its worker.
if(KEVO_STATIC)
  set(CMAKE_FIND_LIBRARY_SUFFIXES .a ${CMAKE_FIND_LIBRARY_SUFFIXES})
endif()
find_package(Threads REQUIRED)
find_package(fmt REQUIRED)
# Debian has no static fmt.
set(KEVO_FMT_TARGET $<IF:$<BOOL:${KEVO_STATIC}>,fmt::fmt-header-only,fmt::fmt>)
find_package(yaml-cpp REQUIRED)
find_package(SQLite3 REQUIRED)
find_package(CLI11 REQUIRED)
find_path(SECCOMP_INCLUDE_DIR seccomp.h REQUIRED)
find_library(SECCOMP_LIBRARY seccomp REQUIRED)
# The worker's sandbox holds the C and C++ libraries alone, so that it takes libseccomp with it.
find_library(SECCOMP_ARCHIVE NAMES libseccomp.a seccomp REQUIRED)

file(GLOB_RECURSE kevo_sources CONFIGURE_DEPENDS src/*.cpp operators/*.cpp fitness/*.cpp)
list(FILTER kevo_sources EXCLUDE REGEX "/src/cli/|/fitness/worker/main/")
file(GLOB_RECURSE kevo_cli_sources CONFIGURE_DEPENDS src/cli/*.cpp)
file(GLOB_RECURSE kevo_worker_sources CONFIGURE_DEPENDS fitness/worker/main/*.cpp)

# Where the library finds the worker when it is not installed beside it.
set(KEVO_YAML_TARGET yaml-cpp)
if(TARGET yaml-cpp::yaml-cpp)
  set(KEVO_YAML_TARGET yaml-cpp::yaml-cpp)
endif()

if(kevo_sources)
  add_library(kevo_kevo STATIC ${kevo_sources})
  add_library(kevo::kevo ALIAS kevo_kevo)
  set_target_properties(kevo_kevo PROPERTIES EXPORT_NAME kevo OUTPUT_NAME kevo)
  target_include_directories(kevo_kevo PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>
                                              $<INSTALL_INTERFACE:include/kevo-program>)
  target_include_directories(kevo_kevo SYSTEM PRIVATE ${SECCOMP_INCLUDE_DIR})
  target_link_libraries(kevo_kevo PUBLIC kevo::core ${KEVO_FMT_TARGET} Threads::Threads
                                  PRIVATE ${KEVO_YAML_TARGET} SQLite::SQLite3 ${SECCOMP_LIBRARY} ${CMAKE_DL_LIBS})
  kevo_own(kevo_kevo)
endif()

if(kevo_worker_sources)
  add_executable(kevo-worker-cpu ${kevo_worker_sources} fitness/sandbox/lock_down.cpp)
  target_include_directories(kevo-worker-cpu PRIVATE ${PROJECT_SOURCE_DIR})
  target_include_directories(kevo-worker-cpu SYSTEM PRIVATE ${SECCOMP_INCLUDE_DIR})
  target_link_libraries(kevo-worker-cpu PRIVATE kevo::core ${SECCOMP_ARCHIVE} ${CMAKE_DL_LIBS})
  target_compile_options(kevo-worker-cpu PRIVATE -Wall -Wextra -Wconversion -Wshadow -Wno-missing-field-initializers)
  set_target_properties(kevo-worker-cpu PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR})
endif()

if(kevo_cli_sources)
  add_executable(kevo ${kevo_cli_sources})
  target_link_libraries(kevo PRIVATE kevo::kevo CLI11::CLI11)
  set_target_properties(kevo PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR} ENABLE_EXPORTS ON)
  kevo_own(kevo)
  if(kevo_worker_sources)
    add_dependencies(kevo kevo-worker-cpu)
  endif()
endif()
