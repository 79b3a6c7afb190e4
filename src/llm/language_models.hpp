#pragma once
// The language models of a run: which one is asked, what it costs, what is recorded. One object serves all
// operators of a run.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include <kevo/portfolio.hpp>
#include <kevo/random.hpp>
#include <kevo/vary.hpp>

#include "src/llm/cassette.hpp"
#include "src/llm/chat.hpp"
#include "src/llm/endpoint.hpp"
#include "src/llm/knowledge.hpp"

namespace kevo {

/// Money for a million tokens.
struct token_price {
  double input = 0;
  double output = 0;
};

struct model_settings {
  std::string name;  ///< in configs, journals and cassettes
  std::string tier;  ///< "cheap", "strong" or anything that operators ask for
  double weight = 1;
  token_price price;
  std::string policy_version;  ///< of the weights, for trainers
  endpoint_settings server;
};

/// How the next model is chosen among those of a tier.
struct choice_settings {
  bool bandit = false;       ///< else by weight, or by `portfolio`
  any_portfolio portfolio;   ///< a role of the core: ucb1, thompson, exp3, ...; empty: not asked
  double exploration = 0.2;  ///< probability of a uniform draw (ShinkaEvolve's epsilon)
  double decay = 0.95;       ///< of what was seen, with each new reward
  double cost_weight = 0.5;  ///< of the mean price of a call, relative to the dearest model
};

struct models_settings {
  std::vector<model_settings> models;
  choice_settings choice;
  double max_money = 0;  ///< no call begins that might exceed it; 0: no cap
  cassette_mode mode = cassette_mode::off;
  std::string cassette_path;
  bool ready = true;      ///< false: models are never asked and no cassette is opened
  std::string knowledge;  ///< folder of pages; may be empty
  std::string skills;     ///< folder where what helped is written back; may be empty
  std::string prompts;    ///< folder of prompt files that replace shipped ones; may be empty
};

/// Who asks, and which turn of which conversation it is.
struct call_origin {
  std::string operator_name;
  std::size_t model = 0;
  std::int64_t turn = 0;
};

/// What was spent and what is out.
struct models_account {
  double spent = 0;
  double reserved = 0;  ///< upper estimate of the calls in flight
  std::uint64_t calls = 0;
  std::uint64_t replayed = 0;
  std::uint64_t changed = 0;  ///< replayed though the request is another than the recorded one
};

/// Thread-safe. Failures of models are values; kevo::error is thrown only for cassettes that cannot be
/// written.
class language_models {
 public:
  explicit language_models(models_settings settings);

  /// Index of a model of `tier` ("" is any). Throws kevo::error (input) if there is none.
  std::size_t choose(const std::string& tier, rng& random);
  /// Index of a named model. Throws kevo::error (input) if there is none.
  std::size_t named(const std::string& name) const;
  /// One call: reserves its price, asks or replays, books tokens and money with `owner`, has the journal keep
  /// it.
  chat_reply ask(const call_origin& origin, const chat_request& request, const variation_request& owner);
  /// Embeddings by the model `name`; empty if it failed. Not in cassettes: callers treat absence as
  /// "unknown".
  std::vector<std::vector<float>> embed(const std::string& name, const std::vector<std::string>& texts,
                                        const variation_request& owner);
  /// Credits the model that made a candidate.
  void observe(const observation& seen);
  /// After a resume: what earlier sessions spent, and the keys of their recorded calls.
  void remember(double spent, const std::vector<std::string>& request_keys);

  models_account account() const;
  const models_settings& settings() const { return settings_; }
  std::size_t concurrency() const;
  /// Null if the config names none.
  const std::shared_ptr<knowledge_base>& knowledge() const { return knowledge_; }
  /// The notes that all prompts of the run show.
  std::string notes() const;
  void set_notes(std::string text);

 private:
  struct arm {
    double pulls = 0;
    double reward = 0;
    double cost = 0;
    double calls = 0;
  };
  chat_reply reply_to(const call_origin& origin, const cassette_key& key, const chat_request& request,
                      const variation_request& owner);
  bool reserve(double amount);
  std::size_t pull(const std::vector<std::size_t>& choices, rng& random);
  std::size_t pick(const std::vector<std::size_t>& choices, rng& random);
  double mean_cost(std::size_t model) const;

  models_settings settings_;
  cassette tape_;
  std::shared_ptr<knowledge_base> knowledge_;
  std::vector<std::unique_ptr<endpoint>> servers_;
  mutable std::mutex guard_;
  models_account account_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> ordinals_;
  std::vector<arm> arms_;
  std::map<std::uint64_t, std::size_t> asked_;  ///< job -> model, of the latest few thousand
  std::string notes_;
};

}  // namespace kevo
