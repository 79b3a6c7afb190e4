#include "src/run/same_plan.hpp"

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/task.hpp>
#include <kevo/task_id.hpp>

namespace kevo {
namespace {

[[noreturn]] void differs(const journal& record, const std::string& what, const std::string& before,
                          const std::string& now) {
  throw error(
      error_code::input,
      fmt::format("this run was started with another {}: '{}', but now it is '{}'", what, before, now),
      {.file = record.directory()}, "continue the run with its original settings, or start a new run");
}

constexpr const char* widest_key = "search.confirm.widest";
constexpr const char* after_key = "search.confirm.after";

std::string list(const std::vector<std::string>& names) {
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::vector<std::string> operator_names_of(const session_plan& plan) {
  std::vector<std::string> names;
  names.reserve(plan.parts.operators.size());
  for (const auto& op : plan.parts.operators) names.push_back(op.name());
  return names;
}

std::map<std::string, std::string> decisive_settings(const search_settings& given) {
  std::map<std::string, std::string> all = {
      {"search.proposals_ahead", std::to_string(given.proposals_ahead)},
      {"search.patience", std::to_string(given.patience)},
      {"search.improvement_margin", fmt::format("{}", given.improvement_margin)}};
  if (given.confirm.decides) {
    all[widest_key] = fmt::format("{}", given.confirm.widest);
    all["search.confirm.further"] = std::to_string(given.confirm.further);
    all[after_key] = std::to_string(given.confirm.after);
  }
  return all;
}

confirmation_rules rules_of(const journal& record, confirmation_rules given) {
  const auto& more = record.header().more;
  given.decides = given.decides && more.contains(widest_key);
  if (!more.contains(after_key)) given.after = 0;  // recorded before contenders waited
  return given;
}

void require_same_task(const journal& record, const task& now) {
  if (record.header().task_id == to_string(id_of(now))) return;
  throw error(error_code::input, "the task changed since this run began",
              {.file = now.file.empty() ? record.directory() : now.file},
              "restore the task, or start a new run");
}

void require_same_plan(const journal& record, const session_plan& plan) {
  const journal_header& header = record.header();
  require_same_task(record, *plan.parts.task);
  if (header.seed != plan.search.seed)
    differs(record, "seed (search.seed)", std::to_string(header.seed), std::to_string(plan.search.seed));
  const std::vector<std::string> names = operator_names_of(plan);
  if (header.operators != names) differs(record, "list of operators", list(header.operators), list(names));
  for (const auto& [key, now] : decisive_settings(plan.search)) {
    const auto before = header.more.find(key);  // journals of older versions do not hold it
    if (before != header.more.end() && before->second != now) differs(record, key, before->second, now);
  }
}

}  // namespace kevo
