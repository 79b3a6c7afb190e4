// `privatize` counts in several copies of a small array, because one count waits for the count before it.
#include <doctest/doctest.h>

#include "tests/operators/rewrite/apply.hpp"

TEST_CASE("privatize counts in copies of an array, if the task says how many elements it has") {
  using namespace rewrite_test;
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const std::string histogram = R"(#include <cstdint>
extern "C" void run(const int32_t* X, int32_t* counts, int64_t N) {
  for (int64_t i = 0; i < N; ++i) ++counts[X[i]];
}
)";
  kevo::task bins;
  bins.axes = {{"N", std::nullopt, ""}, {"BINS", 16, ""}};
  bins.inputs.push_back({.name = "X", .shape = {"N"}, .dtype = "int32"});
  bins.outputs.push_back({.name = "counts", .shape = {"BINS"}, .dtype = "int32"});
  const tries all = tried(parser, histogram, "privatize", {&bins});
  REQUIRE(all.made.size() == 1);
  const std::string& made = all.made.front();
  CHECK(contains(made, "constexpr int copies_counts = 4;  // kevo: {1, 2, 4, 8, 16}\n"));
  CHECK(contains(made, " counts_parts[copies_counts][16] = {};\n"));
  CHECK(contains(made, "for (int64_t i = 0; i + copies_counts <= N; i += copies_counts) {\n"));
  CHECK(contains(made, "++counts_parts[part][X[(i + part)]];\n"));
  CHECK(contains(made, "counts[element] += counts_parts[part][element];\n"));
  CHECK(contains(made,
                 "for (int64_t i = N / copies_counts * copies_counts; i < N; ++i) {\n    ++counts[X[i]];\n"));

  kevo::task unknown = bins;
  unknown.axes[1].value.reset();
  CHECK(tried(parser, histogram, "privatize", {&unknown}).offered.empty());
  CHECK(tried(parser, histogram, "privatize").offered.empty());
}
