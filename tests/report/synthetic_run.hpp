#pragma once
// A made-up run of any length: events, programs and figures as a real search gives them, from a seed.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <kevo/memory_store.hpp>
#include <kevo/random.hpp>
#include <kevo/search.hpp>

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
  kevo::any_archive archive;                   ///< as it ended
  const kevo::any_archive* growing = nullptr;  ///< as it is while events are heard
  std::vector<kevo::operator_credit> credits;
};

/// As one of its candidates might be judged.
kevo::evaluation evaluation(kevo::outcome outcome, double speedup, kevo::evaluation_stage stage,
                            kevo::rng& random);

kevo::any_archive empty_grid();

/// About `evaluations` evaluations of three operators on one task, by a real search on a made-up clock.
/// `hear` (may be empty) is told every event at its time.
run make(std::size_t evaluations, std::uint64_t seed = 1,
         const std::function<void(const run&, const kevo::event&)>& hear = {});

}  // namespace synthetic
