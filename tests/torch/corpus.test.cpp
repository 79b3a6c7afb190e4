// labels: slow
// one processor
// timeout: 600
// The programs of tests/torch/attacks get the verdicts that they must get, and those of tests/torch/honest
// are accepted.
#include "tests/torch/corpus.hpp"

#include <cstdio>
#include <map>

namespace {

using torch_corpus::exhibit;

std::optional<std::map<std::string, kevo::torch_fitness>> functions_for(
    const std::vector<exhibit>& exhibits) {
  std::map<std::string, kevo::torch_fitness> all;
  for (const auto& e : exhibits) {
    if (all.contains(e.task)) continue;
    auto made = torch_corpus::fitness_for(e.task);
    if (!made) return std::nullopt;
    all.emplace(e.task, *std::move(made));
  }
  return all;
}

// How many of them got a verdict that is right; nothing where this machine has no PyTorch, after it has said
// so.
std::optional<std::size_t> judge(const std::vector<exhibit>& exhibits, double most_speedup) {
  auto functions = functions_for(exhibits);
  if (!functions) return std::nullopt;
  std::size_t right = 0;
  for (const auto& e : exhibits) {
    const auto got = torch_corpus::evaluate(functions->at(e.task), e.text);
    const bool good = std::find(e.verdicts.begin(), e.verdicts.end(), got.outcome) != e.verdicts.end();
    CHECK_MESSAGE(good, e.name, " is ", torch_corpus::said(got));
    if (std::getenv("KEVO_EXHIBITS") != nullptr)
      std::printf("%s: %s (speedup %.3g)\n", e.name.c_str(), torch_corpus::said(got).c_str(), got.speedup);
    // What is valid although it tries something must not earn anything by it: each is the usual solution
    // besides.
    if (good && got.valid())
      CHECK_MESSAGE(got.speedup_interval.low < most_speedup, e.name, " gained: ", got.speedup);
    right += good ? 1 : 0;
  }
  return right;
}

// Nobody took files away: raise `least` with the files.
void judge_all(const std::string& folder, std::size_t least, double most_speedup, const char* what) {
  const auto exhibits = torch_corpus::exhibits_in(folder);
  if (std::getenv("KEVO_EXHIBITS") == nullptr) {
    CHECK(exhibits.size() == torch_corpus::files_in(folder));
    CHECK(exhibits.size() >= least);
  }
  if (const auto right = judge(exhibits, most_speedup))
    std::printf("%zu of %zu %s\n", *right, exhibits.size(), what);
}

}  // namespace

TEST_CASE("programs that cheat get the verdicts that they must get") {
  judge_all("attacks", 81, 1.3, "exploits were judged as they must be");
}

TEST_CASE("honest programs that look odd are accepted") {
  judge_all("honest", 37, 100, "honest programs were accepted");
}
