#pragma once
// For your own operators that ask a language model: a conversation with one model during one variation, texts
// for prompts that describe a request, and functions that turn a reply into a program. Transport, cassettes,
// costs and the journal are taken care of. Compiled: link kevo::kevo.

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kevo/llm/client.hpp>
#include <kevo/vary.hpp>

namespace kevo {

/// The text for a placeholder `{{name}}` of a prompt file. If a prompt is too long, sections with the lowest
/// priority are shortened first. A placeholder whose text is empty is removed.
struct prompt_section {
  std::string name;
  std::string text;
  int priority = 0;
  bool whole = false;  ///< whether the section is never shortened
};

/// Settings that all operators with a language model have.
struct llm_settings {
  std::shared_ptr<language_models> models;  ///< the models of the run; null if a config is only printed
  std::string model;                        ///< name of the model; empty: one of `tier` is chosen
  std::string tier;                         ///< tier of the models to choose from; empty: all models
  sampling_settings sampling;
  std::int64_t prompt_tokens = 24000;  ///< maximum size of the first prompt, in estimated tokens
  std::int64_t attempts = 2;  ///< maximum number of replies that are requested until one gives a program
  /// Number of replies that `propose` asks for with the same prompt; each becomes a candidate of its own.
  /// Above 1, every reply with a program is proposed, also a known one, so that each has a result.
  std::size_t samples = 1;
  std::size_t concurrency = 4;  ///< maximum number of `vary` calls at the same time
  /// A program is not evaluated if its similarity to a relative (share of common token 5-grams) is at least
  /// this; a value above 1 disables the check.
  double similarity = 1.0;
  std::string embeddings;  ///< name of the model that embeds programs; empty: none
  /// Cosine of two embeddings from which a program counts as known or, with a judge, is judged.
  double embedding_similarity = 0.99;
  std::string judge;  ///< name of the model that decides whether two programs are the same; empty: none
  double judge_similarity =
      0.9;                    ///< share of common 5-grams from which the judge is asked, without embeddings
  double injection_rate = 1;  ///< probability that a prompt contains knowledge pages
  std::size_t pages = 2;      ///< number of knowledge pages in a prompt, in addition to those of constraints
  /// Weights with which the memory scope of a turn is drawn, in the order of `memory_scope`. If all are 0,
  /// the scope of the selection is used. A selection with the scope clean_slate keeps it.
  std::array<double, memory_scope_names.size()> scopes{};
};

/// A conversation with one model; it keeps the messages. Not thread-safe.
class conversation {
 public:
  conversation(const llm_settings& settings, std::string operator_name, const variation_request& request,
               rng& random);

  /// Begins the conversation with the prompt file `name`, whose placeholders are filled with `sections`.
  void begin(const std::string& name, std::vector<prompt_section> sections);
  /// Adds a user message. If the last message is a user message, too, the text is appended to it, because
  /// some chat templates require that roles alternate.
  void say(std::string text);
  void say(chat_message message) { chat_.messages.push_back(std::move(message)); }
  void offer(std::vector<tool_definition> tools) { chat_.tools = std::move(tools); }
  /// Sends the messages and returns the reply, which is added to the messages if it contains text or tool
  /// calls.
  chat_reply ask();
  /// Asks for `count` replies to the messages, at least 1, independent of each other. Adds the first one to
  /// the messages.
  std::vector<chat_reply> ask(std::size_t count);

  const variation_request& request() const { return request_; }
  const llm_settings& settings() const { return settings_; }
  /// A stream of this conversation's own, for what is drawn beside the operator.
  const rng& stream() const { return stream_; }
  const std::vector<chat_message>& messages() const { return chat_.messages; }
  /// The latest reply if it was a failure; nothing before the first call and after one that succeeded.
  const std::optional<chat_reply>& failure() const { return failure_; }

 private:
  void hear(const chat_reply& reply);

  const llm_settings& settings_;
  const variation_request& request_;
  rng stream_;
  std::string operator_name_;
  std::size_t model_ = 0;
  std::int64_t turn_ = 0;
  chat_request chat_;
  std::optional<chat_reply> failure_;
};

/// What a reply was made into: a program, or a complaint that the model is told.
struct draft {
  std::optional<program> made;
  std::string complaint;
};
using draft_reader = std::function<draft(const std::string& reply)>;

/// Asks until a reply gives a program that is new, at most `attempts` times. The result is a proposal with
/// the model's summary, or the reason why there is none. With `samples` above 1, the first question is asked
/// for so many replies: the first one that gives a program is the result, and the others are proposed by
/// `variation_request::propose`. `label` is put before the summaries.
variation_result propose(conversation& talk, const draft_reader& read, const std::string& label = {});

/// Why a failed call gives no proposal. The operator is exhausted where no further call can succeed either:
/// the money is spent, a recording holds no more, or every model that it may ask has refused the key.
no_proposal failure_of(const chat_reply& reply);

/// The program with its main file replaced.
program with_main_file(const program& source, std::string text);
/// The code in a reply: the longest fenced block whose language fits, else the longest one; nothing without a
/// block.
std::optional<std::string> code_of(std::string_view reply, std::string_view language);
/// The line that begins with "Summary:", without that, at most 160 bytes; else the reply's first words.
std::string summary_of(std::string_view reply);
/// The text under the Markdown heading `## title` (any level, any case), up to the next of that level; empty
/// if absent.
std::string part_under(std::string_view reply, std::string_view title);

/// What is optimized: signature, shapes, tolerance, cost model, the visible workloads.
std::string task_section(const task& t, const std::string& language);
/// Where it runs and how near the parent is to what the machine can do.
std::string device_section(const candidate_snapshot& parent);
/// The source of the candidate that is varied.
std::string parent_section(const candidate_snapshot& parent);
/// What is known of a candidate: outcome, feedback, timings by workload, measures. Hidden workloads do not
/// show.
std::string evaluation_section(const candidate_snapshot& one);
/// The request with the memory scope of this turn: drawn by `llm_settings::scopes`, from a stream of its own.
variation_request with_scope(const llm_settings& settings, const variation_request& request,
                             const rng& random);
/// Ancestors of the parent, its earlier children (plan, outcome and the reason of a failure), both or
/// nothing, as the memory scope says.
std::string memory_section(const variation_request& request, std::size_t limit);
/// Sources and scores of the further parents and the inspirations.
std::string inspirations_section(const variation_request& request);

/// One line: "#12 by tune: valid, 3.41 times as fast".
std::string headline(const candidate_snapshot& one);

/// All of the above with their usual priorities, and empty ones for `notes`, `constraints`, `knowledge`,
/// `contrast`, `diagnosis`, `action`, `draft`, which operators fill.
std::vector<prompt_section> sections_of(const variation_request& request);
/// Replaces the text of a section.
void set_section(std::vector<prompt_section>& sections, const std::string& name, std::string text);

}  // namespace kevo
