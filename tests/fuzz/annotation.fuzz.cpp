// libFuzzer: build with -DKEVO_FUZZERS=ON, run build/fuzz/fuzz/fuzz.annotation tests/fuzz/corpus/annotation
#include <cstddef>
#include <cstdint>

#include "tests/fuzz/entry.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  kevo::fuzzing::annotation({reinterpret_cast<const char*>(data), size});
  return 0;
}
