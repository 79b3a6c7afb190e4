#pragma once
// What became of the programs that each macro action of `rewrite` made.

#include <cstdint>
#include <string>
#include <vector>

#include "src/report/report_content.hpp"

namespace kevo {

/// A program that several actions made counts for each of them, once.
struct action_share {
  std::string action;
  std::uint64_t proposed = 0;   ///< programs that were new to the run
  std::uint64_t evaluated = 0;  ///< of these; what follows speaks of their first evaluations
  std::uint64_t valid = 0;
  std::uint64_t incorrect = 0;
  std::uint64_t build_failed = 0;
  std::uint64_t failed_otherwise = 0;     ///< crashed, timed out, refused, did not fit on the device, ...
  std::uint64_t better_than_parents = 0;  ///< valid, with a higher score than each of its parents

  /// 0 where nothing was evaluated.
  double valid_share() const {
    return evaluated == 0 ? 0 : static_cast<double>(valid) / static_cast<double>(evaluated);
  }
};

/// Of the candidates of operators that are named "rewrite", the action with most programs first. Empty if
/// there is no such operator.
std::vector<action_share> action_shares(const report_content& content);

}  // namespace kevo
