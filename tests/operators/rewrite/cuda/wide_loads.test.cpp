// `wide_loads` takes four elements at once where they lie on a border of 16 bytes.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("wide_loads takes four floats at once, with a loop for what is left over") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string scaled = R"(// kevo: launch f<<<1, 128>>>(x, y, N)
extern "C" __global__ void f(const float* x, float* y, int N) {
  for (int i = threadIdx.x; i < N; i += 128) y[i] = 2 * x[i];
}
)";
  const tries all = tried(parser, scaled, "wide_loads", on_device);
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(contains(
      made, "reinterpret_cast<unsigned long long>(&y[wide_i_first])) & 15) == 0;\n    if (aligned) {\n"));
  CHECK(contains(made, "for (int wide_i = wide_i_first; wide_i < ((N) / 4 * 4); wide_i += 4 * 128) {\n"));
  CHECK(contains(made, "four_floats four_of_x = *reinterpret_cast<const four_floats*>(&x[wide_i]);\n"));
  CHECK(contains(made, "for (int i = (aligned ? ((N) / 4 * 4) : 0) + wide_first; i < N; i += 128) {\n"));
  CHECK(tried(parser, made, "wide_loads", on_device).made.empty());

  const std::string conditional = R"(// kevo: launch f<<<1, 128>>>(x, y, N)
extern "C" __global__ void f(const float* x, float* y, int N) {
  for (int i = threadIdx.x; i < N; i += 128) {
    if (x[i] > 0) y[i] = x[i];
  }
}
)";
  const std::vector<std::string> why = {"elements are written under a condition"};
  CHECK(tried(parser, conditional, "wide_loads", on_device).refused == why);

  const std::string doubles = R"(// kevo: launch f<<<1, 128>>>(x, y, N)
extern "C" __global__ void f(const double* x, double* y, int N) {
  for (int i = threadIdx.x; i < N; i += 128) y[i] = 2 * x[i];
}
)";
  CHECK(tried(parser, doubles, "wide_loads", on_device).offered.empty());
}
