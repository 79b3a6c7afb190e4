// libFuzzer: build with -DKEVO_FUZZERS=ON, run build/fuzz/fuzz/fuzz.task tests/fuzz/corpus/task
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/entry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kevo::fuzzing::task({reinterpret_cast<const char*>(data), size});
  return 0;
}
