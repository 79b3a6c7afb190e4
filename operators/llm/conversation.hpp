#pragma once
// A conversation of one variation with one model: prompt, replies, complaints, and what an operator makes of
// them.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kevo/vary.hpp>

#include "operators/llm/prompt.hpp"
#include "src/llm/language_models.hpp"

namespace kevo {

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

 private:
  const llm_settings& settings_;
  const variation_request& request_;
  call_origin origin_;
  chat_request chat_;
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

/// Why a failed call gives no proposal.
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

/// Why a program need not be evaluated: it is known, or as good as. Empty if it is new. Cheapest first:
/// content hash, token 5-grams against relatives, then embeddings and a judge where the settings name them; a
/// model that fails speaks for the program.
std::string known_already(const program& made, const llm_settings& settings,
                          const variation_request& request);
/// Share of the token 5-grams that two sources have in common (Jaccard); comments and spacing do not count.
/// O(n).
double similarity(std::string_view a, std::string_view b);

}  // namespace kevo
