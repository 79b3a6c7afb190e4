#include "tests/report/synthetic_run.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>

#include <kevo/archive/grid.hpp>
#include <kevo/run_to_end.hpp>
#include <kevo/stop/evaluations.hpp>
#include <kevo/vary/ucb1.hpp>

namespace synthetic {
namespace {

std::string source(int tile, int rows, int n) {
  std::string text = "#include <cstdint>\n\n// Written for the test.\n#define TILE " + std::to_string(tile) +
                     "  // kevo: {8, 16, 32, 64}\n#define ROWS " + std::to_string(rows) +
                     "  // kevo: {1, 2, 4, 6}\nconstexpr int number = " + std::to_string(n) + ";\n\n";
  for (int i = 0; i < 14; ++i)
    text += "static int helper_" + std::to_string(i) + "(int x) { return x + " + std::to_string(i) + "; }\n";
  text +=
      "\nextern \"C\" void run(const float* A, const float* B, float* C, int64_t M, int64_t N, int64_t K) "
      "{\n";
  for (int i = 0; i < 1 + n % 5; ++i)
    text += "  for (int64_t i = " + std::to_string(i) + "; i < M; i += ROWS) step(A, B, C + i * N, N, K);\n";
  return text + "}\n";
}

/// What the operators of the test hand on in the source: how good the candidate really is.
double quality_of(const kevo::program& p) {
  const auto text = p.text();
  const auto at = text.find("quality ");
  return at == std::string_view::npos ? 1
                                      : std::strtod(std::string(text.substr(at + 8, 24)).c_str(), nullptr);
}

kevo::program kernel(double quality, int tile, int rows, int n) {
  return kevo::single_file_program("cpp", "kernel.cpp",
                                   "// quality " + std::to_string(quality) + "\n" + source(tile, rows, n));
}

struct changer {
  std::string label;
  double daring = 0.2;
  std::string name() const { return label; }
  kevo::variation_result vary(const kevo::variation_request& request, kevo::rng& random) {
    if (random.chance(0.04)) return kevo::no_proposal{"every setting within two steps is known"};
    if (random.chance(0.06)) return kevo::proposal{*request.parents.front()->program, "the same again"};
    const int tile = 8 << random.below(5), rows = static_cast<int>(1 + random.below(8));
    const double quality =
        std::min(24.0, quality_of(*request.parents.front()->program) * std::exp(daring * random.normal()));
    const std::string summary =
        label == "tune"      ? "TILE 16 -> " + std::to_string(tile) + ", ROWS 2 -> " + std::to_string(rows)
        : label == "splice"  ? "region registers from #" + std::to_string(request.parents.back()->id)
        : random.chance(0.5) ? "jam loop i in line 17"
                             : "jam loop i in line 17, unroll loop k in line 20, jam "
                               "loop j in line 18";
    return kevo::proposal{kernel(quality, tile, rows, static_cast<int>(random.below(1000000))), summary};
  }
};

/// Two parents, one of them of the better half.
struct pair_selector {
  kevo::selection select(const kevo::population_view& view, kevo::rng& random) const {
    kevo::selection s;
    s.parents = {view.nth_best(static_cast<std::size_t>(random.below(1 + view.ranked() / 4))),
                 view.nth_best(static_cast<std::size_t>(random.below(view.ranked())))};
    s.reevaluate = random.chance(0.03);
    if (s.reevaluate || s.parents[0] == s.parents[1]) s.parents.pop_back();
    return s;
  }
};

}  // namespace

kevo::evaluation evaluation(kevo::outcome outcome, double speedup, kevo::evaluation_stage stage,
                            kevo::rng& random) {
  kevo::evaluation e;
  e.outcome = outcome;
  e.stage = stage;
  e.baseline = "seed";
  e.device = "AMD EPYC 9B14, 1 thread";
  e.backend = "cpu";
  e.protocol = "cpu 2";
  e.cost = {.wall_s = 0.4,
            .device_s = 0.2,
            .waited_s = 0.1,
            .parts_s = {{"compile", 0.1}, {"calls <of> it", 0.25}}};
  e.context = {{"sandbox", "bubblewrap, seccomp, rlimits, uid 65534"},
               {"compiler", "g++ 12.2.0"},
               {"flags", "-O3 -march=native"}};
  e.measures = {{"code_bytes", std::exp(random.uniform(5, 11))}, {"vector_fraction", random.uniform()}};
  for (const bool hidden : {false, false, true}) {
    kevo::workload_result w;
    w.uuid = hidden ? "odd" : e.workloads.empty() ? "square" : "wide";
    w.axes = hidden ? std::map<std::string, std::int64_t>{{"M", 383}, {"N", 129}, {"K", 511}}
                    : std::map<std::string, std::int64_t>{
                          {"M", 384}, {"N", e.workloads.empty() ? 384 : 768}, {"K", 256}};
    w.hidden = hidden;
    if (outcome == kevo::outcome::incorrect) {
      w.outcome = hidden ? outcome : kevo::outcome::valid;
    } else if (outcome != kevo::outcome::build_failed) {
      w.outcome = outcome;
    }
    if (outcome == kevo::outcome::valid && !hidden) {
      w.baseline_ns = e.workloads.empty() ? 41.3e6 : 29.8e6;
      w.speedup = speedup * (e.workloads.empty() ? 1.02 : 0.98);
      w.time_ns = w.baseline_ns / w.speedup;
      w.time_interval = {w.time_ns * 0.99, w.time_ns * 1.012};
      w.sol_fraction = std::min(0.9, w.speedup / 40);
      for (int i = 0; i < 12; ++i)
        w.samples.push_back(
            {w.time_ns * (1 + 0.01 * random.normal()), w.baseline_ns * (1 + 0.01 * random.normal())});
    }
    e.workloads.push_back(w);
  }
  if (outcome == kevo::outcome::valid) {
    e.speedup = e.score = speedup;
    e.speedup_interval = {speedup * 0.985, speedup * 1.014};
    e.sol_fraction = std::min(0.9, speedup / 40);
    const double other = speedup / 21.5;
    e.other_speedups = {{"openblas", other}};
    e.other_speedup_intervals = {{"openblas", {other * 0.98, other * 1.03}}};
    e.feedback =
        "square: 2.1x faster than the parent, bound by loads of B.\nTry to keep a tile of C in registers.";
  } else {
    e.feedback = "kernel.cpp:17:5: error: use of undeclared identifier 'vfloat'\n    vfloat acc[4];\n    ^";
    e.reasons = {"build failed"};
  }
  return e;
}

kevo::any_archive empty_grid() {
  return kevo::grid({{"code_bytes", 8, 64, 65536, kevo::axis_scale::log},
                     {"vector_fraction", 8, 0, 1, kevo::axis_scale::linear}});
}

run make(std::size_t evaluations, std::uint64_t seed,
         const std::function<void(const run&, const kevo::event&)>& hear) {
  run r;
  kevo::rng random(seed);
  kevo::search_parts parts;
  parts.select = pair_selector();
  parts.operators = {changer{"tune", 0.15}, changer{"splice", 0.2}, changer{"rewrite", 0.35}};
  parts.portfolio = kevo::ucb1();
  parts.archive = empty_grid();
  parts.stop = kevo::stop::evaluations{evaluations};
  parts.store = r.store;
  const kevo::search* engine = nullptr;
  struct ear {
    std::function<void(const kevo::event&)> heard;
    void consume(const kevo::event& e) { heard(e); }
  };
  parts.sinks = {kevo::any_sink(ear{[&](const kevo::event& e) {
    r.events.push_back(e);
    r.ledger = engine->progress(r.time_s).ledger;
    r.best = engine->best().speedup;
    r.best_interval = engine->best().speedup_interval;
    r.candidates = engine->population().size();
    r.growing = &engine->archive();
    r.credits = engine->credits();
    if (hear) hear(r, e);
  }})};
  kevo::search search(parts, {.seed = seed});
  engine = &search;
  search.add_seed(kernel(1.0, 8, 1, 0), 0);
  search.add_seed(kernel(1.9, 8, 1, 1), 0);
  const auto clock = [&r, &random] { return r.time_s += random.uniform(0.0, 0.02); };
  const auto judge = [&](const kevo::evaluation_request& request) {
    r.time_s += random.uniform(0.05, 0.6);
    const double quality = quality_of(*request.program);
    const double luck =
        quality == 1.0 || quality == 1.9 || request.wanted == kevo::evaluation_stage::confirmed
            ? 0
            : random.uniform();
    const auto outcome = luck < 0.7    ? kevo::outcome::valid
                         : luck < 0.8  ? kevo::outcome::build_failed
                         : luck < 0.9  ? kevo::outcome::incorrect
                         : luck < 0.94 ? kevo::outcome::timed_out
                         : luck < 0.97 ? kevo::outcome::crashed
                         : luck < 0.99 ? kevo::outcome::rejected
                                       : kevo::outcome::suspect;
    const auto stage = std::max(request.wanted, kevo::evaluation_stage::timed_full);
    return evaluation(outcome, outcome == kevo::outcome::valid ? quality * random.uniform(0.98, 1.02) : 0,
                      stage, random);
  };
  struct fitness {
    std::function<kevo::evaluation(const kevo::evaluation_request&)> call;
    kevo::evaluation evaluate(const kevo::evaluation_request& request) { return call(request); }
  };
  kevo::run_to_end(search, kevo::any_fitness(fitness{judge}), clock);
  r.archive = search.archive();
  r.credits = search.credits();
  r.growing = nullptr;
  r.ledger = search.progress(r.time_s).ledger;
  return r;
}

}  // namespace synthetic
