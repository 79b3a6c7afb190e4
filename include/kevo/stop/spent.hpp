#pragma once
// Stop rules for single columns of the ledger: duplicates, confirmations, tokens read, tokens written and
// others.

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/stop.hpp>
#include <kevo/stop/text.hpp>

namespace kevo::stop {

/// A column of the ledger without a class of its own.
struct ledger_column {
  std::string_view name;        ///< name of the rule in a config
  std::string_view unit;        ///< unit of the limit
  std::string_view doc;         ///< description for the reference of all keys
  double (*of)(const ledger&);  ///< the value of the column
};

/// All columns for which configs have a stop rule of this kind.
inline constexpr std::array<ledger_column, 9> ledger_columns = {{
    {"duplicates", "proposals", "stop after this many proposals of programs that the run already contained",
     [](const ledger& l) { return static_cast<double>(l.duplicates); }},
    {"no_proposals", "turns", "stop after this many turns that ended without a program",
     [](const ledger& l) { return static_cast<double>(l.no_proposals); }},
    {"filtered", "proposals", "stop after this many proposals that the proposal filter dropped",
     [](const ledger& l) { return static_cast<double>(l.filtered); }},
    {"confirmations", "evaluations", "stop after this many finished confirmations of possible champions",
     [](const ledger& l) { return static_cast<double>(l.confirmations); }},
    {"valid", "candidates", "stop when this many candidates are valid, by their latest evaluation",
     [](const ledger& l) { return static_cast<double>(l.valid); }},
    {"variation_seconds", "s", "stop after this much time spent in operators, summed over all threads",
     [](const ledger& l) { return l.variation.wall_s; }},
    {"evaluation_seconds", "s", "stop after this much time spent on evaluations, summed over all threads",
     [](const ledger& l) { return l.evaluation.wall_s; }},
    {"tokens_in", "tokens", "stop after language models have read this many tokens",
     [](const ledger& l) { return static_cast<double>(l.variation.tokens_in + l.evaluation.tokens_in); }},
    {"tokens_out", "tokens", "stop after language models have written this many tokens",
     [](const ledger& l) { return static_cast<double>(l.variation.tokens_out + l.evaluation.tokens_out); }},
}};

/// Stops when a column of the ledger has reached `limit`, in the column's unit.
struct spent {
  ledger_column column = ledger_columns[0];  ///< the column whose value is compared with the limit
  double limit = 0;                          ///< in the unit of the column

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
