// libFuzzer: build with -DKEVO_FUZZERS=ON, run build/fuzz/fuzz/fuzz.launch tests/fuzz/corpus/launch
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/entry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kevo::fuzzing::launch({reinterpret_cast<const char*>(data), size});
  return 0;
}
