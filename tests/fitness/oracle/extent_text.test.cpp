#include "fitness/oracle/extent_text.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <unistd.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <kevo/expression.hpp>

TEST_CASE("generated C++ gives an extent the value that kevo gives it") {
  std::string checks;
  kevo::task t;
  for (const std::string extent :
       {"M", "-(-M / 4)", "-(-M % 4) + 5", "M / 2 + 0x1f % 7", "-(-M / N) * 2", "max(1, M - N, -M / 2)",
        "min(M, N)", "ceildiv(M, 4) + align_up(M, 8) + log2_ceil(M) + pow2_ceil(M)", "ceildiv(-M, 4) + 9",
        "M > N ? M : N", "(M < N) * 4 + !M + (1 << 3) - (-9 >> 1)", "N == 0 || M / N < 2 ? 3 : 4",
        "M + sizeof(float32)"}) {
    kevo::tensor x;
    x.name = "x";
    x.shape = {extent};
    t.inputs = {x};
    for (const auto& sizes : {std::pair{5, 3}, std::pair{3, 5}, std::pair{8, 4}, std::pair{1, 9}}) {
      const int m = sizes.first;
      const int n = sizes.second;
      const auto value = kevo::expression::parse(extent).evaluate(
          [&](std::string_view name) -> std::optional<std::int64_t> { return name == "M" ? m : n; });
      const auto text = kevo::element_count_text(
          x, [&](std::string_view name) { return fmt::format("std::int64_t{{{}}}", name == "M" ? m : n); });
      checks += fmt::format("static_assert({} == {}, \"{} of {} and {}\");\n", text, value, extent, m, n);
    }
  }
  const auto source = std::filesystem::temp_directory_path() / fmt::format("kevo-extent-{}.cpp", getpid());
  std::ofstream(source) << "#include <cstdint>\n" << kevo::extent_functions(t) << checks;
  const auto command = fmt::format("g++ -std=c++20 -fsyntax-only '{}'", source.string());
  CHECK(std::system(command.c_str()) == 0);
  std::filesystem::remove(source);
}

TEST_CASE("a task whose extents are axes needs no definitions") {
  kevo::task t;
  kevo::tensor x;
  x.shape = {"M", "N"};
  t.inputs = {x};
  CHECK(kevo::extent_functions(t).empty());
  CHECK(kevo::element_count_text(x, [](std::string_view name) { return std::string(name); }) == "M * N");
  t.inputs[0].shape[1] = "N + 1";
  CHECK_FALSE(kevo::extent_functions(t).empty());
}
