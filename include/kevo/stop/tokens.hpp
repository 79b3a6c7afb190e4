#pragma once
// The stop rule `tokens`: a budget of tokens that language models read and write.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// Stops when the language models of the operators have read and written `limit` tokens in total.
struct tokens {
  std::int64_t limit = 0;  ///< number of tokens

  std::optional<std::string> stop(const progress& now) const {
    if (now.ledger.variation.tokens_in + now.ledger.variation.tokens_out < limit) return std::nullopt;
    return counted(limit, "token");
  }
  std::optional<double> used(const progress& now) const {
    return share(now.ledger.variation.tokens_in + now.ledger.variation.tokens_out, limit);
  }
  std::vector<stop_part> parts(const progress& now) const {
    return one_part("tokens", now.ledger.variation.tokens_in + now.ledger.variation.tokens_out, limit);
  }
};

}  // namespace kevo::stop
