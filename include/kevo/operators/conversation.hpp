#pragma once
// For your own operators that ask a language model: a conversation with one model during one turn, texts
// for prompts that describe a request, and functions that turn a reply into a program. Transport, cassettes,
// costs and the journal work without further code. Compiled: link kevo::kevo.

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
  std::string name;    ///< name of the placeholder
  std::string text;    ///< text that takes its place
  int priority = 0;    ///< sections with a lower number are shortened first
  bool whole = false;  ///< whether the section is never shortened
};

/// Settings that all operators with a language model have.
struct llm_settings {
  std::shared_ptr<language_models> models;  ///< the models of the run; null if a config is only printed
  std::string model;                        ///< name of the model; empty: one of `tier` is chosen
  std::string tier;                         ///< tier of the models to choose from; empty: all models
  sampling_settings sampling;               ///< temperature and size of replies
  std::int64_t prompt_tokens = 24000;       ///< maximum size of the first prompt, in estimated tokens
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
  /// Chooses the model. `settings` and `request` must outlive the conversation. `operator_name` is recorded
  /// with each call. `random` is the stream of the operator's turn.
  conversation(const llm_settings& settings, std::string operator_name, const variation_request& request,
               rng& random);

  /// Begins the conversation with the prompt file `name`, whose placeholders are filled with `sections`. The
  /// prompt has at most `prompt_tokens` estimated tokens, and at most those of the settings; 0: those.
  void begin(const std::string& name, std::vector<prompt_section> sections, std::int64_t prompt_tokens = 0);
  /// Adds a user message. If the last message is a user message, too, the text is appended to it, because
  /// some chat templates require that roles alternate.
  void say(std::string text);
  /// Adds a message with any role.
  void say(chat_message message) { chat_.messages.push_back(std::move(message)); }
  /// Sets the tools that the model may call in later replies.
  void offer(std::vector<tool_definition> tools) { chat_.tools = std::move(tools); }
  /// Sends the messages and returns the reply, which is added to the messages if it contains text or tool
  /// calls. Of a reply that was cut, only the text is added, because a tool call that was cut cannot be
  /// answered. A server that refuses the request because the longest reply does not fit, and says what does,
  /// is asked once more with that.
  chat_reply ask();
  /// Asks for `count` replies to the messages, at least 1, independent of each other. Adds the first one to
  /// the messages.
  std::vector<chat_reply> ask(std::size_t count);

  /// The request that was given to the constructor.
  const variation_request& request() const { return request_; }
  /// The settings that were given to the constructor.
  const llm_settings& settings() const { return settings_; }
  /// A stream of random numbers of this conversation, for draws that are independent of those of the
  /// operator.
  const rng& stream() const { return stream_; }
  /// All messages so far, oldest first.
  const std::vector<chat_message>& messages() const { return chat_.messages; }
  /// Replaces all messages from number `first` on.
  void replace_from(std::size_t first, std::vector<chat_message> messages);
  /// An estimate of the tokens that the next call sends, in the measure of this server (see `density`).
  std::int64_t size_tokens() const {
    return static_cast<std::int64_t>(density_ * static_cast<double>(estimated_tokens(chat_)));
  }
  /// Tokens of this server for each token that kevo estimates, at least 1, as far as its counts and refusals
  /// have shown.
  double density() const { return density_; }
  /// Maximum size of a call with its reply [tokens], as far as it is known: assumed, or said by the server
  /// when it refused a call. 0 if it is not known. Later calls ask for replies that fit.
  std::int64_t context_tokens() const { return context_; }
  /// Assumes that limit.
  void assume_context(std::int64_t tokens) { context_ = tokens; }
  /// The maximum size of a reply [tokens] that the server is asked for at present.
  std::int64_t reply_tokens() const { return chat_.sampling.max_tokens; }
  /// The latest reply if it was a failure; nothing before the first call and after one that succeeded.
  const std::optional<chat_reply>& failure() const { return failure_; }

 private:
  void hear(const chat_reply& reply, std::int64_t estimated);
  bool learn_limits(const chat_reply& refused);
  void fit_reply();

  const llm_settings& settings_;
  const variation_request& request_;
  rng stream_;
  std::string operator_name_;
  std::size_t model_ = 0;
  std::int64_t turn_ = 0;
  chat_request chat_;
  double density_ = 1;
  std::int64_t context_ = 0;     ///< 0: not known
  std::int64_t most_reply_ = 0;  ///< of what the server may be asked for
  std::optional<chat_reply> failure_;
};

/// The result of reading a reply: a program, or a complaint, which is sent to the model.
struct draft {
  std::optional<program> made;  ///< nothing if the reply contains no usable program
  std::string complaint;        ///< why not, as a message to the model; empty if there is a program
};
/// Makes a draft from the text of a reply.
using draft_reader = std::function<draft(const std::string& reply)>;

/// Asks until a reply gives a program that is new, at most `attempts` times. The result is a proposal with
/// the model's summary, or the reason why there is none. With `samples` above 1, the first question is asked
/// for so many replies: the first one that gives a program is the result, and the others are proposed by
/// `variation_request::propose`. `label` is put before the summaries.
variation_result propose(conversation& talk, const draft_reader& read, const std::string& label = {});

/// Why a failed call gives no proposal. The operator is exhausted where no further call can succeed either:
/// the money is spent, a recording holds no more, or every model that it may ask has refused the key.
no_proposal failure_of(const chat_reply& reply);

/// A copy of a program with another text of its main file.
program with_main_file(const program& source, std::string text);
/// The code in a reply: the longest fenced block with a label of this language, else the longest fenced
/// block; nothing if there is none.
std::optional<std::string> code_of(std::string_view reply, std::string_view language);
/// The text after "Summary:" in the line that begins with it; if there is no such line, the first line of the
/// reply that is not empty and begins no code. At most 160 bytes.
std::string summary_of(std::string_view reply);
/// The text under the Markdown heading `title` (of any level, in upper or lower case), up to the next heading
/// of the same or a higher level; empty if there is no such heading.
std::string part_under(std::string_view reply, std::string_view title);

/// A text that describes the task: signature, shapes, tolerance, cost model and the visible workloads.
/// @param place where programs of PyTorch run, for example `place_of(parent)`; empty: nothing is said of it
std::string task_section(const task& t, const std::string& language, std::string_view place = {});
/// Where the program of a candidate runs: "cpu", "gpu", or empty if its evaluation does not say it (it has
/// none yet, and the language is used on both).
std::string_view place_of(const candidate_snapshot& one);
/// A text on the machine and how programs are judged on it, as far as the evaluations of the parents and
/// inspirations say it: processor, vector instructions, compiler, peaks, the least time of each workload,
/// caches, input data, and how the score is made.
std::string machine_section(const variation_request& request);
/// A text on what a program may do in the parent's language: headers, threads, memory between calls.
/// @param tunables whether it says how to write tunables, too
std::string rules_section(const variation_request& request, bool tunables = false);
/// A text with the source of the candidate that is varied.
std::string parent_section(const candidate_snapshot& parent);
/// A text with the evaluation of a candidate: outcome, feedback, timings of each workload, and measures. It
/// contains nothing about hidden workloads except that one failed.
std::string evaluation_section(const candidate_snapshot& one);
/// A copy of the request with the memory scope of this turn. The scope is drawn with the weights
/// `llm_settings::scopes`, from a separate stream of random numbers.
variation_request with_scope(const llm_settings& settings, const variation_request& request,
                             const rng& random);
/// A text about earlier candidates, each with its plan, its outcome and the reason of a failure. Depending on
/// the memory scope, these are ancestors of the parent, its earlier children, both or none.
std::string memory_section(const variation_request& request, std::size_t limit);
/// A text with the sources and scores of the further parents and of the inspirations.
std::string inspirations_section(const variation_request& request);

/// A description of a candidate in one line: "#12 by tune: valid, 3.41 times as fast as
/// naive", where naive is the name of the baseline.
std::string headline(const candidate_snapshot& one);

/// All sections of the functions above with their usual priorities, and empty sections `notes`,
/// `constraints`, `knowledge`, `contrast`, `diagnosis`, `action` and `draft`, which operators fill.
std::vector<prompt_section> sections_of(const variation_request& request);
/// Replaces the text of a section.
void set_section(std::vector<prompt_section>& sections, const std::string& name, std::string text);

}  // namespace kevo
