#include "src/lab/recorded_run_file.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <kevo/evaluate/pooled.hpp>

#include "src/journal/journal.hpp"

namespace kevo {
namespace {

/// Collects the programs and proposals of runs, journal by journal.
class recorded_run_reader {
 public:
  /// Returns whether a candidate of the run is valid.
  bool read(const journal& run) {
    places_.clear();
    parents_.clear();
    any_valid_ = false;
    run.for_each_event([this](const event& e) {
      if (const auto* seed = std::get_if<seeded>(&e.payload))
        born(seed->candidate, seed->program, std::nullopt);
      if (const auto* asked = std::get_if<variation_asked>(&e.payload)) remember(*asked);
      if (const auto* told = std::get_if<variation_told>(&e.payload)) take(*told);
      if (const auto* told = std::get_if<evaluation_told>(&e.payload)) take(*told);
    });
    // Not while the events are read: that is a query of its own.
    for (auto& one : programs_) {
      if (!one.source) one.source = run.source(ids_[static_cast<std::size_t>(&one - programs_.data())]);
      if (!one.source)
        throw error(error_code::input, "the journal lacks the source of a candidate",
                    {run.directory() + "/journal.sqlite"}, "copy the run again");
    }
    return any_valid_;
  }
  /// All programs that were read. Several confirmations are pooled, as the runs did; after one that failed,
  /// the program is not valid.
  std::vector<recorded_program> programs() && {
    for (auto& [place, all] : confirmations_) {
      auto& confirmed = programs_[place].confirmed;
      confirmed = all.back();
      if (!confirmed->valid()) continue;
      std::erase_if(all, [](const auto& one) { return !one->valid(); });
      confirmed = std::make_shared<const evaluation>(pooled(all, static_cast<int>(all.size())));
    }
    return std::move(programs_);
  }

 private:
  void remember(const variation_asked& asked) {
    if (!asked.selection.parents.empty()) parents_[asked.job] = places_.at(asked.selection.parents.front());
  }
  void take(const variation_told& told) {
    const auto asked = parents_.find(told.job);
    const auto parent = asked == parents_.end() ? std::nullopt : std::optional(asked->second);
    if (told.program) born(told.candidate, *told.program, parent);
  }
  void take(const evaluation_told& told) {
    const std::size_t place = places_.at(told.candidate);
    any_valid_ = any_valid_ || told.result->valid();
    if (told.wanted == evaluation_stage::confirmed) return confirmations_[place].push_back(told.result);
    auto& kept = programs_[place].result;
    // What the cache answered has the cost of no evaluation.
    if (!kept || kept->cached || !told.result->cached) kept = told.result;
  }
  /// Notes a candidate and the proposal that led to it, also if the program was known.
  void born(candidate_id candidate, const content_id& id, std::optional<std::size_t> parent) {
    const auto [found, fresh] = index_.emplace(id, programs_.size());
    if (fresh) {
      programs_.emplace_back();
      ids_.push_back(id);
    }
    places_[candidate] = found->second;
    const std::size_t from = parent.value_or(0);
    if (from != found->second && edges_.emplace(from, found->second).second)
      programs_[from].children.push_back(found->second);
  }

  std::vector<recorded_program> programs_;
  std::vector<content_id> ids_;  ///< of `programs_`
  std::map<content_id, std::size_t> index_;
  std::set<std::pair<std::size_t, std::size_t>> edges_;
  std::map<std::size_t, std::vector<std::shared_ptr<const evaluation>>> confirmations_;
  std::unordered_map<candidate_id, std::size_t> places_;  ///< of the candidates of the present run
  std::unordered_map<ticket, std::size_t> parents_;       ///< of its variations
  bool any_valid_ = false;
};

std::string task_named_in(const journal_header& header) {
  return header.task_path.empty() ? header.task_id : header.task_path;
}

}  // namespace

recorded_run_graph load_recorded_runs(const std::vector<std::string>& folders, const error_place& named) {
  recorded_run_reader all;
  std::optional<journal_header> first;
  for (const auto& folder : folders) {
    if (!journal::exists(folder))
      throw error(error_code::input, fmt::format("there is no run in '{}'", folder), named,
                  "name the folder of a run, which contains journal.sqlite");
    const journal run = journal::open_read_only(folder);
    if (!first) first = run.header();
    if (run.header().task_id != first->task_id)
      throw error(error_code::input,
                  fmt::format("the runs are of different tasks: '{}' is of {}, '{}' of {}", folders.front(),
                              task_named_in(*first), folder, task_named_in(run.header())),
                  named, "name runs of one task; make a lab for each task");
    if (!all.read(run))
      throw error(error_code::input, fmt::format("no candidate of the run '{}' is valid", folder), named,
                  "name a run with valid candidates; kevo report shows why they failed");
  }
  try {
    return recorded_run_graph(std::move(all).programs());
  } catch (const error& wrong) {
    throw error(wrong.code(), fmt::format("'{}': {}", fmt::join(folders, "', '"), wrong.message()), named,
                wrong.hint());
  }
}

}  // namespace kevo
