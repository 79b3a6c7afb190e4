#pragma once
// For operators of your own that ask a language model: a conversation of one variation with one model, what a
// prompt may be told of a request, and how a reply becomes a program. Transport, cassettes, money and the
// journal come with it. Compiled: link kevo::kevo.

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

/// What may stand at a place `{{name}}` of a prompt file. Sections of the lowest priority are trimmed first;
/// those that are `whole` never are. Empty texts leave nothing behind.
struct prompt_section {
  std::string name;
  std::string text;
  int priority = 0;
  bool whole = false;
};

/// What every operator that asks a model is told by its config.
struct llm_settings {
  std::shared_ptr<language_models> models;  ///< null while a config is only described
  std::string model;                        ///< one by name; empty: chosen among `tier`
  std::string tier;                         ///< empty: any
  sampling_settings sampling;
  std::int64_t prompt_tokens = 24000;  ///< estimated tokens of the first prompt
  std::int64_t attempts = 2;           ///< replies that may be asked for until one gives a program
  std::size_t concurrency = 4;         ///< `vary` calls at once
  double similarity = 1.0;  ///< a program that is this similar to a relative is refused; above 1: never
  std::string embeddings;   ///< model that embeds programs; empty: none
  double embedding_similarity = 0.99;  ///< cosine from which a program counts as known, or is judged
  std::string judge;              ///< model that says whether two programs are as good as one; empty: none
  double judge_similarity = 0.9;  ///< share of common 5-grams from which the judge is asked
  double injection_rate = 1;      ///< probability that a prompt is given knowledge
  std::size_t pages = 2;          ///< of knowledge in a prompt
};

/// Asks one model, keeping the messages. For one thread.
class conversation {
 public:
  conversation(const llm_settings& settings, std::string operator_name, const variation_request& request,
               rng& random);

  /// Begins with the prompt file `name` filled with `sections`.
  void begin(const std::string& name, std::vector<prompt_section> sections);
  void say(std::string text) { chat_.messages.push_back({"user", std::move(text)}); }
  void say(chat_message message) { chat_.messages.push_back(std::move(message)); }
  void offer(std::vector<tool_definition> tools) { chat_.tools = std::move(tools); }
  /// One call; the reply joins the conversation if it holds anything.
  chat_reply ask();

  const variation_request& request() const { return request_; }
  const llm_settings& settings() const { return settings_; }
  const std::vector<chat_message>& messages() const { return chat_.messages; }
  /// The latest reply if it was a failure; nothing before the first call and after one that succeeded.
  const std::optional<chat_reply>& failure() const { return failure_; }

 private:
  const llm_settings& settings_;
  const variation_request& request_;
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
/// the model's summary, or the reason why there is none.
variation_result propose(conversation& talk, const draft_reader& read);

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
/// Ancestors, siblings, both or nothing, as the selection's memory scope says.
std::string memory_section(const variation_request& request, std::size_t limit);
/// Sources and scores of the further parents and the inspirations.
std::string inspirations_section(const variation_request& request);

/// One line: "#12 by tune: valid, 3.41 times as fast".
std::string headline(const candidate_snapshot& one);

/// All of the above with their usual priorities, and empty ones for `notes`, `knowledge`, `contrast`,
/// `diagnosis`, `action`, `draft`, which operators fill.
std::vector<prompt_section> sections_of(const variation_request& request);
/// Replaces the text of a section.
void set_section(std::vector<prompt_section>& sections, const std::string& name, std::string text);

}  // namespace kevo
