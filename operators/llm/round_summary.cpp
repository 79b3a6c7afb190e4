// POLCA's summarizer: once a round, notes from candidates that no summary was shown before.

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <kevo/operators/llm.hpp>

#include "operators/llm/conversation.hpp"
#include "operators/llm/directed.hpp"
#include "operators/llm/operators.hpp"
#include "operators/llm/sections.hpp"
#include "src/base/text/useful_line.hpp"

namespace kevo {

/// A candidate with the best and the worst of its results.
struct tried_candidate {
  candidate_id id = no_candidate;
  proposal made;
  std::optional<evaluation> success;  ///< valid, with the best score
  std::optional<evaluation> failure;  ///< not valid, or valid with a lower score than `success`

  void add(const evaluation& e) {
    const bool worse = success && e.valid() && e.score < success->score &&
                       (!failure || (failure->valid() && e.score < failure->score));
    if (!e.valid() || worse) {
      failure = e;
    } else if (!success) {
      success = e;
    } else if (e.score > success->score) {
      auto before = std::exchange(success, e);
      if (!failure) failure = std::move(before);
    }
  }
};

namespace {

constexpr const char* summary_call = "summarize_round";
constexpr std::size_t source_bytes = 12000;
constexpr std::size_t reason_bytes = 300;
constexpr std::size_t remembered = 1024;  // attempts, and candidates that wait for a summary

/// How a prompt names a candidate, so that a repeated turn finds those that it showed.
std::string heading(const tried_candidate& one) {
  return fmt::format("### Candidate #{}, whose", one.id);
}

std::string result_line(const char* what, const std::optional<evaluation>& e) {
  if (!e) return {};
  std::string line = fmt::format("{}: {}", what, score_text(*e));
  if (!e->valid() && !e->feedback.empty()) line += ". " + shortened(useful_line(e->feedback), reason_bytes);
  return line + "\n";
}

std::string described(const tried_candidate& one) {
  const program& source = one.made.program;
  return fmt::format("{} author says: {}\n\n{}\n{}", heading(one), one.made.summary,
                     fenced(shortened(source.text(), source_bytes), source.language),
                     fenced(result_line("Best result", one.success) +
                            result_line(one.success ? "Worst result" : "Failure", one.failure)));
}

/// Asks for notes on the candidates `shown`, and sets them. Answers whether the reply held any.
bool write_notes(const llm_settings& with, const variation_request& request, const rng& random,
                 const std::vector<tried_candidate>& shown, std::size_t notes_bytes) {
  std::string text;
  for (const auto& one : shown) text += described(one);
  const std::string notes = with.models->notes();
  rng own = random.split(summary_call);
  conversation talk(with, summary_call, request, own);
  const candidate_snapshot& parent = *request.parents.front();
  talk.begin(summary_call,
             {{"task", task_section(*request.task, parent.program->language, place_of(parent)), 90},
              {"notes", notes.empty() ? "" : "## The notes so far\n\n" + fenced(notes), 70},
              {"memory", "## Candidates since the last summary\n\n" + text, 100, true}});
  const chat_reply reply = talk.ask();
  const std::string summary = reply.ok() ? text_between(reply.content, "<summary>", "</summary>") : "";
  if (!summary.empty()) with.models->set_notes(shortened(summary, notes_bytes));
  request.note(summary.empty() ? "[notes] no summary: they stay as they are\n" : "[notes] rewritten\n");
  return !summary.empty();
}

}  // namespace

struct summarize_rounds::state {
  std::mutex guard;
  std::condition_variable_any written;
  std::map<std::uint64_t, proposal> attempts;  ///< by job, until their candidates are evaluated
  std::deque<tried_candidate> unused;          ///< oldest first
  std::size_t turns = 0;                       ///< of this round, that have begun
  bool asking = false;                         ///< a call for notes is out

  /// Takes the candidates of the next summary: the oldest ones, or those that recorded messages show.
  std::vector<tried_candidate> take(std::size_t most, const std::optional<std::string>& messages) {
    std::vector<tried_candidate> taken;
    for (auto one = unused.begin(); one != unused.end() && taken.size() < most;) {
      if (messages && messages->find(heading(*one)) == std::string::npos) {
        ++one;
        continue;
      }
      taken.push_back(std::move(*one));
      one = unused.erase(one);
    }
    return taken;
  }
  /// Ends a call for notes, however it ended.
  /// @param back candidates that wait for the next summary again
  void end_call(std::vector<tried_candidate> back) {
    {
      const std::scoped_lock lock(guard);
      unused.insert(unused.begin(), std::make_move_iterator(back.begin()),
                    std::make_move_iterator(back.end()));
      asking = false;
    }
    written.notify_all();
  }
};

summarize_rounds::summarize_rounds(llm_settings with, round_summary_settings how)
    : with_(std::move(with)), how_(how), state_(std::make_shared<state>()) {}

// Begins a round with a summary if one is due, or waits for the summary of another turn.
void summarize_rounds::summarize(const variation_request& request, const rng& random) const {
  const bool repeats = with_.models->repeats(request.job);
  const auto before = with_.models->recalled_messages(request.job, summary_call);
  std::vector<tried_candidate> shown;
  {
    std::unique_lock lock(state_->guard);
    // A repeated turn asks if it asked then: results come at other moments now.
    const bool due = repeats ? before.has_value()
                             : !state_->asking && state_->turns >= how_.every && !state_->unused.empty() &&
                                   !request.ending.stop_requested();
    if (!due) {
      ++state_->turns;
      if (!repeats) state_->written.wait(lock, request.stop, [this] { return !state_->asking; });
      return;
    }
    state_->turns = 1;
    state_->asking = true;
    shown = state_->take(how_.candidates, before);
  }
  try {
    if (write_notes(with_, request, random, shown, how_.notes_bytes)) shown.clear();
  } catch (...) {
    state_->end_call(std::move(shown));
    throw;
  }
  state_->end_call(std::move(shown));
}

variation_result summarize_rounds::vary(const variation_request& asked, rng& random) const {
  const variation_request request = with_scope(with_, asked, random);
  summarize(request, random);
  conversation talk(with_, name(), request, random);
  auto sections = sections_of(request);
  add_memory(sections, with_, request, random);
  talk.begin("llm_rewrite", std::move(sections));
  variation_result result = propose(talk, whole_file(*request.parents.front()->program));
  if (const auto* made = std::get_if<proposal>(&result)) {
    const std::scoped_lock lock(state_->guard);
    state_->attempts.insert_or_assign(request.job, *made);
    while (state_->attempts.size() > remembered) state_->attempts.erase(state_->attempts.begin());
  }
  return result;
}

void summarize_rounds::observe(const observation& seen) const {
  kevo::observe(*with_.models, seen);
  if (!seen.result) return;
  const std::scoped_lock lock(state_->guard);
  auto& unused = state_->unused;
  if (const auto made = state_->attempts.find(seen.job); seen.job != 0 && made != state_->attempts.end()) {
    unused.push_back({.id = seen.candidate, .made = std::move(made->second)});
    state_->attempts.erase(made);
    if (unused.size() > remembered) unused.pop_front();
  }
  const auto one = std::find_if(unused.rbegin(), unused.rend(),
                                [&](const tried_candidate& each) { return each.id == seen.candidate; });
  if (one != unused.rend()) one->add(*seen.result);
}

}  // namespace kevo
