#include "fitness/cascade/bounds.hpp"

#include <doctest/doctest.h>

TEST_CASE("bounds of the visible workloads, by what limits them") {
  kevo::task t;
  t.workloads = {{.uuid = "small"}, {.uuid = "secret", .hidden = true}, {.uuid = "large"}, {.uuid = "free"}};
  const auto of = [](std::size_t i) {
    return i == 3 ? kevo::time_bound{}
                  : kevo::time_bound{i == 0 ? 12300.0 : 5.0, 1200.0 * static_cast<double>(i)};
  };
  CHECK(kevo::bounds_text(t, of) == "small 12.3 us by operations, large 2.4 us by bytes");
  CHECK(kevo::bounds_text(t, [](std::size_t) { return kevo::time_bound{}; }).empty());
}
