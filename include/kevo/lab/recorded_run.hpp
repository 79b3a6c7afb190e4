#pragma once
// Recorded runs as a problem of the laboratory: the programs of finished runs, what their evaluations
// returned, and which program was proposed at which parent. A search on this problem uses the recorded
// proposals and results. A candidate therefore takes microseconds, whatever time models and devices took when
// the runs were made.

#include <algorithm>
#include <cstddef>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kevo/error.hpp>
#include <kevo/evaluate.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>
#include <kevo/random.hpp>
#include <kevo/vary.hpp>

namespace kevo {

/// A program of the recorded runs.
struct recorded_program {
  std::shared_ptr<const program> source;     ///< never null
  std::shared_ptr<const evaluation> result;  ///< last evaluation that is not a confirmation; may be null
  /// The pooled result of its confirmations; null if there was none.
  std::shared_ptr<const evaluation> confirmed;
  std::vector<std::size_t> children = {};  ///< indices of the programs that were proposed for this parent

  /// The evaluation by which the program is judged: the confirmation if there is one; null if it was never
  /// evaluated.
  const evaluation* judged() const { return confirmed ? confirmed.get() : result.get(); }
};

/// The programs of recorded runs and the proposals between them. Immutable: any number of threads may read
/// it.
class recorded_run_graph {
 public:
  /// `programs[0]` is the root, from which searches start.
  /// @throws kevo::error (input) if there is no program, if a program occurs twice, if a child does not
  /// exist, if the root is not valid or has no positive speedup or score, or if no valid program is better
  /// than the root
  explicit recorded_run_graph(std::vector<recorded_program> programs) : programs_(std::move(programs)) {
    for (std::size_t i = 0; i < programs_.size(); ++i) {
      ids_.push_back(id_of(*programs_[i].source));
      if (!index_.emplace(ids_.back(), i).second)
        throw error(error_code::input,
                    "the program " + to_string(ids_.back()) + " is recorded more than once");
      for (const std::size_t child : programs_[i].children) {
        if (child >= programs_.size())
          throw error(error_code::input, "a proposal leads to a program that does not exist");
      }
    }
    const evaluation* root = programs_.empty() ? nullptr : programs_.front().judged();
    if (root == nullptr || !root->valid())
      throw error(error_code::input, "the seed is not valid, so that no speedup over it is known", {},
                  "name a run whose first seed is valid");
    by_speedup_ = root->speedup > 0;
    if (!(measured(0) > 0))
      throw error(error_code::input, "the seed has neither a speedup nor a positive score", {},
                  "name a run whose scores are positive");
    for (std::size_t i = 0; i < programs_.size(); ++i) best_ = std::max(best_, value(i));
    if (!(best_ > 1))
      throw error(error_code::input,
                  "no recorded program is better than the seed, so that there is nothing to find", {},
                  "name a run that found something better than its seed");
  }

  /// The number of programs.
  std::size_t size() const { return programs_.size(); }
  /// The program with index i, which must be less than size().
  const recorded_program& at(std::size_t i) const { return programs_[i]; }
  /// The content id of the program with index i.
  const content_id& id(std::size_t i) const { return ids_[i]; }
  /// The index of a program; nothing if it was not recorded.
  std::optional<std::size_t> find(const content_id& id) const {
    const auto found = index_.find(id);
    return found == index_.end() ? std::nullopt : std::optional(found->second);
  }
  /// The recorded speedup of a program over the root; the ratio of scores if the root has no speedup. 0
  /// unless valid.
  double value(std::size_t i) const { return measured(i) / measured(0); }
  /// The largest value of all programs; more than 1.
  double best() const { return best_; }

 private:
  double measured(std::size_t i) const {
    const evaluation* e = programs_[i].judged();
    if (e == nullptr || !e->valid()) return 0;
    return std::max(0.0, by_speedup_ ? e->speedup : e->score);
  }

  std::vector<recorded_program> programs_;
  std::vector<content_id> ids_;
  std::map<content_id, std::size_t> index_;
  bool by_speedup_ = true;
  double best_ = 0;
};

/// A fitness function that returns the recorded evaluation of a program. A confirmation returns the recorded
/// confirmation, or the recorded evaluation if there was none. Speedups are taken as exact: the interval is
/// the speedup itself. The cost is the recorded one without the time for which the evaluation waited for
/// other processes. A program that was not evaluated in the runs has the outcome `build_failed`, at no cost.
/// Thread-safe.
class recorded_run_fitness {
 public:
  explicit recorded_run_fitness(std::shared_ptr<const recorded_run_graph> graph) : graph_(std::move(graph)) {}

  evaluation evaluate(const evaluation_request& request) const {
    const auto found = graph_->find(id_of(*request.program));
    const bool confirms = request.wanted == evaluation_stage::confirmed;
    const recorded_program* known = found ? &graph_->at(*found) : nullptr;
    const evaluation* recorded = known == nullptr ? nullptr
                                 : confirms       ? known->judged()
                                                  : known->result.get();
    if (recorded == nullptr) {
      evaluation e;
      e.backend = "recorded_run";
      e.feedback = found ? "this program was proposed in the recorded runs, but not evaluated"
                         : "this program is not in the recorded runs";
      return e;
    }
    evaluation e = *recorded;
    if (confirms && e.valid()) e.stage = evaluation_stage::confirmed;
    // The recorded value is the true one here. With recorded intervals, which overlap, the first of several
    // good programs would stay champion, and a search that finds the best one would not be told.
    e.speedup_interval = {e.speedup, e.speedup};
    e.cached = false;  // in this search it is the first evaluation
    e.cost.wall_s = std::max(0.0, e.cost.wall_s - e.cost.waited_s);
    e.cost.waited_s = 0;
    e.cost.parts_s.erase("waiting");
    return e;
  }
  std::string describe() const { return "recorded runs of " + std::to_string(graph_->size()) + " programs"; }

 private:
  std::shared_ptr<const recorded_run_graph> graph_;
};

/// A variation operator that proposes a program which the recorded runs proposed at the same parent, drawn
/// uniformly from those that this search does not have yet. Proposals that were not evaluated in the runs are
/// left out. O(children of the parent); O(programs) if there is none left.
struct recorded_proposal {
  std::shared_ptr<const recorded_run_graph> graph;

  std::string name() const { return "recorded_proposal"; }
  variation_result vary(const variation_request& request, rng& random) const {
    const auto parent = graph->find(id_of(*request.parents.front()->program));
    if (!parent) return no_proposal{"the parent is not in the recorded runs"};
    std::vector<std::size_t> left;
    for (const std::size_t child : graph->at(*parent).children) {
      if (unseen(child, request)) left.push_back(child);
    }
    if (!left.empty())
      return proposal{*graph->at(left[random.below(left.size())]).source, "recorded proposal"};
    for (std::size_t i = 0; i < graph->size(); ++i) {
      if (unseen(i, request)) return no_proposal{"no recorded proposal of this parent is left"};
    }
    return no_proposal{"all recorded programs are known", true};
  }

 private:
  bool unseen(std::size_t i, const variation_request& request) const {
    return graph->at(i).result != nullptr && !request.seen(graph->id(i));
  }
};

}  // namespace kevo
