#pragma once
// The stop rules for single columns of the ledger: duplicates, confirmations, tokens read, tokens written and
// others.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// A column of the ledger that has no rule of its own.
struct ledger_column {
  std::string_view name;
  std::string_view unit;
  std::string_view doc;
  double (*of)(const ledger&);
};

inline constexpr std::array<ledger_column, 8> ledger_columns = {{
    {"duplicates", "proposals", "proposals whose program was known",
     [](const ledger& l) { return static_cast<double>(l.duplicates); }},
    {"no_proposals", "variations", "variations that ended without a program",
     [](const ledger& l) { return static_cast<double>(l.no_proposals); }},
    {"confirmations", "evaluations", "finished confirmations of would-be champions",
     [](const ledger& l) { return static_cast<double>(l.confirmations); }},
    {"valid", "candidates", "candidates whose latest evaluation is valid",
     [](const ledger& l) { return static_cast<double>(l.valid); }},
    {"variation_seconds", "s", "time of all operators, side by side or not",
     [](const ledger& l) { return l.variation.wall_s; }},
    {"evaluation_seconds", "s", "time of all evaluations, side by side or not",
     [](const ledger& l) { return l.evaluation.wall_s; }},
    {"tokens_in", "tokens", "tokens that models read",
     [](const ledger& l) { return static_cast<double>(l.variation.tokens_in + l.evaluation.tokens_in); }},
    {"tokens_out", "tokens", "tokens that models wrote",
     [](const ledger& l) { return static_cast<double>(l.variation.tokens_out + l.evaluation.tokens_out); }},
}};

/// Stops when a column of the ledger has reached `limit`, in the column's unit.
struct spent {
  ledger_column column = ledger_columns[0];
  double limit = 0;

  std::optional<std::string> stop(const progress& now) const {
    if (column.of(now.ledger) < limit) return std::nullopt;
    return number(limit) + ' ' + std::string(column.name);
  }
  std::optional<double> used(const progress& now) const { return share(column.of(now.ledger), limit); }
  std::vector<stop_part> parts(const progress& now) const {
    return one_part(std::string(column.name), column.of(now.ledger), limit);
  }
};

}  // namespace kevo::stop
