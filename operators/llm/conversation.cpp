#include "operators/llm/conversation.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "operators/llm/blocks.hpp"
#include "operators/llm/distill.hpp"
#include "operators/llm/fences.hpp"
#include "operators/llm/model_failure.hpp"
#include "operators/llm/server_limits.hpp"
#include "src/base/text/utf8.hpp"

namespace kevo {
namespace {
constexpr std::size_t kept_reply_bytes = std::size_t{64} << 10U;
/// A reply with less room than this holds no program.
constexpr std::int64_t least_reply_tokens = 256;
/// What servers add to the messages (roles, the form of tools), and by what the estimate may be wrong.
std::int64_t margin_of(std::int64_t prompt_tokens) {
  return 256 + prompt_tokens / 8;
}
/// Replies that were cut beyond those that `attempts` allows: a model cannot know the limit before.
constexpr std::int64_t most_cut = 2;
}  // namespace

std::string cut_text(const chat_reply& reply, std::int64_t limit, const std::string& go_on) {
  const std::string what =
      reply.status == reply_status::truncated
          ? fmt::format("was cut: a reply has at most {} tokens, reasoning included", limit)
          : std::string("held neither text nor a tool call");
  return fmt::format("Your last reply {}. {}", what, go_on);
}

conversation::conversation(const llm_settings& settings, std::string operator_name,
                           const variation_request& request, rng& random)
    : settings_(settings), request_(request), stream_(random.split("conversation")) {
  if (!settings.models)
    throw error(error_code::input, "this operator needs a language model", {.key = "llm.models"},
                "add llm: {models: [{name: ..., url: ..., model: ...}]} to the config");
  operator_name_ = std::move(operator_name);
  // A stream of its own: however many numbers the choice takes, what follows draws the same.
  rng choice = random.split("model");
  model_ = settings.model.empty() ? settings.models->choose(settings.tier, choice)
                                  : settings.models->named(settings.model);
  model_ = settings.models->recalled_model(request.job, operator_name_).value_or(model_);
  chat_.sampling = settings.sampling;
  most_reply_ = settings.sampling.max_tokens;
}

void conversation::begin(const std::string& name, std::vector<prompt_section> sections,
                         std::int64_t prompt_tokens) {
  const std::string& folder = settings_.models->settings().prompts;
  const std::int64_t most =
      prompt_tokens > 0 ? std::min(prompt_tokens, settings_.prompt_tokens) : settings_.prompt_tokens;
  assembled_prompt made = assemble(name + ".md", prompt_text(folder, name), std::move(sections), most);
  chat_.messages = std::move(made.messages);
  for (const auto& what : made.cut) request_.note("[prompt] left out for length: " + what + "\n");
}

void conversation::say(std::string text) {
  if (!chat_.messages.empty() && chat_.messages.back().role == "user") {
    chat_.messages.back().content += "\n\n" + text;
  } else {
    chat_.messages.push_back({"user", std::move(text)});
  }
}

/// Whether a server that refused a request has named a limit with which the same request may be taken.
bool conversation::learn_limits(const chat_reply& refused) {
  if (refused.status != reply_status::rejected) return false;
  const server_limits limits = limits_in(refused.detail);
  const std::int64_t before = chat_.sampling.max_tokens;
  // It counts more than kevo does.
  if (limits.context > 0 && limits.context == context_) density_ *= 1.25;
  if (limits.reply > 0) most_reply_ = std::min(most_reply_, limits.reply);
  if (limits.context > 0) context_ = limits.context;
  // Without a number: what was refused was too long.
  if (limits.context == 0 && limits.too_long) context_ = size_tokens() * 3 / 4;
  fit_reply();
  const std::int64_t prompt = size_tokens();
  const bool fits = context_ == 0 || prompt + margin_of(prompt) + least_reply_tokens <= context_;
  if (!fits || chat_.sampling.max_tokens >= before) return false;
  request_.note(
      fmt::format("[model] replies have at most {} tokens: {}\n", chat_.sampling.max_tokens, refused.detail));
  return true;
}

/// Asks for no more than has room behind the messages.
void conversation::fit_reply() {
  chat_.sampling.max_tokens = most_reply_;
  if (context_ == 0) return;
  const std::int64_t prompt = size_tokens();
  chat_.sampling.max_tokens = std::clamp(context_ - prompt - margin_of(prompt),
                                         std::min(most_reply_, least_reply_tokens), most_reply_);
}

void conversation::replace_from(std::size_t first, std::vector<chat_message> messages) {
  chat_.messages.resize(std::min(first, chat_.messages.size()));
  for (auto& one : messages) chat_.messages.push_back(std::move(one));
}

chat_reply conversation::ask() {
  fit_reply();
  const auto once = [&] {
    const std::int64_t estimated = estimated_tokens(chat_);
    chat_reply reply = settings_.models->ask({operator_name_, model_, turn_, settings_.model, settings_.tier},
                                             chat_, request_);
    hear(reply, estimated);
    return reply;
  };
  chat_reply reply = once();
  if (learn_limits(reply)) reply = once();
  return reply;
}

std::vector<chat_reply> conversation::ask(std::size_t count) {
  fit_reply();
  const auto once = [&] {
    const std::int64_t estimated = estimated_tokens(chat_);
    std::vector<chat_reply> all = settings_.models->ask(
        {operator_name_, model_, turn_, settings_.model, settings_.tier}, chat_, count, request_);
    hear(all.front(), estimated);
    return all;
  };
  std::vector<chat_reply> replies = once();
  if (learn_limits(replies.front())) replies = once();
  return replies;
}

void conversation::hear(const chat_reply& reply, std::int64_t estimated) {
  ++turn_;
  // The tokens of several tries are counted together.
  if (reply.ok() && reply.tries <= 1 && reply.tokens_estimated == 0 && reply.tokens_in > estimated)
    density_ = std::max(density_, static_cast<double>(reply.tokens_in) / static_cast<double>(estimated));
  failure_ = reply.ok() ? std::nullopt : std::optional(reply);
  // A model that babbles for a megabyte must not be sent that megabyte again with each further turn.
  const auto calls = cut_short(reply) ? std::vector<tool_call>() : reply.tool_calls;
  if (!reply.content.empty() || !calls.empty())
    chat_.messages.push_back({"assistant", shortened(reply.content, kept_reply_bytes), calls});
}

no_proposal failure_of(const chat_reply& reply) {
  return {fmt::format("{}{}: {}", model_failure_mark, to_string(reply.status), reply.detail),
          reply.last_model || reply.status == reply_status::over_budget ||
              reply.status == reply_status::unrecorded};
}

namespace {

/// Whether a reply is one that the model can be told what is wrong with.
bool answered(const chat_reply& reply) {
  return reply.ok() || cut_short(reply);
}

/// What a reply makes of the parent, kept to the parent's blocks.
draft draft_of(const conversation& talk, const chat_reply& reply, const draft_reader& read) {
  if (reply.ok()) return kept_to_blocks(*talk.request().parents.front()->program, read(reply.content));
  return {
      {},
      cut_text(reply, talk.reply_tokens(),
               "Nothing of it was used. Answer again from the beginning: think more briefly, and write no "
               "more than was asked for.")};
}

/// The program of the first of several replies that has one; those of the others are proposed beside it. The
/// complaint is that about the first reply. Nothing is refused as known, because a group of replies of which
/// some have no result would teach that those are rare.
draft propose_several(conversation& talk, const draft_reader& read, const std::string& label,
                      std::optional<proposal>& answer, chat_reply& first) {
  const std::vector<chat_reply> replies = talk.ask(talk.settings().samples);
  first = replies.front();
  draft of_first;
  for (std::size_t i = 0; i < replies.size(); ++i) {
    if (!answered(replies[i])) {
      talk.request().note(fmt::format("[sample {}] {}\n", i, replies[i].detail));
      continue;
    }
    draft next = draft_of(talk, replies[i], read);
    if (!next.made) talk.request().note(fmt::format("[sample {}] {}\n", i, next.complaint));
    if (i == 0) of_first.complaint = next.complaint;
    if (!next.made) continue;
    proposal made{*std::move(next.made), label + summary_of(replies[i].content),
                  static_cast<std::uint32_t>(i)};
    if (answer) {
      talk.request().propose(std::move(made));
    } else {
      answer = std::move(made);
    }
  }
  return of_first;
}

variation_result ask_until_new(conversation& talk, const draft_reader& read, const std::string& label) {
  const variation_request& request = talk.request();
  std::string why;
  std::int64_t cut = 0;
  for (std::int64_t n = 0; n < talk.settings().attempts + cut && !request.stop.stop_requested(); ++n) {
    if (n > 0) talk.say(why);
    chat_reply reply;
    draft next;
    if (n == 0 && talk.settings().samples > 1) {
      std::optional<proposal> answer;
      next = propose_several(talk, read, label, answer, reply);
      if (answer) return *std::move(answer);
      if (!answered(reply)) return failure_of(reply);
    } else {
      reply = talk.ask();
      if (!answered(reply)) return failure_of(reply);
      next = draft_of(talk, reply, read);
    }
    if (cut_short(reply) && cut < most_cut) ++cut;
    if (next.made) {
      next.complaint = known_already(*next.made, talk.settings(), request);
      if (next.complaint.empty()) {
        return proposal{*std::move(next.made), label + summary_of(reply.content)};
      }
    }
    why = next.complaint;
    request.note(fmt::format("[attempt {}] {}\n", n + 1, why));
  }
  if (request.stop.stop_requested()) return no_proposal{"cancelled"};
  return no_proposal{"no usable reply: " + why.substr(0, std::min(why.find('\n'), std::size_t{200}))};
}

}  // namespace

variation_result propose(conversation& talk, const draft_reader& read, const std::string& label) {
  variation_result result = ask_until_new(talk, read, label);
  if (const auto* made = std::get_if<proposal>(&result)) {
    remember_attempt(talk.settings(), talk.request(), *made);
    distill_due(talk.settings(), talk.request(), talk.stream());
  } else {
    talk.settings().models->fruitless(talk.request().job);
  }
  return result;
}

program with_main_file(const program& source, std::string text) {
  program made = source;
  if (!text.ends_with('\n')) text += '\n';
  made.files.front().text = std::move(text);
  return made;
}

std::optional<std::string> code_of(std::string_view reply, std::string_view language) {
  std::optional<std::string> best;
  bool best_fits = false;
  for (fenced_block& block : fenced_blocks(reply)) {
    const bool fits = names_language(block.word, language);
    if (best && !(fits && !best_fits) && !(fits == best_fits && block.text.size() > best->size())) continue;
    best = std::move(block.text);
    best_fits = fits;
  }
  return best;
}

std::string summary_of(std::string_view reply) {
  std::string_view chosen;
  std::string_view first;
  while (!reply.empty()) {
    const auto end = std::min(reply.find('\n'), reply.size());
    std::string_view line = reply.substr(0, end);
    reply.remove_prefix(std::min(end + 1, reply.size()));
    const auto begin = line.find_first_not_of(" \t*#");
    if (begin == std::string_view::npos) continue;
    line.remove_prefix(begin);
    if (first.empty() && !line.starts_with("```") && !line.starts_with("<<<<")) first = line;
    if (line.starts_with("Summary:")) {
      chosen = line.substr(8);
      break;
    }
  }
  if (chosen.empty()) chosen = first;
  chosen.remove_prefix(std::min(chosen.find_first_not_of(" *"), chosen.size()));
  std::string text(chosen.substr(0, boundary_before(chosen, 160)));
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return text;
}

std::string part_under(std::string_view reply, std::string_view title) {
  const auto same = [](std::string_view a, std::string_view b) {
    return a.size() == b.size() &&
           std::equal(a.begin(), a.end(), b.begin(),
                      [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
  };
  std::string text;
  std::size_t level = 0;
  bool code = false;
  while (!reply.empty()) {
    const auto end = std::min(reply.find('\n'), reply.size());
    const std::string_view line = reply.substr(0, end);
    reply.remove_prefix(std::min(end + 1, reply.size()));
    if (line.starts_with("```")) code = !code;
    const std::size_t marks = code ? 0 : std::min(line.find_first_not_of('#'), line.size());
    if (marks > 0) {
      if (level > 0 && marks <= level) break;
      std::string_view name = line.substr(marks);
      while (!name.empty() && (name.front() == ' ' || name.front() == '*')) name.remove_prefix(1);
      while (!name.empty() &&
             (name.back() == ' ' || name.back() == '*' || name.back() == ':' || name.back() == '\r'))
        name.remove_suffix(1);
      if (level == 0 && same(name, title)) {
        level = marks;
        continue;
      }
    }
    if (level > 0) text += std::string(line) + "\n";
  }
  return text;
}

}  // namespace kevo
