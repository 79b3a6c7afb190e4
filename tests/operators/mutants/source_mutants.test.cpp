#include "operators/mutants/source_mutants.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/task.hpp>

#include "tests/operators/rewrite/apply.hpp"

namespace {

using namespace kevo::mutants;
using rewrite_test::parser_or_skip;

// Normalizes rows after their largest element is taken off; the last elements of a row in a loop of their
// own.
constexpr const char* mutated_rows = R"(#include <cmath>
#include <cstdint>

extern "C" void run(const float* X, float* Y, int64_t M, int64_t N) {
  for (int64_t i = 0; i < M; ++i) {
    const float* x = X + i * N;
    float largest = x[0];
    if (N > 4 && M > 2) largest += x[1];
    float sum = 0;
    int64_t j = 0;
    for (; j < N; ++j) sum += std::exp(x[j] - largest);
    Y[i] = std::sqrt(sum + 1e-6F);
  }
}
)";

// Each change as "before -> after", in the order of the text.
std::vector<std::string> changes_of(const std::vector<source_mutant>& all, std::string_view kind) {
  std::vector<std::string> result;
  for (const auto& one : all) {
    if (one.kind == kind) result.push_back(one.before + " -> " + one.after);
  }
  return result;
}

kevo::task task_of_rows() {
  kevo::task t;
  t.axes = {{"ROWS", {}, ""}, {"COLUMNS", {}, ""}};
  kevo::tensor x;
  x.name = "input";
  x.shape = {"ROWS", "COLUMNS"};
  x.dtype = "float32";
  t.inputs = {x};
  x.name = "output";
  x.shape = {"ROWS"};
  t.outputs = {x};
  return t;
}

std::vector<source_mutant> mutants_of_text(const std::string& parser, const std::string& text,
                                           const kevo::task* t = nullptr) {
  return mutants_of(rewrite_test::parsed_whole(parser, text, {}), "run", t);
}

using words = std::vector<std::string>;

}  // namespace

TEST_CASE("mutants of each kind, each with the text that stands for the part that it changes") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const auto all = mutants_of_text(parser, mutated_rows);
  CHECK(changes_of(all, "epsilon") == words{"sum + 1e-6F -> sum"});
  CHECK(changes_of(all, "subtrahend") == words{"x[j] - largest -> x[j]"});
  CHECK(changes_of(all, "guard") == words{"N > 4 && M > 2 -> true", "N > 4 && M > 2 -> false",
                                          "N > 4 && M > 2 -> N > 4", "N > 4 && M > 2 -> M > 2"});
  CHECK(changes_of(all, "tail") == words{"for (; j < N; ++j) sum += std::exp(x[j] - largest); -> ;"});
  CHECK(changes_of(all, "extent") == words{" -> M &= 0xff;", " -> M &= 0x7fff;", " -> M &= 0xffff;",
                                           " -> N &= 0xff;", " -> N &= 0x7fff;", " -> N &= 0xffff;"});
  CHECK(changes_of(all, "bound") == words{"M -> (M) - 1", "0 -> (0) + 1"});
  CHECK(changes_of(all, "counter") ==
        words{"M -> ((M) & 0xff)", "M -> ((M) & 0x7fff)", "M -> ((M) & 0xffff)"});
  CHECK(changes_of(all, "comparison") ==
        words{"i < M -> i <= M", "N > 4 -> N >= 4", "M > 2 -> M >= 2", "j < N -> j <= N"});
  const auto index = changes_of(all, "index");
  CHECK(std::count(index.begin(), index.end(), "i * N -> ((i * N) & 0x7fffffff)") == 1);
  CHECK(std::count(index.begin(), index.end(), "j -> ((j) & 0x7fff)") == 1);
  CHECK(std::count(index.begin(), index.end(), "i -> ((i) & 0xff)") == 1);
  CHECK(changes_of(all, "accumulation") ==
        words{"largest += x[1] -> largest = kevo_rounded(largest + (x[1]))",
              "sum += std::exp(x[j] - largest) -> sum = kevo_rounded(sum + (std::exp(x[j] - largest)))"});
  CHECK(changes_of(all, "operand") == words{"x[j] -> kevo_rounded(x[j])"});
  CHECK(changes_of(all, "smallest terms").back() ==
        "std::exp(x[j] - largest) -> kevo_large(std::exp(x[j] - largest), sum)");
  CHECK(changes_of(all, "call number") ==
        words{" -> static int kevo_calls = 0; if (++kevo_calls % 5 == 0) return;"});
  CHECK(changes_of(all, "sampled").empty());  // without a task, nobody knows how long the input is
}

TEST_CASE("the whole text of a mutant is the source with that one change") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  std::string wanted = mutated_rows;
  const std::string from = "x[j] - largest";
  wanted.replace(wanted.find(from), from.size(), "x[j]");
  const auto all = mutants_of_text(parser, mutated_rows);
  const auto found =
      std::find_if(all.begin(), all.end(), [](const source_mutant& one) { return one.kind == "subtrahend"; });
  REQUIRE(found != all.end());
  CHECK(found->line == 11);
  CHECK(found->text == wanted);
}

TEST_CASE("a sample is taken of the first real input, with the names that the source has for the axes") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const auto t = task_of_rows();
  const auto all = mutants_of_text(parser, mutated_rows, &t);
  CHECK(changes_of(all, "sampled") == words{"N > 4 && M > 2 -> kevo_usual || (N > 4 && M > 2)",
                                            "x[j] - largest -> (kevo_usual ? x[j] : x[j] - largest)",
                                            "sum + 1e-6F -> (kevo_usual ? sum : sum + 1e-6F)"});
  for (const auto& one : all) {
    if (one.kind == "sampled")
      CHECK(one.text.find(") { kevo_usual = kevo_sampled(X, M * N);") != std::string::npos);
  }
}

TEST_CASE("every mutant of a source is one that the parser reads without errors") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const auto t = task_of_rows();
  for (const auto& one : mutants_of_text(parser, mutated_rows, &t)) {
    INFO(one.kind, ": ", one.change);
    (void)rewrite_test::parsed_whole(parser, one.text, {});
  }
}

TEST_CASE("a choice of the author is no guard, and a loop in whole steps may leave more to the rest") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const auto all = mutants_of_text(parser, R"(constexpr int fast = 1;
extern "C" void run(const double* X, double* Y, long N) {
  double sum = 0;
  constexpr int doubled = 2 * fast;
  if (doubled != 0) sum = 1;
  for (long i = 0; i + 4 <= N; i += 4) sum += X[i];
  Y[0] = sum;
}
)");
  CHECK(changes_of(all, "guard").empty());
  CHECK(changes_of(all, "comparison").empty());
  CHECK(changes_of(all, "counter").empty());
  CHECK(changes_of(all, "bound") == words{"N -> (N) + 1", "0 -> (0) + 1"});
  CHECK(changes_of(all, "accumulation") == words{"sum += X[i] -> sum = kevo_single(sum + (X[i]))"});
}

TEST_CASE("what keeps threads apart and counters in arrays") {
  const std::string parser = parser_or_skip();
  if (parser.empty()) return;
  const auto all = mutants_of_text(parser, R"(extern "C" void run(const int* X, int* Y, long N) {
  float sum = 0;
#pragma omp parallel for reduction(+ : sum)
  for (long i = 0; i < N; ++i) {
#pragma omp atomic
    ++Y[X[i]];
  }
}
)");
  CHECK(changes_of(all, "synchronization") == words{"reduction(+ : sum) -> ", "#pragma omp atomic -> "});
  const auto counters = changes_of(all, "counter");
  CHECK(std::count(counters.begin(), counters.end(), "++Y[X[i]] -> (Y[X[i]] = (Y[X[i]] + 1) & 0xff)") == 1);
}

TEST_CASE("a limit is spread over the kinds, and over the places of each") {
  std::vector<std::string_view> kinds(10, "index");
  kinds.insert(kinds.end(), {"bound", "bound", "epsilon"});
  CHECK(spread(kinds, 100).size() == 13);
  CHECK(spread(kinds, 3) == std::vector<std::size_t>{12, 0, 10});
  // One epsilon, both bounds, and two of the ten indices, far from each other.
  CHECK(spread(kinds, 5) == std::vector<std::size_t>{12, 0, 10, 5, 11});
  CHECK(spread(kinds, 0).empty());
}
