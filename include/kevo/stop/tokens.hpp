#pragma once
// So many tokens.

#include <cstdint>
#include <optional>
#include <string>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// Stops when operators have used `limit` tokens, read and written together.
struct tokens {
  std::int64_t limit = 0;

  std::optional<std::string> stop(const progress& now) const {
    if (now.ledger.variation.tokens_in + now.ledger.variation.tokens_out < limit) return std::nullopt;
    return counted(limit, "token");
  }
  std::optional<double> used(const progress& now) const {
    return share(now.ledger.variation.tokens_in + now.ledger.variation.tokens_out, limit);
  }
};

}  // namespace kevo::stop
