#pragma once
// The stop rule `proposals`: a budget of programs proposed by operators.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// Stops when operators have proposed `limit` programs. Programs that were known already count, too: this
/// budget counts what operators, for example language models, have delivered.
struct proposals {
  std::uint64_t limit = 0;  ///< number of proposals

  std::optional<std::string> stop(const progress& now) const {
    if (now.ledger.proposals < limit) return std::nullopt;
    return counted(limit, "proposal");
  }
  std::optional<double> used(const progress& now) const { return share(now.ledger.proposals, limit); }
  std::vector<stop_part> parts(const progress& now) const {
    return one_part("proposals", now.ledger.proposals, limit);
  }
};

}  // namespace kevo::stop
