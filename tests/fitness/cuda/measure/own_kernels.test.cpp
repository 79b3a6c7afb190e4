// What a process says of its own kernels is read with care: it is the word of a program that is judged.
#include "fitness/cuda/measure/own_kernels.hpp"

#include <doctest/doctest.h>

using kevo::cuda::read_kernel_share;

TEST_CASE("the share of own kernels is that of their time") {
  const auto found = read_kernel_share(R"({"own_us": 30, "all_us": 40.0, "kernels": 3})");
  REQUIRE(found);
  CHECK(found->share() == doctest::Approx(0.75));
  CHECK(found->kernels == 3);
  const auto nothing = read_kernel_share(R"({"own_us": 0, "all_us": 0, "kernels": 0})");
  REQUIRE(nothing);
  CHECK(nothing->share() == 0);
}

TEST_CASE("figures that cannot be are no measure") {
  for (const char* text :
       {"", "half of it", "[1, 2, 3]", R"({"own_us": 50, "all_us": 40, "kernels": 3})",
        R"({"own_us": -1, "all_us": 40, "kernels": 3})", R"({"own_us": "30", "all_us": 40, "kernels": 3})",
        R"({"own_us": 30, "kernels": 3})", R"({"own_us": 30, "all_us": 1e999, "kernels": 3})"}) {
    CAPTURE(text);
    CHECK(!read_kernel_share(text));
  }
}
