#pragma once
// What may be told of hidden workloads: how many passed.

#include <cstddef>
#include <string>

#include <fmt/format.h>

#include <kevo/evaluation.hpp>

namespace kevo {

struct hidden_workloads {
  std::size_t all = 0;
  std::size_t passed = 0;
  std::size_t not_run = 0;
};

inline hidden_workloads count_hidden(const evaluation& e) {
  hidden_workloads count;
  for (const auto& w : e.workloads) {
    if (!w.hidden) continue;
    ++count.all;
    count.passed += w.outcome == outcome::valid ? 1U : 0U;
    count.not_run += w.outcome ? 0U : 1U;
  }
  return count;
}

/// "2 of 3 hidden workloads passed, 1 not run"; empty if there are none.
inline std::string describe(const hidden_workloads& count) {
  if (count.all == 0) return {};
  std::string text = fmt::format("{} of {} hidden workloads passed", count.passed, count.all);
  if (count.not_run > 0) text += fmt::format(", {} not run", count.not_run);
  return text;
}

}  // namespace kevo
