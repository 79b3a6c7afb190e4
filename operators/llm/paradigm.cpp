// AdaEvolve's meta-guidance: new strategies for a run that stalls.

#include <algorithm>
#include <deque>
#include <mutex>
#include <optional>

#include <fmt/format.h>

#include <kevo/operators/llm.hpp>

#include "operators/llm/conversation.hpp"
#include "operators/llm/operators.hpp"
#include "operators/llm/prompt.hpp"
#include "operators/llm/sections.hpp"
#include "src/llm/recorded_reply.hpp"

namespace kevo {
namespace {

constexpr std::size_t told_bytes = 200;
constexpr const char* ideas_call = "paradigm_shift_ideas";

/// The texts between `<idea>` and `</idea>`, at most `most`, each at most `bytes` long.
std::vector<std::string> ideas_in(const std::string& reply, std::size_t most, std::size_t bytes) {
  std::vector<std::string> all;
  for (std::size_t at = 0; all.size() < most;) {
    const auto begin = reply.find("<idea>", at);
    const auto end = begin == std::string::npos ? begin : reply.find("</idea>", begin);
    if (end == std::string::npos) break;
    std::string text = shortened(reply.substr(begin + 6, end - begin - 6), bytes);
    if (text.find_first_not_of(" \t\r\n") != std::string::npos) all.push_back(std::move(text));
    at = end + 7;
  }
  return all;
}

std::string strategy_notes(const std::string& idea) {
  return "The run has stalled. Follow this new strategy, even if it changes much of the program:\n" + idea;
}

/// Whether recorded messages hold a text.
bool was_sent(const std::string& messages, const std::string& text) {
  const std::string json = messages_json({{"user", text}});
  const auto begin = json.find(":\"", json.find("\"content\"")) + 2;
  return messages.find(json.substr(begin, json.rfind("\"}") - begin)) != std::string::npos;
}

}  // namespace

struct paradigm_shift::state {
  struct strategy {
    std::string text;
    std::size_t uses = 0;
  };

  std::mutex guard;
  std::deque<bool> improved;  ///< by result, oldest first, at most the window
  std::optional<double> best;
  std::vector<strategy> active;
  std::size_t current = 0;
  double best_at_start = 0;       ///< of the active strategies
  std::deque<std::string> tried;  ///< one line each, oldest first
  bool asking = false;            ///< a call for strategies is out

  std::optional<std::size_t> next_unused(const paradigm_settings& how) const {
    for (std::size_t i = 0; i < active.size(); ++i) {
      const std::size_t at = (current + i) % active.size();
      if (active[at].uses < how.uses) return at;
    }
    return std::nullopt;
  }
  /// The strategy of a proposal: the next one, or that of the recorded prompt of a repeated turn.
  std::optional<std::size_t> next_for(const paradigm_settings& how,
                                      const std::optional<std::string>& messages) const {
    if (!messages) return next_unused(how);
    for (std::size_t i = 0; i < active.size(); ++i) {
      if (was_sent(*messages, strategy_notes(active[i].text))) return i;
    }
    return std::nullopt;
  }
  bool stalls(const paradigm_settings& how) const {
    if (improved.size() < how.window) return false;
    const auto gains = static_cast<double>(std::count(improved.begin(), improved.end(), true));
    return gains / static_cast<double>(improved.size()) < how.below;
  }
  /// The active strategies become tried ones.
  void retire(const paradigm_settings& how) {
    const bool rose = best.value_or(0) > best_at_start;
    for (const strategy& one : active) {
      if (one.uses == 0) continue;
      tried.push_back(
          fmt::format("- {}: {}", rose ? "the best score rose" : "no gain", shortened(one.text, told_bytes)));
      if (tried.size() > how.remembered) tried.pop_front();
    }
    active.clear();
    current = 0;
  }
};

paradigm_shift::paradigm_shift(llm_settings with, paradigm_settings how)
    : with_(std::move(with)), how_(how), state_(std::make_shared<state>()) {}

variation_result paradigm_shift::vary(const variation_request& asked, rng& random) const {
  const variation_request request = with_scope(with_, asked, random);
  auto sections = sections_of(request);
  bool ask = false;
  std::string tried;
  {
    const std::scoped_lock lock(state_->guard);
    if (!state_->active.empty() && !state_->next_unused(how_)) {
      state_->retire(how_);
      with_.models->set_notes({});
    }
    // A repeated turn asks if it asked then: results come at other moments now.
    const bool due = with_.models->repeats(request.job)
                         ? with_.models->recalled_messages(request.job, ideas_call).has_value()
                         : state_->active.empty() && !state_->asking && state_->stalls(how_);
    if (due) {
      state_->asking = ask = true;
      for (const std::string& one : state_->tried) tried += one + "\n";
    }
  }
  if (ask) {
    auto meta = sections;
    set_section(meta, "action", fmt::format("Name {} strategies.", how_.ideas));
    set_section(meta, "memory", tried.empty() ? "" : "## Strategies that were tried\n\n" + fenced(tried));
    rng own = random.split(ideas_call);
    conversation talk(with_, ideas_call, request, own);
    talk.begin(ideas_call, std::move(meta));
    const chat_reply reply = talk.ask();
    auto found =
        reply.ok() ? ideas_in(reply.content, how_.ideas, how_.notes_bytes) : std::vector<std::string>();
    request.note(fmt::format("[strategies] {}\n", found.size()));
    const std::scoped_lock lock(state_->guard);
    state_->asking = false;
    state_->retire(how_);
    for (std::string& text : found) state_->active.push_back({std::move(text), 0});
    state_->best_at_start = state_->best.value_or(0);
    if (state_->active.empty()) state_->improved.clear();
    if (!reply.ok()) return failure_of(reply);
  }
  std::string shown;
  {
    const std::scoped_lock lock(state_->guard);
    if (const auto at = state_->next_for(how_, with_.models->recalled_messages(request.job, name()))) {
      ++state_->active[*at].uses;
      state_->current = (*at + 1) % state_->active.size();
      shown = strategy_notes(state_->active[*at].text);
      with_.models->set_notes(shown);
      request.note(fmt::format("[strategy] {}\n", state_->active[*at].text));
    }
  }
  conversation talk(with_, name(), request, random);
  add_memory(sections, with_, request, random);
  // A turn at the same time may have set other notes since.
  if (!shown.empty()) set_section(sections, "notes", "## Notes of this run\n\n" + fenced(shown));
  talk.begin(name(), std::move(sections));
  return propose(talk, edits_of(*request.parents.front()->program));
}

// The first score of the run is an improvement, as in the source. What is measured again is no new result.
void paradigm_shift::observe(const observation& seen) const {
  kevo::observe(*with_.models, seen);
  if (seen.job == 0) return;
  const std::scoped_lock lock(state_->guard);
  state& now = *state_;
  if (seen.parent_score) now.best = std::max(now.best.value_or(*seen.parent_score), *seen.parent_score);
  const bool better = seen.ranked() && (!now.best || seen.score > *now.best);
  if (better) now.best = seen.score;
  now.improved.push_back(better);
  if (now.improved.size() > how_.window) now.improved.pop_front();
}

}  // namespace kevo
