#pragma once
// A simulated language model for landscapes. Its quality is given by probabilities. What it can do depends on
// what its prompt would contain: an error message helps to repair a program, failures of relatives are not
// repeated, and better programs and notes show which edits help. The rules are in docs/system_comparison.md.

#include <algorithm>
#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kevo/lab/landscape_moves.hpp>

namespace kevo {

/// One change of a program of a landscape: a step that is added or removed, or a new level of a tunable.
struct landscape_edit {
  bool of_step = false;     ///< whether it changes a step and not a tunable
  std::uint32_t index = 0;  ///< index of the step or of the tunable
  std::uint32_t value = 0;  ///< of a step: 1 if it is added, 0 if it is removed; of a tunable: its level
  // clang-tidy 14 takes the comparison with 0 that is generated here for one with a null pointer.
  friend auto operator<=>(const landscape_edit&,
                          const landscape_edit&) = default;  // NOLINT(modernize-use-nullptr)
};

/// The edits that lead from one program to another. The order of steps is not compared.
inline std::vector<landscape_edit> edits_between(const landscape_program& from, const landscape_program& to) {
  std::vector<landscape_edit> edits;
  const auto has = [](const landscape_program& p, std::uint32_t step) {
    return std::find(p.order.begin(), p.order.end(), step) != p.order.end();
  };
  for (const auto step : to.order) {
    if (!has(from, step)) edits.push_back({true, step, 1});
  }
  for (const auto step : from.order) {
    if (!has(to, step)) edits.push_back({true, step, 0});
  }
  for (std::uint32_t i = 0; i < from.tuning.size() && i < to.tuning.size(); ++i) {
    if (from.tuning[i] != to.tuning[i]) edits.push_back({false, i, to.tuning[i]});
  }
  return edits;
}

/// The state of the simulated model of one search: the landscape, from which it computes the outcomes that
/// its probabilities require, and the notes that all its operators share. Not thread-safe.
struct simulated_model_state {
  std::shared_ptr<const landscape> world;  ///< never null
  std::map<landscape_edit, bool> notes;    ///< whether the edit made a program better
};

/// Finds the state of the simulated model of a search by the task of its requests. Thread-safe. A state lives
/// as long as its task.
class simulated_model_states {
 public:
  /// Adds the state of a search with an empty list of notes. States whose task no longer exists are removed.
  void add(const std::shared_ptr<const task>& search, std::shared_ptr<const landscape> world) {
    const std::scoped_lock lock(guard_);
    std::erase_if(states_, [](const auto& entry) { return entry.first.expired(); });
    states_[search] = std::make_shared<simulated_model_state>(simulated_model_state{std::move(world), {}});
  }
  /// The state of a search; null if it was not added.
  std::shared_ptr<simulated_model_state> of(const std::shared_ptr<const task>& search) const {
    const std::scoped_lock lock(guard_);
    const auto found = states_.find(search);
    return found == states_.end() ? nullptr : found->second;
  }

 private:
  mutable std::mutex guard_;
  std::map<std::weak_ptr<const task>, std::shared_ptr<simulated_model_state>, std::owner_less<>> states_;
};

/// The model operator that is simulated.
enum class simulated_call : std::uint8_t {
  draft,
  rewrite,
  diff,
  universal,
  macro_micro,
  summarize,
  summarize_rounds
};
/// The names of the operators, in the order of `simulated_call`.
inline constexpr std::array<std::string_view, 7> simulated_call_names = {
    "draft", "rewrite", "diff", "universal", "macro_micro", "summarize", "summarize_rounds"};

/// The quality and the token counts of the simulated model. docs/system_comparison.md gives the reason for
/// each default.
struct simulated_quality {
  double correct = 0.8;  ///< probability that one edit leaves the program valid
  /// Probability that a reply is better than its parent because of the model's own knowledge.
  double improving = 0.1;
  double duplicate = 0.1;        ///< probability that a reply changes only names
  double repair = 0.6;           ///< probability of repairing a parent whose error message is shown
  double blind_repair = 0.2;     ///< the same without the error message
  double follow = 0.7;           ///< probability that a reply uses what its prompt shows
  bool feedback = true;          ///< whether the prompt holds the error message of the parent
  double task_tokens = 1500;     ///< [tokens] size of the task and the instructions in each prompt
  double program_tokens = 1500;  ///< [tokens] size of each program that is shown or written
  /// [tokens] Size of the line for a relative, with its plan and outcome, or for a note.
  double line_tokens = 100;
};

/// Weights with which the memory scope of a turn is drawn. If all are 0, the scope of the selection is used.
struct simulated_memory {
  double parent_trajectory = 0, siblings = 0, both = 0, clean_slate = 0;
};

/// Simulates one operator that asks a language model.
class simulated_model {
 public:
  simulated_model(std::shared_ptr<const simulated_model_states> states, simulated_call kind,
                  simulated_quality quality = {}, simulated_memory memory = {})
      : states_(std::move(states)), kind_(kind), quality_(quality), memory_(memory) {}

  std::string name() const {
    return "simulated_" + std::string(simulated_call_names[static_cast<std::size_t>(kind_)]);
  }

  variation_result vary(const variation_request& request, rng& random) {
    const auto parent = detail::landscape_parent(request);
    const auto state = states_->of(request.task);
    if (!parent || !state) return detail::not_a_landscape();
    if (kind_ == simulated_call::summarize) summarize(request, *state);
    if (kind_ == simulated_call::summarize_rounds) begin_round(request, *state);
    const knowledge known = read_prompt(request, *parent, *state, random);
    book(request, known);
    const landscape_program made = reply(*parent, known, *state->world, random);
    if (kind_ == simulated_call::summarize_rounds) attempts_[request.job] = edits_between(*parent, made);
    return proposal{to_source(made), name()};
  }
  /// Stores the edits of a result for the summary of a round.
  void observe(const observation& seen) {
    const auto made = attempts_.find(seen.job);
    if (seen.job == 0 || made == attempts_.end()) return;
    const double before = seen.parent_score.value_or(0);
    const double now = seen.ranked() ? seen.score : 0;
    if (now != before) unused_.push_back({std::move(made->second), now > before});
    attempts_.erase(made);
  }

 private:
  /// The content of a prompt that the model can use.
  struct knowledge {
    std::vector<landscape_edit> improving;  ///< edits that led to better programs, and edits from the notes
    std::set<landscape_edit> harmful;       ///< edits that failed or made a relative slower
    std::size_t programs = 0, lines = 0;    ///< numbers of those that are shown in addition to the task
  };

  static double score_of(const candidate_snapshot& one) {
    return one.evaluation && one.evaluation->valid() ? one.evaluation->score : 0;
  }

  memory_scope draw_scope(const variation_request& request, rng& random) const {
    const double sum = memory_.parent_trajectory + memory_.siblings + memory_.both + memory_.clean_slate;
    if (!(sum > 0) || request.scope == memory_scope::clean_slate) return request.scope;
    double left = random.uniform() * sum;
    if ((left -= memory_.parent_trajectory) < 0) return memory_scope::parent_trajectory;
    if ((left -= memory_.siblings) < 0) return memory_scope::siblings;
    if ((left -= memory_.both) < 0) return memory_scope::both;
    return memory_scope::clean_slate;
  }

  /// Calls `tell(edit, paid)` for each edit between two candidates with different scores.
  template <class Tell>
  static void compare(const candidate_snapshot& before, const candidate_snapshot& after, Tell tell) {
    const auto from = landscape_program_in(before.program->text());
    const auto to = landscape_program_in(after.program->text());
    if (!from || !to || !before.evaluation || !after.evaluation) return;
    if (score_of(before) == score_of(after)) return;
    for (const auto& edit : edits_between(*from, *to)) tell(edit, score_of(after) > score_of(before));
  }

  /// The notes hold at most `most_notes` edits.
  static void note(simulated_model_state& state, const landscape_edit& edit, bool paid) {
    if (state.notes.size() < most_notes || state.notes.contains(edit)) state.notes[edit] = paid;
  }

  /// Begins a round of `round` turns with another call, which notes what up to `round` results show that were
  /// not noted before.
  void begin_round(const variation_request& request, simulated_model_state& state) {
    if (turns_++ < round || unused_.empty()) return;
    turns_ = 1;
    if (state.notes.size() >= most_notes) state.notes.clear();  // written anew from the latest results
    const std::size_t shown = std::min(unused_.size(), round);
    for (std::size_t i = 0; i < shown; ++i) {
      for (const auto& edit : unused_[i].edits) note(state, edit, unused_[i].paid);
    }
    unused_.erase(unused_.begin(), unused_.begin() + static_cast<std::ptrdiff_t>(shown));
    book_call(request,
              quality_.task_tokens + quality_.program_tokens * static_cast<double>(shown) +
                  quality_.line_tokens * static_cast<double>(state.notes.size()),
              5 * quality_.line_tokens);
  }

  /// Notes what up to five children and five ancestors show.
  static void summarize(const variation_request& request, simulated_model_state& state) {
    const auto tell = [&state](const landscape_edit& edit, bool paid) { note(state, edit, paid); };
    if (state.notes.size() >= most_notes) state.notes.clear();  // written anew from the latest results
    for (const auto& child : request.children(5)) compare(*request.parents.front(), child, tell);
    const auto line = request.lineage(5);
    for (std::size_t i = 1; i < line.size(); ++i) compare(line[i], line[i - 1], tell);
  }

  knowledge read_prompt(const variation_request& request, const landscape_program& parent,
                        const simulated_model_state& state, rng& random) const {
    knowledge known{.programs = 1};
    if (kind_ == simulated_call::draft) return knowledge{};
    const auto learn = [&known](const landscape_edit& edit, bool paid) {
      if (!paid) known.harmful.insert(edit);
    };
    const memory_scope scope = draw_scope(request, random);
    if (scope == memory_scope::siblings || scope == memory_scope::both) {
      for (const auto& child : request.children(8)) {
        compare(*request.parents.front(), child, learn);
        ++known.lines;
      }
    }
    if (scope == memory_scope::parent_trajectory || scope == memory_scope::both) {
      const auto line = request.lineage(5);
      known.lines += line.size();
      // Undoing an edit that made a program better would make it worse again.
      for (std::size_t i = 1; i < line.size(); ++i) compare(line[i - 1], line[i], learn);
    }
    std::vector<std::shared_ptr<const candidate_snapshot>> shown(request.parents.begin() + 1,
                                                                 request.parents.end());
    shown.insert(shown.end(), request.inspirations.begin(), request.inspirations.end());
    known.programs += shown.size();
    for (const auto& other : shown) {
      compare(*request.parents.front(), *other, [&](const landscape_edit& edit, bool paid) {
        if (paid) known.improving.push_back(edit);
        learn(edit, paid);
      });
    }
    if (scope != memory_scope::clean_slate) {
      known.lines += state.notes.size();
      for (const auto& [edit, paid] : state.notes) {
        landscape_program tried = parent;
        apply(tried, edit, random);
        if (paid && !(tried == parent)) known.improving.push_back(edit);
        learn(edit, paid);
      }
    }
    return known;
  }

  void book(const variation_request& request, const knowledge& known) const {
    const bool two_calls = kind_ == simulated_call::universal || kind_ == simulated_call::macro_micro ||
                           kind_ == simulated_call::summarize;
    const double prompt = quality_.task_tokens +
                          quality_.program_tokens * static_cast<double>(known.programs) +
                          quality_.line_tokens * static_cast<double>(known.lines);
    const bool short_reply = kind_ == simulated_call::diff || kind_ == simulated_call::macro_micro;
    const double written = quality_.program_tokens / (short_reply ? 3 : 1);
    const double thought = 5 * quality_.line_tokens;  // a diagnosis, an action or notes
    book_call(request, prompt * (two_calls ? 2 : 1), written + (two_calls ? thought : 0));
  }

  static void book_call(const variation_request& request, double tokens_in, double tokens_out) {
    spending cost;
    cost.tokens_in = static_cast<std::int64_t>(tokens_in);
    cost.tokens_out = static_cast<std::int64_t>(tokens_out);
    // A server that reads 2000 and writes 50 tokens a second.
    cost.wall_s = static_cast<double>(cost.tokens_in) / 2000 + static_cast<double>(cost.tokens_out) / 50;
    request.book(cost);
  }

  static void apply(landscape_program& p, const landscape_edit& edit, rng& random) {
    if (!edit.of_step) {
      p.tuning[edit.index] = edit.value;
      return;
    }
    const auto at = std::find(p.order.begin(), p.order.end(), edit.index);
    if (edit.value == 0) {
      if (at != p.order.end()) p.order.erase(at);
    } else if (at == p.order.end()) {
      const auto place = random.chance(0.5) ? p.order.size() : random.below(p.order.size() + 1);
      p.order.insert(p.order.begin() + static_cast<std::ptrdiff_t>(place), edit.index);
    }
  }

  static landscape_edit any_edit(const landscape_program& p, rng& random) {
    if (!p.tuning.empty() && (p.steps == 0 || random.chance(0.5))) {
      return {false, static_cast<std::uint32_t>(random.below(p.tuning.size())),
              static_cast<std::uint32_t>(random.below(p.levels))};
    }
    const auto step = static_cast<std::uint32_t>(random.below(std::max<std::size_t>(p.steps, 1)));
    const bool there = std::find(p.order.begin(), p.order.end(), step) != p.order.end();
    return {true, step, there ? 0U : 1U};
  }

  /// `edits` random edits, of which those that are known to have failed are mostly avoided.
  landscape_program edited(landscape_program p, std::size_t edits, const knowledge& known,
                           rng& random) const {
    for (std::size_t i = 0; i < edits; ++i) {
      landscape_edit edit = any_edit(p, random);
      for (int tries = 0; tries < 8 && known.harmful.contains(edit) && random.chance(quality_.follow);
           ++tries)
        edit = any_edit(p, random);
      apply(p, edit, random);
    }
    return p;
  }

  landscape_program reply(const landscape_program& parent, const knowledge& known, const landscape& world,
                          rng& random) const {
    constexpr int tries = 32;  // a landscape need not have a neighbour of the wanted kind
    const landscape_verdict before = world.judge(parent);
    landscape_program p = parent;
    if (kind_ != simulated_call::draft && random.chance(quality_.duplicate)) {
      p.name = 1 + random.below(1'000'000'000);
      return p;
    }
    if (kind_ == simulated_call::draft) {
      const bool correct = random.chance(quality_.correct);
      for (int i = 0; i < tries; ++i) {
        p = draft(parent, random);
        if ((world.judge(p).outcome == outcome::valid) == correct) break;
      }
      return p;
    }
    const bool one = kind_ == simulated_call::diff || kind_ == simulated_call::macro_micro;
    const std::size_t edits = one ? 1 : 1 + random.below(3);
    if (before.outcome != outcome::valid) {
      const bool mends = random.chance(quality_.feedback ? quality_.repair : quality_.blind_repair);
      for (int i = 0; i < 4 * tries; ++i) {
        p = edited(parent, 1 + random.below(3), known, random);
        if ((world.judge(p).outcome == outcome::valid) == mends) break;
      }
      return p;
    }
    if (random.chance(quality_.improving)) {
      for (int i = 0; i < tries; ++i) {
        p = edited(parent, edits, known, random);
        if (world.judge(p).value > before.value) return p;
      }
    }
    if (!known.improving.empty() && random.chance(quality_.follow)) {
      p = parent;
      for (std::size_t i = 0; i < edits; ++i)
        apply(p, known.improving[random.below(known.improving.size())], random);
      return p;
    }
    bool correct = true;
    for (std::size_t i = 0; i < edits; ++i) correct = random.chance(quality_.correct) && correct;
    for (int i = 0; i < tries; ++i) {
      p = edited(parent, edits, known, random);
      if ((world.judge(p).outcome == outcome::valid) == correct) break;
    }
    return p;
  }

  /// Up to four steps in any order and any levels, independent of the parent.
  static landscape_program draft(const landscape_program& like, rng& random) {
    landscape_program p{like.steps, like.levels, {}, like.tuning, 0};
    for (auto& level : p.tuning) level = static_cast<std::uint32_t>(random.below(p.levels));
    const std::size_t edits = p.steps == 0 ? 0 : random.below(5);
    for (std::size_t i = 0; i < edits; ++i)
      apply(p, {true, static_cast<std::uint32_t>(random.below(p.steps)), 1}, random);
    return p;
  }

  std::shared_ptr<const simulated_model_states> states_;
  simulated_call kind_;
  simulated_quality quality_;
  simulated_memory memory_;
  static constexpr std::size_t most_notes = 20;
  static constexpr std::size_t round = 5;
  /// The effect of a change on its parent.
  struct noted_result {
    std::vector<landscape_edit> edits;
    bool paid = false;
  };
  std::map<std::uint64_t, std::vector<landscape_edit>> attempts_;  ///< by job, until the result is known
  std::deque<noted_result> unused_;                                ///< oldest first
  std::size_t turns_ = 0;  ///< number of turns of this round that have begun
};

}  // namespace kevo
