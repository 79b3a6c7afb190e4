#pragma once
// A made-up run of any length: events, programs and figures as a real search gives them, from a seed.

#include <cmath>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <kevo/memory_store.hpp>
#include <kevo/random.hpp>
#include <kevo/report.hpp>
#include <kevo/stop.hpp>

namespace synthetic {

using kevo::candidate_id;

struct run {
  std::vector<kevo::event> events;
  kevo::candidate_store store = kevo::memory_store();
  std::vector<std::string> operators = {"tune", "splice", "rewrite"};
  kevo::ledger ledger;
  double best = 0;
  kevo::interval best_interval;
  double time_s = 0;
  std::size_t candidates = 0;
};

inline std::string source(int tile, int rows, int n) {
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

inline kevo::evaluation evaluation(kevo::outcome outcome, double speedup, kevo::evaluation_stage stage,
                                   kevo::rng& random) {
  kevo::evaluation e;
  e.outcome = outcome;
  e.stage = stage;
  e.baseline = "seed";
  e.device = "AMD EPYC 9B14, 1 thread";
  e.backend = "cpu";
  e.protocol = "cpu 1";
  e.cost = {.wall_s = 0.4, .device_s = 0.2};
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
    w.outcome = outcome == kevo::outcome::incorrect && !hidden ? kevo::outcome::valid : outcome;
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
    e.other_speedups = {{"openblas", speedup / 21.5}};
    e.feedback =
        "square: 2.1x faster than the parent, bound by loads of B.\nTry to keep a tile of C in registers.";
  } else {
    e.feedback = "kernel.cpp:17:5: error: use of undeclared identifier 'vfloat'\n    vfloat acc[4];\n    ^";
    e.reasons = {"build failed"};
  }
  return e;
}

/// `proposals` turns of three operators on one task. `hear` (may be empty) is told every event at its time.
inline run make(std::size_t proposals, std::uint64_t seed = 1,
                const std::function<void(const run&, const kevo::event&)>& hear = {}) {
  run r;
  kevo::rng random(seed);
  const auto say = [&](auto what) {
    r.events.push_back({r.events.size() + 1, r.time_s, std::move(what)});
    if (hear) hear(r, r.events.back());
  };
  std::vector<double> scores;
  std::vector<double> cells(64, 0);
  double champion = 0;
  kevo::ticket job = 0;
  const auto evaluate = [&](candidate_id id, double score, kevo::outcome outcome) {
    using stage = kevo::evaluation_stage;
    say(kevo::evaluation_asked{++job, id, stage::timed_full, false});
    r.time_s += random.uniform(0.05, 0.6);
    auto e = std::make_shared<kevo::evaluation>(evaluation(outcome, score, stage::timed_full, random));
    r.store.put_evaluation(id, e);
    kevo::archive_result answer;
    if (e->valid()) {
      double& cell = cells[random.below(64)];
      if (score > cell) {
        answer = {cell > 0 ? kevo::archive_status::improved : kevo::archive_status::new_cell, score - cell};
        cell = score;
      }
    }
    ++r.ledger.evaluations;
    r.ledger.valid += e->valid() ? 1 : 0;
    r.ledger.evaluation += {.wall_s = e->cost.wall_s, .device_s = e->cost.device_s};
    say(kevo::evaluation_told{job, id, stage::timed_full, e, answer});
    if (e->valid() && score > champion) {
      say(kevo::evaluation_asked{++job, id, stage::confirmed, true});
      r.time_s += 0.8;
      auto again = std::make_shared<kevo::evaluation>(
          evaluation(outcome, score * random.uniform(0.97, 1.0), stage::confirmed, random));
      r.store.put_evaluation(id, again);
      ++r.ledger.confirmations;
      say(kevo::evaluation_told{job, id, stage::confirmed, again, {}});
      if (again->speedup > champion) {
        champion = again->speedup;
        r.best = champion;
        r.best_interval = again->speedup_interval;
        say(kevo::champion_crowned{id, champion, again->speedup_interval});
      }
    }
  };
  const auto born = [&](int tile, int rows, int unroll) {
    auto p = std::make_shared<kevo::program>(
        kevo::single_file_program("cpp", "kernel.cpp", source(tile, rows, unroll)));
    const auto id = kevo::id_of(*p);
    r.store.put_program(id, p);
    ++r.candidates;
    return id;
  };
  for (candidate_id id = 0; id < 2; ++id) {
    const auto program = born(8, 1, 1 + static_cast<int>(id));
    say(kevo::seeded{id, program});
    scores.push_back(id == 0 ? 1.0 : 1.9);
    evaluate(id, scores.back(), kevo::outcome::valid);
  }
  for (std::size_t n = 0; n < proposals; ++n) {
    kevo::variation_asked asked;
    asked.job = ++job;
    asked.op = static_cast<kevo::operator_index>(random.chance(0.6) ? 0 : random.chance(0.7) ? 1 : 2);
    candidate_id parent = 0;
    for (int draw = 0; draw < 3; ++draw) {
      const auto other = static_cast<candidate_id>(random.below(scores.size()));
      if (scores[other] >= scores[parent]) parent = other;
    }
    asked.selection.parents = {parent};
    if (asked.op == 1)
      asked.selection.parents.push_back(static_cast<candidate_id>(random.below(scores.size())));
    say(asked);
    r.time_s += 0.002;
    kevo::variation_told told;
    told.job = asked.job;
    told.cost.wall_s = 0.001;
    r.ledger.variation += told.cost;
    if (random.chance(0.04)) {
      told.summary = "every setting within two steps is known";
      ++r.ledger.no_proposals;
      say(told);
      continue;
    }
    ++r.ledger.proposals;
    if (random.chance(0.08)) {
      told.candidate = parent;
      told.duplicate = true;
      told.summary = "TILE 32";
      ++r.ledger.duplicates;
      say(told);
      continue;
    }
    const auto id = static_cast<candidate_id>(scores.size());
    const int tile = 8 << random.below(5), rows = static_cast<int>(1 + random.below(8));
    told.program = born(tile, rows, static_cast<int>(2 + n));
    told.candidate = id;
    told.summary =
        asked.op == 0   ? "TILE 16 -> " + std::to_string(tile) + ", ROWS 2 -> " + std::to_string(rows)
        : asked.op == 1 ? "region registers from #" + std::to_string(asked.selection.parents.back())
                        : "keep the tile of C in registers";
    say(told);
    const double luck = random.uniform();
    const auto outcome = luck < 0.7    ? kevo::outcome::valid
                         : luck < 0.8  ? kevo::outcome::build_failed
                         : luck < 0.9  ? kevo::outcome::incorrect
                         : luck < 0.94 ? kevo::outcome::timed_out
                         : luck < 0.97 ? kevo::outcome::crashed
                         : luck < 0.99 ? kevo::outcome::rejected
                                       : kevo::outcome::suspect;
    const double score = outcome == kevo::outcome::valid
                             ? std::min(24.0, scores[parent] * std::exp(0.22 * random.normal()))
                             : 0;
    scores.push_back(score);
    evaluate(id, score, outcome);
  }
  r.ledger.elapsed_s = r.time_s;
  say(kevo::search_stopped{std::to_string(r.ledger.evaluations) + " evaluations"});
  return r;
}

}  // namespace synthetic
