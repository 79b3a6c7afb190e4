// labels: slow
// one processor
// timeout: 900
// Many candidates, of which every tenth hangs, crashes, takes all memory or ends its process: every
// evaluation says what its own program did, none is lost, and no process is left. KEVO_ISOLATION=1000 tries
// so many; the usual number is small.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <set>
#include <thread>

#include "tests/support/descendants.hpp"
#include "tests/torch/corpus.hpp"

namespace {

using clock_type = std::chrono::steady_clock;

double seconds_since(clock_type::time_point start) {
  return std::chrono::duration<double>(clock_type::now() - start).count();
}

struct kind_of_program {
  const char* name;
  std::string call;  // what happens before the sum
  std::set<kevo::outcome> right;
};

// Programs of equal results, each of its own text, so that none is answered from a cache.
std::string text_of(const kind_of_program& kind, int number) {
  return "import ctypes, os, torch\n\nclass ModelNew(torch.nn.Module):\n    def forward(self, x):\n        " +
         kind.call + "\n        return x.clone() + " + std::to_string(number) + " * 0\n";
}

kevo::task task_of_copies() {
  kevo::task t;
  t.name = "copies";
  t.axes = {{"n", std::nullopt, ""}};
  t.inputs = {{"x", {"n"}, false, "float32", {}, ""}};
  t.outputs = {{"y", {"n"}, false, "float32", {}, ""}};
  t.reference = kevo::reference_source{"python",
                                       kevo::program_of("python",
                                                        "import torch\n\nclass Model(torch.nn.Module):\n    "
                                                        "def forward(self, x):\n        return x.clone()\n"),
                                       "module", "Model"};
  kevo::workload usual;
  usual.uuid = "usual";
  usual.axes = {{"n", 1000}};
  t.workloads = {usual};
  return t;
}

}  // namespace

TEST_CASE("candidates that fail in every way disturb nobody else") {
  auto settings = torch_corpus::quick_settings();
  settings.limits.first_call_s = 3;
  settings.limits.memory_bytes = 1ULL << 30U;
  std::optional<kevo::torch_fitness> fitness;
  try {
    fitness.emplace(std::make_shared<const kevo::task>(task_of_copies()), settings);
  } catch (const kevo::error& missing) {
    if (missing.message().find("no Python with PyTorch") != 0) throw;
    return kevo_test::skip(missing.message());
  }
  using kevo::outcome;
  const kind_of_program honest = {"honest", "pass", {outcome::valid}};
  const kind_of_program broken[] = {
      {"hangs", "while True: pass", {outcome::timed_out}},
      {"crashes", "ctypes.string_at(8)", {outcome::crashed}},
      // Whichever limit comes first: a busy machine needs seconds to fill so much.
      {"takes all memory",
       "kept = [torch.ones(1 << 24) for _ in range(1000)]",
       {outcome::crashed, outcome::timed_out}},
      {"ends its process", "os._exit(0)", {outcome::crashed}},
      {"raises", "raise ValueError('no')", {outcome::crashed}},
      {"is wrong", "x = x + 1", {outcome::incorrect}},
  };
  const char* given = std::getenv("KEVO_ISOLATION");
  const int wanted = given == nullptr ? 30 : std::max(std::atoi(given), 10);
  double spent[2] = {};
  int tried[2] = {};
  int right = 0;
  std::size_t most_processes = 0;
  for (int i = 0; i < wanted; ++i) {
    const bool breaks = i % 10 == 4 || (given == nullptr && i % 5 == 1);
    const auto& kind = breaks ? broken[static_cast<std::size_t>(tried[1]) % std::size(broken)] : honest;
    const auto start = clock_type::now();
    const auto e = torch_corpus::evaluate(*fitness, text_of(kind, i), kevo::evaluation_stage::checked);
    // The first one also starts Python.
    if (i > 0) spent[breaks] += seconds_since(start);
    ++tried[breaks];
    const bool fine = kind.right.contains(e.outcome);
    CHECK_MESSAGE(fine, "number ", i, ", which ", std::string(kind.name), ", is ", torch_corpus::said(e));
    right += fine ? 1 : 0;
    if (i == 3 || i == wanted - 1) {
      const auto now = kevo_test::descendants();
      // As many at the end as at the beginning: the warm Python, its sandbox, and what waits for the next
      // one.
      if (most_processes == 0) most_processes = now + 2;
      CHECK(now <= most_processes);
    }
  }
  CHECK(right == wanted);
  fitness.reset();
  const auto start = clock_type::now();
  while (kevo_test::descendants() > 0 && seconds_since(start) < 5)
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  CHECK(kevo_test::descendants() == 0);
  std::printf(
      "%d of %d evaluations said what their program did; an honest one took %.3f s, one that fails %.3f s\n",
      right, wanted, spent[0] / (tried[0] - 1), spent[1] / std::max(tried[1], 1));
}
