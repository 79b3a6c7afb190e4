#include "operators/agent/agent.hpp"

#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "operators/agent/agent_folder.hpp"
#include "operators/agent/drafts.hpp"
#include "operators/agent/long_conversation.hpp"
#include "operators/agent/tools.hpp"
#include "operators/llm/blocks.hpp"
#include "operators/llm/difference.hpp"
#include "operators/llm/distill.hpp"
#include "operators/llm/operators.hpp"
#include "operators/llm/sections.hpp"
#include "operators/llm/server_limits.hpp"

namespace kevo {
namespace {

constexpr std::size_t answer_bytes = 12000;
/// A model whose replies are all cut gets nowhere.
constexpr int most_cut_in_a_row = 3;
constexpr const char* go_on_text =
    "No tool of it was used. Go on: think more briefly, take one step at a time, and change a large file by "
    "several calls of `edit_file`.";
constexpr const char* notes_request =
    "Your turn ends here. Write the notes that your next turn begins with: what was tried and what came of "
    "it, what "
    "the measurements say about the limits of the kernel, and what to try next. Keep what is still true of "
    "your "
    "earlier notes. Use no tool. At most {} characters, between <notes> and </notes>.";
constexpr const char* summary_request =
    "This conversation has become too long; it goes on with what you write now in place of it. Write what "
    "you "
    "need to go on: what was tried and what came of it, what the measurements say about the limits of the "
    "kernel, what your scratch folder holds, and what to do next. Keep what is still true of your earlier "
    "notes. "
    "Use no tool. At most {} characters, between <notes> and </notes>.";
/// Of a summary where no notes are kept.
constexpr std::size_t summary_bytes = 6000;
/// Refusals for length that are answered by a shorter conversation, one after the other.
constexpr int most_refusals = 3;
constexpr const char* no_such_candidate =
    "error: no ancestor, sibling, child of the parent or other selected candidate has this number";

/// The text between `<notes>` and `</notes>`, or all of a reply without them.
std::string notes_in(const std::string& reply, std::size_t most) {
  const auto begin = reply.find("<notes>");
  if (begin == std::string::npos) return shortened(reply, most);
  const auto end = reply.find("</notes>", begin);
  return shortened(reply.substr(begin + 7, end == std::string::npos ? end : end - begin - 7), most);
}

/// One turn of an agent: the conversation, its folder and drafts, and when it is enough.
class session {
 public:
  session(const agent& op, const variation_request& request, rng& random)
      : op_(op),
        request_(request),
        talk_(op.with, op.name(), request, random),
        parent_(*request.parents.front()),
        folder_(*parent_.program),
        drafts_(request, op.limits) {
    {
      const std::scoped_lock lock(op.notes->guard);
      earlier_notes_ = op.notes->text;
      fruitless_ = op.notes->fruitless;
      talk_.assume_context(op.notes->context);
    }
    auto sections = sections_of(request);
    add_memory(sections, op.with, request, random);
    add_notes(sections);
    std::string advice;
    if (op.limits.fruitless_turns > 0 && fruitless_ >= op.limits.fruitless_turns)
      advice = review(fmt::format("{} turns in a row submitted nothing", fruitless_));
    sections_ = std::move(sections);
    advice_ = std::move(advice);
    talk_.offer(agent_tools(op.tools.get()));
    begin();
  }

  variation_result run() {
    variation_result result = work();
    const bool made = std::holds_alternative<proposal>(result);
    std::string notes = request_.stop.stop_requested() ? std::string() : new_notes();
    const std::scoped_lock lock(op_.notes->guard);
    op_.notes->fruitless = made ? 0 : op_.notes->fruitless + 1;
    op_.notes->context = talk_.context_tokens();
    if (!notes.empty()) op_.notes->text = std::move(notes);
    return result;
  }

 private:
  variation_result work() {
    std::string why = "the steps are used up";
    for (std::int64_t step = 0; step < op_.limits.steps; ++step) {
      if (request_.stop.stop_requested()) return no_proposal{"cancelled"};
      if (spent_s_ > op_.limits.seconds) {
        why = "the time is used up";
        break;
      }
      if (tokens_ > op_.limits.tokens) {
        why = "the tokens are used up";
        break;
      }
      if (talk_.size_tokens() > room()) make_room();
      const chat_reply reply = talk_.ask();
      count(reply);
      if (too_long(reply) && ++refusals_ <= most_refusals) {
        make_room();
        continue;
      }
      if (cut_short(reply)) {
        request_.note(fmt::format("[agent] {}\n", reply.detail));
        if (++cut_ < most_cut_in_a_row) {
          talk_.say(cut_text(reply, talk_.reply_tokens(), go_on_text));
          continue;
        }
        why = fmt::format("{} replies in a row gave nothing, the last because {}", cut_, reply.detail);
        break;
      }
      cut_ = 0;
      if (!reply.ok()) {
        const bool ended = reply.status == reply_status::cancelled;
        if (drafts_.has_best()) return best((ended ? "" : "the model failed: ") + reply.detail);
        return failure_of(reply);
      }
      refusals_ = 0;
      if (reply.content.find_first_not_of(" \t\r\n") != std::string::npos) plan_ = summary_of(reply.content);
      if (reply.tool_calls.empty())
        talk_.say("Use a tool: `time` your draft, or `submit` it when it is done.");
      for (const auto& call : reply.tool_calls) {
        brief_.clear();
        const std::string said = answer(call);
        if (brief_.empty()) brief_ = said.substr(0, std::min(said.find('\n'), std::size_t{160}));
        briefs_.resize(talk_.messages().size());
        briefs_.push_back(brief_);
        talk_.say(chat_message{"tool", shortened(said, answer_bytes_for(reply)), {}, call.id});
      }
      if (submitted_) return *std::move(submitted_);
      if (!supervise()) {
        why = "it made no progress";
        break;
      }
    }
    return best(why);
  }

  /// Begins the conversation, with a prompt that leaves half of the room for the work.
  void begin() {
    talk_.begin("agent", sections_, room() / 2);
    if (!advice_.empty()) talk_.say(advice_);
    first_ = talk_.messages().size();
    briefs_.clear();
  }

  /// The tokens that the messages may have; the rest of the model's context is for its reply.
  std::int64_t room() const {
    const std::int64_t context = talk_.context_tokens();
    if (context == 0) return op_.limits.context;
    return std::min(op_.limits.context, context - std::min(op_.with.sampling.max_tokens, context / 4));
  }

  std::size_t answer_bytes_for(const chat_reply& reply) const {
    const auto bytes = static_cast<std::size_t>(room()) / std::max<std::size_t>(1, reply.tool_calls.size());
    return std::min(answer_bytes, std::max<std::size_t>(bytes, 200));
  }

  static bool too_long(const chat_reply& reply) {
    return reply.status == reply_status::rejected && limits_in(reply.detail).too_long;
  }

  /// The messages after the first prompt.
  agent_steps steps() {
    briefs_.resize(talk_.messages().size());
    const auto first = static_cast<std::ptrdiff_t>(first_);
    return {{talk_.messages().begin() + first, talk_.messages().end()},
            {briefs_.begin() + first, briefs_.end()}};
  }
  void put(agent_steps steps) {
    briefs_.resize(first_);
    briefs_.insert(briefs_.end(), steps.briefs.begin(), steps.briefs.end());
    talk_.replace_from(first_, std::move(steps.messages));
  }

  /// Makes the conversation shorter: first the results of tools before the last two steps, then, if it is
  /// still long, all of it, which notes of the model's replace.
  void make_room() {
    agent_steps all = steps();
    shorten_before(all, begin_of_last_steps(all, 2));
    put(std::move(all));
    request_.note(
        fmt::format("[agent] old results were shortened; about {} tokens are left\n", talk_.size_tokens()));
    if (refusals_ > 1 || 10 * talk_.size_tokens() > 7 * room()) begin_with_summary();
  }

  void begin_with_summary() {
    agent_steps all = steps();
    const std::size_t most = op_.notes_bytes > 0 ? op_.notes_bytes : summary_bytes;
    std::string notes;
    if (!all.messages.empty()) {
      shorten_before(all, begin_of_last_steps(all, 1));
      // Room for what is asked, too.
      leave_out_oldest(all, room_of_steps());
      put(all);
      talk_.say(fmt::format(summary_request, most));
      const chat_reply reply = talk_.ask();
      count(reply);
      if (reply.ok() || reply.status == reply_status::truncated) notes = notes_in(reply.content, most);
      if (op_.notes_bytes > 0 && reply.ok()) {
        const std::scoped_lock lock(op_.notes->guard);
        op_.notes->text = notes;
      }
      request_.note(
          fmt::format("[agent] the conversation begins anew with {} bytes of notes\n", notes.size()));
    }
    begin();
    if (all.messages.empty()) return;
    std::string text = "## Your work in this turn so far\n\n";
    if (!notes.empty()) text += fenced(notes);
    if (const std::string tried = drafts_.list(); !tried.empty())
      text += "\nAll drafts of this turn:\n\n" + fenced(shortened(tried, 4000));
    talk_.say(text + "\nYour scratch folder is as you left it; `read_file` shows it. Go on.");
    first_ = talk_.messages().size();
  }

  /// The estimated tokens that the steps may have, so that the conversation leaves some room.
  std::int64_t room_of_steps() {
    const agent_steps all = steps();
    const auto others =
        static_cast<double>(talk_.size_tokens()) / talk_.density() -
        static_cast<double>(estimated_tokens({.messages = all.messages, .tools = {}, .sampling = {}}));
    return static_cast<std::int64_t>(0.9 * static_cast<double>(room()) / talk_.density() - others);
  }

  void add_notes(std::vector<prompt_section>& sections) const {
    if (earlier_notes_.empty()) return;
    std::string text = "## Notes of the agent's earlier turns\n\n" + fenced(earlier_notes_);
    for (const auto& section : sections) {
      if (section.name == "notes" && !section.text.empty()) text.insert(0, section.text + "\n");
    }
    set_section(sections, "notes", std::move(text));
  }

  /// Notes for the next turn; empty if none are kept or the model fails, so that the earlier ones stay.
  std::string new_notes() {
    if (op_.notes_bytes == 0) return {};
    if (talk_.failure() && !cut_short(*talk_.failure()) && !too_long(*talk_.failure())) return {};
    if (talk_.size_tokens() > room() || (talk_.failure() && too_long(*talk_.failure()))) {
      agent_steps all = steps();
      shorten_before(all, all.messages.size());
      leave_out_oldest(all, room_of_steps());
      put(std::move(all));
    }
    talk_.say(fmt::format(notes_request, op_.notes_bytes));
    const chat_reply reply = talk_.ask();
    count(reply);
    if (!reply.ok()) return {};
    std::string notes = notes_in(reply.content, op_.notes_bytes);
    request_.note(fmt::format("[notes] {} bytes\n", notes.size()));
    return notes;
  }

  /// The sums that limits speak of come from what the journal keeps, not from a clock, so that a replay ends
  /// the turn at the same step.
  void count(const chat_reply& reply) {
    tokens_ += reply.tokens_in - reply.tokens_cached + reply.tokens_out;
    spent_s_ += reply.wall_s;
  }

  /// Why the turn ended is no plan: later prompts show what the draft does.
  variation_result best(const std::string& why) {
    request_.note(fmt::format("[agent] the turn ends: {}\n", why));
    if (auto draft = drafts_.take_best()) return *std::move(draft);
    return no_proposal{"the agent submitted nothing: " + why};
  }

  std::string answer(const tool_call& call) {
    const auto given = arguments_of(call);
    if (!given.complaint.empty()) return "error: " + given.complaint;
    if (answers_from_outside(call.name)) {
      if (auto said = recorded_answer(call)) {
        ++runs_;
        return *std::move(said);
      }
    }
    if (const auto said = on_files(call.name, given)) return *said;
    if (const auto said = on_reading(call.name, given)) return *said;
    if (const auto said = on_drafts(call.name, given)) return *said;
    if (const auto said = on_machine(call.name, given)) return *said;
    std::string all;
    for (const auto& one : agent_tools(op_.tools.get())) all += (all.empty() ? "" : ", ") + one.name;
    return fmt::format("error: there is no tool '{}'; there are {}", call.name.substr(0, 80), all);
  }

  /// The tools of the scratch folder; nothing if `name` is none of them.
  std::optional<std::string> on_files(const std::string& name, const tool_arguments& given) {
    const auto done = [](const std::string& complaint) {
      return complaint.empty() ? "done" : "error: " + complaint;
    };
    if (name == "list_files") return fmt::format("{}", fmt::join(folder_.paths(), "\n"));
    if (name == "read_file") {
      std::string content;
      const std::string wrong = folder_.read(given.text("path"), content);
      return wrong.empty() ? content : "error: " + wrong;
    }
    if (name == "write_file") {
      const std::size_t before = folder_.work().files.size();
      const std::string complaint = folder_.write(given.text("path"), given.text("text"));
      // A model that mistakes the name of the file to change would else time the parent again and again.
      if (complaint.empty() && folder_.work().files.size() > before)
        return fmt::format("done: a new file. The program that is built is '{}', which has to include it.",
                           folder_.work().files.front().path);
      return done(complaint);
    }
    if (name == "edit_file")
      return done(folder_.edit(given.text("path"), given.text("search"), given.text("replace")));
    if (name == "grep") {
      const std::string found = folder_.grep(given.text("text"), given.text("path"));
      return found.empty() ? "no line contains it" : found;
    }
    if (name == "delete_file") return done(folder_.remove(given.text("path")));
    if (name == "reset") {
      const std::string number = given.text("draft");
      const auto draft = number.empty() ? std::optional(*parent_.program) : drafts_.numbered(number);
      if (!draft) return fmt::format("error: there is no draft {}", number.substr(0, 20));
      folder_.reset(*draft);
      return "done";
    }
    if (name == "diff") return difference(given.text("id"));
    return std::nullopt;
  }

  /// The tools that tell of other candidates and of the knowledge base; nothing if `name` is none of them.
  std::optional<std::string> on_reading(const std::string& name, const tool_arguments& given) {
    if (name == "read_lineage") {
      variation_request all = request_;
      all.scope = memory_scope::both;
      const std::string lines = memory_section(all, 32);
      return lines.empty() ? "there are none" : lines;
    }
    if (name == "read_candidate") return candidate(given.text("id"));
    if (name == "search_knowledge") {
      const auto& knowledge = op_.with.models->knowledge();
      knowledge_filter filter = filter_for(request_);
      filter.phase.clear();
      const std::string pages =
          knowledge
              ? pages_text(op_.with.models->pages(given.text("query"), filter, op_.with.pages, request_))
              : std::string();
      return pages.empty() ? "no page matches" : pages;
    }
    return std::nullopt;
  }

  /// The tools that judge a draft; nothing if `name` is none of them.
  std::optional<std::string> on_drafts(const std::string& name, const tool_arguments& given) {
    if (name == "compile") return evaluate(evaluation_stage::built);
    if (name == "test") return evaluate(evaluation_stage::checked);
    if (name == "time") return evaluate(evaluation_stage::timed_full);
    if (name == "compare") return drafts_.comparison(given.text("draft"), given.text("with"));
    if (name == "profile") {
      const std::string known = drafts_.profile();
      return known.empty() ? "error: compile, test or time first" : known;
    }
    if (name == "submit") return submit(given);
    return std::nullopt;
  }

  /// The tools that run something besides evaluations; nothing if `name` is none of them.
  std::optional<std::string> on_machine(const std::string& name, const tool_arguments& given) {
    const draft_tools* outside = op_.tools.get();
    if (outside == nullptr) return std::nullopt;
    if (name == "run" && outside->run) {
      const auto made = folder_.beginning_with(given.text("path"));
      if (!made) return fmt::format("error: there is no file '{}'", given.text("path").substr(0, 80));
      if (++runs_ > op_.limits.runs) return "error: the runs of this turn are used up";
      return outside->run(*made, given.text("counters") == "true", request_.stop);
    }
    if (name == "assembly" && outside->assembly) {
      if (++runs_ > op_.limits.runs) return "error: the runs of this turn are used up";
      return outside->assembly(folder_.candidate(*parent_.program), given.text("function"), request_.stop);
    }
    return std::nullopt;
  }

  /// What the tool answered when the turn was made that is now repeated: the next recorded request holds it.
  std::optional<std::string> recorded_answer(const tool_call& call) const {
    if (!op_.with.models->repeats(request_.job)) return std::nullopt;
    const auto next = op_.with.models->recalled_messages(request_.job, op_.name());
    return next ? answer_in(*next, call.id) : std::nullopt;
  }

  std::string difference(const std::string& id) const {
    const auto other = id.empty() ? std::optional(parent_) : relative(id);
    if (!other) return no_such_candidate;
    return difference_text(other->program->text(), folder_.work().text());
  }

  /// A candidate that this turn may see.
  std::optional<candidate_snapshot> relative(std::string id) const {
    if (id.starts_with('#')) id.erase(0, 1);
    std::vector<candidate_snapshot> all = request_.lineage(32);
    for (auto& one : request_.siblings(32)) all.push_back(std::move(one));
    for (auto& one : request_.children(32)) all.push_back(std::move(one));
    for (const auto& list : {request_.parents, request_.inspirations}) {
      for (const auto& one : list) all.push_back(*one);
    }
    for (auto& one : all) {
      if (std::to_string(one.id) == id && one.program) return std::move(one);
    }
    return std::nullopt;
  }

  std::string candidate(const std::string& id) const {
    const auto one = relative(id);
    return one ? parent_section(*one).substr(3) + evaluation_section(*one) : no_such_candidate;
  }

  std::string evaluate(evaluation_stage wanted) {
    // Before it costs an evaluation; so no best draft lies outside either.
    const program work = folder_.candidate(*parent_.program);
    if (auto why = outside_of_blocks(*parent_.program, work); !why.empty()) return "error: " + why;
    const auto answer = drafts_.evaluate(work, wanted, plan_);
    spent_s_ += answer.spent_s;
    brief_ = answer.brief;
    return answer.said;
  }

  std::string submit(const tool_arguments& given) {
    const std::string number = given.text("draft");
    const auto chosen =
        number.empty() ? std::optional(folder_.candidate(*parent_.program)) : drafts_.numbered(number);
    if (!chosen) return fmt::format("refused: there is no draft {}", number.substr(0, 20));
    const program& work = *chosen;
    if (auto why = outside_of_blocks(*parent_.program, work); !why.empty()) return "refused: " + why;
    if (auto why = drafts_.refusal(work); !why.empty()) return "refused: " + why;
    if (auto why = known_already(work, op_.with, request_); !why.empty()) return "refused: " + why;
    if (const auto faster = drafts_.faster_than(work); !faster.empty() && given.text("force") != "true")
      return fmt::format(
          "not accepted: {}. Submit that one by its number in `draft`, or this one with `force`.", faster);
    submitted_ = proposal{work, summary_of("Summary: " + given.text("summary"))};
    return "accepted";
  }

  /// Has the work reviewed when it stands still; false once that has not helped often enough.
  bool supervise() {
    const std::string seen = drafts_.standstill();
    if (seen.empty()) return true;
    if (++interventions_ > op_.limits.interventions) return false;
    drafts_.begin_anew();
    talk_.say(review(seen));
    return true;
  }

  /// The supervisor has a conversation of its own: it sees the lineage, the agent's notes and the drafts of
  /// this turn, and proposes directions, not edits. What the agent is to be told of it.
  std::string review(const std::string& seen) {
    request_.note(fmt::format("[supervisor] {}\n", seen));
    const std::string tried = drafts_.list();
    rng unused;
    conversation talk(op_.with, op_.name() + "_supervisor", request_, unused);
    auto sections = sections_of(request_);
    add_notes(sections);
    set_section(sections, "draft",
                "## The draft\n\n" + fenced(folder_.work().text(), folder_.work().language));
    set_section(sections, "action",
                tried.empty() ? seen + ".\n"
                              : fmt::format("{}. All drafts of this turn, in the order in which they were "
                                            "tried:\n\n{}",
                                            seen, fenced(tried)));
    talk.assume_context(talk_.context_tokens());
    talk.begin("agent_supervisor", std::move(sections), room());
    const chat_reply advice = talk.ask();
    count(advice);
    return fmt::format(
        "A review of your work: {}. {}", seen,
        advice.ok() ? "It proposes:\n\n" + shortened(advice.content, 4000)
                    : std::string("Go back to your best draft or to the parent, and try another idea."));
  }

  const agent& op_;
  const variation_request& request_;
  conversation talk_;
  const candidate_snapshot& parent_;
  agent_folder folder_;
  agent_drafts drafts_;
  std::vector<prompt_section> sections_;
  std::string advice_;
  std::size_t first_ = 0;            ///< number of messages before the agent's own steps
  std::vector<std::string> briefs_;  ///< a line for each message of a tool
  std::string brief_;                ///< what the present tool says of itself in a line
  std::string plan_;                 ///< what the model said last
  int refusals_ = 0;                 ///< in a row, for the length of the conversation
  std::string earlier_notes_;
  std::int64_t fruitless_ = 0;  ///< turns before this one, in a row, without a proposal
  std::optional<proposal> submitted_;
  std::int64_t interventions_ = 0;
  std::int64_t runs_ = 0;
  std::int64_t tokens_ = 0;
  int cut_ = 0;  ///< replies in a row that were cut or empty
  double spent_s_ = 0;
};

}  // namespace

variation_result agent::vary(const variation_request& request, rng& random) const {
  const variation_request scoped = with_scope(with, request, random);
  variation_result result = session(*this, scoped, random).run();
  if (const auto* made = std::get_if<proposal>(&result)) {
    remember_attempt(with, scoped, *made);
    distill_due(with, scoped, random);
  } else {
    with.models->fruitless(scoped.job);
  }
  return result;
}

}  // namespace kevo
