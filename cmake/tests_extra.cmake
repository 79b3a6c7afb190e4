# The test double of the CUDA driver and of NVRTC (tests/support/fake_cuda). Never installed, found only where a test says so.
set(fake_cuda ${PROJECT_SOURCE_DIR}/tests/support/fake_cuda)
add_library(kevo_fake_cuda SHARED ${fake_cuda}/driver.cpp ${fake_cuda}/device.cpp ${fake_cuda}/device_clock.cpp
                                  ${fake_cuda}/image.cpp ${fake_cuda}/kernels.cpp ${fake_cuda}/trusted_kernels_on_host.cpp)
set_target_properties(kevo_fake_cuda PROPERTIES OUTPUT_NAME cuda SOVERSION 1)
add_library(kevo_fake_nvrtc SHARED ${fake_cuda}/nvrtc.cpp ${fake_cuda}/image.cpp)
set_target_properties(kevo_fake_nvrtc PROPERTIES OUTPUT_NAME nvrtc)
add_library(kevo_fake_nvml SHARED ${fake_cuda}/nvml.cpp)
set_target_properties(kevo_fake_nvml PROPERTIES OUTPUT_NAME nvidia-ml SOVERSION 1)
foreach(double kevo_fake_cuda kevo_fake_nvrtc kevo_fake_nvml)
  target_link_libraries(${double} PRIVATE kevo::core)
  target_include_directories(${double} PRIVATE ${PROJECT_SOURCE_DIR})
  # Programs of every kind load it, sanitized or not, with their C++ library or another.
  target_compile_options(${double} PRIVATE -O2 -fvisibility=hidden -Wall -Wextra -Wconversion -Wshadow -Wno-missing-field-initializers)
  target_link_options(${double} PRIVATE -static-libstdc++ -static-libgcc -Wl,--exclude-libs,ALL)
  set_target_properties(${double} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/tests/fake_cuda)
endforeach()
set_source_files_properties(${fake_cuda}/trusted_kernels_on_host.cpp PROPERTIES COMPILE_OPTIONS -Wno-unknown-pragmas)
foreach(source IN LISTS kevo_test_sources)
  if(source MATCHES "tests/fitness/cuda/fake/.*\\.test\\.cpp$")
    file(RELATIVE_PATH name ${PROJECT_SOURCE_DIR}/tests ${source})
    string(REGEX REPLACE "\\.test\\.cpp$" "" name ${name})
    string(REPLACE "/" "." name ${name})
    if(TARGET test.${name})  # slow ones are left out of some builds
      add_dependencies(test.${name} kevo_fake_cuda kevo_fake_nvrtc kevo_fake_nvml)
    endif()
  endif()
endforeach()

# A project that has kevo as a subdirectory keeps its build type and installs nothing of kevo.
if(NOT KEVO_TEST_SHARE STREQUAL "sanitized")
  add_test(NAME subproject COMMAND ${PROJECT_SOURCE_DIR}/tests/subproject/test.sh)
  set_tests_properties(subproject PROPERTIES TIMEOUT 300)
endif()
