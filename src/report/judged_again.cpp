#include "src/report/judged_again.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/journal/rejudged.hpp"

namespace kevo {
namespace {

std::string day(const judged_again& one) {
  return one.judged_at.substr(0, 10);
}

}  // namespace

std::map<std::string, std::size_t> judgements::counts() const {
  std::map<std::string, std::size_t> all;
  for (const auto& [id, one] : latest) ++all[one.verdict];
  return all;
}

std::string judgements::summary() const {
  if (!problem.empty()) return problem;
  if (latest.empty()) return {};
  std::string text;
  for (const auto& [verdict, count] : counts())
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, verdict);
  const auto newest = std::max_element(latest.begin(), latest.end(), [](const auto& a, const auto& b) {
    return a.second.judged_at < b.second.judged_at;
  });
  return fmt::format("{} ({}, kevo {})", text, day(newest->second), newest->second.kevo_version);
}

judgements judgements_of(const std::string& run_directory) {
  judgements all;
  try {
    const auto file = rejudged_file::open_read_only(run_directory);
    if (!file) return all;
    for (const auto& row : file->rows()) {  // oldest first
      const evaluation& e = row.result;
      all.latest[row.candidate] = {row.judged_at, row.kevo_version, row.rules.protocol,
                                   row.verdict,   row.reason,       e.outcome,
                                   e.score,       e.speedup,        e.speedup_interval};
    }
  } catch (const error& wrong) {
    all.problem = wrong.what();
  }
  return all;
}

std::string judgement_text(const judged_again& one) {
  return fmt::format("{} on {} (kevo {}){}{}", one.verdict, day(one), one.kevo_version,
                     one.reason.empty() ? "" : ": ", one.reason);
}

}  // namespace kevo
