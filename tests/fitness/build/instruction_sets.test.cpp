#include "fitness/build/instruction_sets.hpp"

#include <doctest/doctest.h>

#include "fitness/build/compiler.hpp"

TEST_CASE("the vector extensions that a compiler's flags allow") {
  CHECK(kevo::instruction_sets_in("").empty());
  CHECK(kevo::instruction_sets_in("#define __SSE2__ 1\n#define __SSE4_2__ 1\n") == "SSE4.2");
  CHECK(kevo::instruction_sets_in("#define __AVX__ 1\n#define __AVX2__ 1\n#define __FMA__ 1\n"
                                  "#define __AVX512F__ 1\n") == "AVX2, FMA, AVX-512F");
  CHECK(kevo::instruction_sets_in("#define __ARM_NEON 1\n#define __ARM_FEATURE_SVE 1\n") == "NEON, SVE");
#if defined(__x86_64__)
  kevo::compiler_settings settings;
  settings.sandbox = kevo::sandbox_mode::best;
  kevo::compiler builds(settings);
  CHECK(builds.instruction_sets_of("g++", {"-O2", "-march=x86-64"}) == "SSE2");
  CHECK(builds.instruction_sets_of("g++", {"-O2", "-march=x86-64-v3", "-lm"}) == "AVX2, FMA");
  CHECK(builds.instruction_sets_of("g++", {"-no-such-flag"}).empty());
#endif
}
