// A run as a data set of FlashInfer-Bench.

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/task_extents.hpp>

#include "src/base/text/utf8.hpp"
#include "src/export/export.hpp"
#include "src/export/flashinfer_data_set.hpp"

namespace kevo {
namespace {

class calendar {
 public:
  explicit calendar(std::vector<journal_session> sessions) : sessions_(std::move(sessions)) {}
  /// When an event was told, in ISO 8601.
  std::string when(std::uint64_t sequence, double time_s) const {
    double unix_s = 0;
    for (const auto& s : sessions_) {
      if (s.after_sequence < sequence) unix_s = s.opened_unix_s + (time_s - s.after_time_s);
    }
    constexpr double year_10000 = 253402300800;
    if (!(unix_s >= 0 && unix_s < year_10000)) unix_s = 0;
    const std::chrono::sys_seconds at{std::chrono::seconds(static_cast<std::int64_t>(unix_s))};
    return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(at));
  }

 private:
  std::vector<journal_session> sessions_;
};

/// The candidates to export, in order of birth.
std::vector<candidate_id> chosen(const journal& record, std::size_t top) {
  const candidate_store store = record.store();
  std::vector<std::pair<double, candidate_id>> all;
  for (candidate_id id = 0; id < record.candidate_count(); ++id) {
    const auto e = store.evaluation_of(id);
    if (e && (top == 0 || e->valid())) all.emplace_back(-e->score, id);
  }
  if (top > 0) {
    std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    all.resize(std::min(all.size(), top));
  }
  std::vector<candidate_id> ids;
  ids.reserve(all.size());
  for (const auto& [score, id] : all) ids.push_back(id);
  std::sort(ids.begin(), ids.end());
  return ids;
}

}  // namespace

flashinfer_summary export_flashinfer(const journal& record, const task& t, const std::string& directory,
                                     const flashinfer_options& options) {
  flashinfer_data_set set(t, directory);
  const candidate_store store = record.store();
  const calendar dates(record.sessions());
  const auto& header = record.header();
  for (const candidate_id id : chosen(record, options.top)) {
    const auto c = record.candidate(id);
    const auto source = c ? store.program_of(c->program) : nullptr;
    const auto evaluations = record.evaluations(id);
    if (!source || source->files.empty() || evaluations.empty()) continue;
    const auto& last = evaluations.back();
    set.add({.name = fmt::format("{}_{}", header.run_name.empty() ? "kevo" : as_utf8(header.run_name), id),
             .description = fmt::format("kevo run {}, candidate {}, made by {}{}{}", header.run_name, c->id,
                                        c->operator_name, c->summary.empty() ? "" : ": ", c->summary),
             .author = options.author,
             .source = source.get(),
             .result = last.result.get(),
             .timestamp = dates.when(last.sequence, last.time_s),
             .kevo_version = header.kevo_version,
             .shown_as = fmt::format("candidate {}", c->id),
             .origin = record.directory()});
  }
  return set.finish();
}

}  // namespace kevo
