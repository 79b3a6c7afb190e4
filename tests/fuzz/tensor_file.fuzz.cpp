// libFuzzer: build with -DKEVO_FUZZERS=ON, run build/fuzz/fuzz/fuzz.tensor_file tests/fuzz/corpus/tensor_file
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/entry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kevo::fuzzing::tensor_file({reinterpret_cast<const char*>(data), size});
  return 0;
}
