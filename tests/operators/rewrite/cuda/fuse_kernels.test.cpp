// `fuse_kernels` makes one kernel of two that are launched in the same way, one behind the other.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("fuse_kernels makes one kernel of two, unless a thread needs what another one writes") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const auto two_kernels = [](const std::string& value, const std::string& threads) {
    const std::string kernel = "(const float* x, float* y, int N) {\n  const int i = blockIdx.x * ";
    const std::string guard = " + threadIdx.x;\n  if (i >= N) return;\n  y[i] = ";
    return "// kevo: workspace w float32 [N]\n// kevo: launch f<<<ceildiv(N, 128), 128>>>(x, w, N)\n"
           "// kevo: launch g<<<ceildiv(N, " +
           threads + "), " + threads +
           ">>>(w, y, N)\n"
           "extern \"C\" __global__ void f" +
           kernel + "128" + guard +
           "2 * x[i];\n}\n"
           "extern \"C\" __global__ void g" +
           kernel + threads + guard + value + ";\n}\n";
  };
  const tries all = tried(parser, two_kernels("x[i] + 1", "128"), "fuse_kernels", on_device);
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(contains(made, "// kevo: launch f_g<<<ceildiv(N, 128), 128>>>(x, N, y)\n"));
  CHECK_FALSE(contains(made, "workspace"));
  CHECK(contains(made, "  if (i >= N) return;\n  const float own_w = 2 * x[i];\n  y_2[i] = own_w + 1;\n"));
  CHECK(tried(parser, made, "fuse_kernels", on_device).offered.empty());

  const std::vector<std::string> why = {"a thread needs what another one writes"};
  CHECK(tried(parser, two_kernels("x[N - 1 - i]", "128"), "fuse_kernels", on_device).refused == why);
  CHECK(tried(parser, two_kernels("x[i] + 1", "256"), "fuse_kernels", on_device).offered.empty());
}
