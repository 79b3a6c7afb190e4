#include "src/report/action_shares.hpp"

#include <algorithm>
#include <map>
#include <set>

#include <kevo/operators/rewrite.hpp>

namespace kevo {
namespace {

void count(action_share& to, const candidate_record& one, bool better) {
  ++to.proposed;
  if (!one.evaluated()) return;
  ++to.evaluated;
  switch (one.evaluations.front().outcome) {
    case outcome::valid:
      ++to.valid;
      to.better_than_parents += better ? 1U : 0U;
      return;
    case outcome::incorrect:
      ++to.incorrect;
      return;
    case outcome::build_failed:
      ++to.build_failed;
      return;
    default:
      ++to.failed_otherwise;
  }
}

// By their first evaluations: the score of a champion is from its confirmation, which chance has not chosen.
bool is_better_than_parents(const run_history& history, const candidate_record& one) {
  if (one.parents.empty() || !one.evaluated()) return false;
  return std::all_of(one.parents.begin(), one.parents.end(), [&](candidate_id parent) {
    const candidate_record& from = history.candidates().at(parent);
    return !from.evaluated() || from.evaluations.front().outcome != outcome::valid ||
           one.evaluations.front().score > from.evaluations.front().score;
  });
}

}  // namespace

std::vector<action_share> action_shares(const report_content& content) {
  const run_history& history = content.history;
  const auto& known = rewrite_features().types;
  std::map<std::string, action_share> by_name;
  for (const candidate_record& one : history.candidates()) {
    if (one.op == seed_operator || content.operator_name(one.op) != "rewrite") continue;
    const bool better = is_better_than_parents(history, one);
    const auto actions = actions_of_summary(one.summary);
    for (const std::string& action : std::set<std::string>(actions.begin(), actions.end())) {
      // A summary of another version may say something else.
      if (std::find(known.begin(), known.end(), action) != known.end()) count(by_name[action], one, better);
    }
  }
  std::vector<action_share> all;
  for (auto& [name, share] : by_name) {
    share.action = name;
    all.push_back(share);
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.proposed > b.proposed; });
  return all;
}

}  // namespace kevo
