#pragma once
// The language models that operators ask: servers that speak the chat-completions protocol (vLLM, SGLang,
// llama.cpp, hosted services), with limits, retries, prices and cassettes. Compiled: link kevo::kevo.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <kevo/llm/chat.hpp>
#include <kevo/portfolio.hpp>
#include <kevo/select.hpp>

namespace kevo {

/// Time and size limits of one HTTP request.
struct http_limits {
  double connect_s = 10;  ///< [s] resolving, connecting, TLS
  double first_s = 120;   ///< [s] from the sent request to the first byte of the answer's body
  double total_s = 600;   ///< [s] all of it
  std::size_t body_bytes = std::size_t{32} << 20U;
};

/// How a server wants to be asked.
struct openai_dialect {
  std::string model;
  bool stream = true;
  std::string max_tokens_key = "max_tokens";  ///< "max_completion_tokens" where reasoning counts
  std::string extra;                          ///< a JSON object merged into the request; empty: nothing
};

/// How often and how long a call is tried again.
struct retry_settings {
  int tries = 5;          ///< all in all
  double first_s = 1;     ///< [s] wait before the second try; doubles with each further one
  double longest_s = 60;  ///< [s] a longer Retry-After is not waited for: the call fails
};

/// How many calls a server takes.
struct call_limits {
  std::size_t concurrency = 8;
  double calls_per_minute = 0;  ///< 0: no limit
};

/// One server and the model that it serves.
struct endpoint_settings {
  std::string url;  ///< up to and including "/v1"
  std::string key;  ///< sent as a bearer token; empty: none
  std::string ca_file;
  openai_dialect dialect;
  http_limits limits;
  retry_settings retries;
  call_limits calls;
};

/// record: ask and write. replay: never ask. automatic: replay what is there, ask and write what is not.
enum class cassette_mode : std::uint8_t { off, record, replay, automatic };

/// Money for a million tokens.
struct token_price {
  double input = 0;
  double output = 0;
};

/// A model of a run.
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

/// All models of a run.
struct models_settings {
  std::vector<model_settings> models;
  choice_settings choice;
  double max_money = 0;  ///< no call begins that might exceed it; 0: no cap
  cassette_mode mode = cassette_mode::off;
  std::string cassette_path;
  bool ready = true;                 ///< false: models are never asked and no cassette is opened
  std::string knowledge;             ///< folder of pages; may be empty
  std::string skills;                ///< folder where what helped is written back; may be empty
  std::string knowledge_embeddings;  ///< model that ranks pages beside BM25; empty: none
  std::string prompts;               ///< folder of prompt files that replace shipped ones; may be empty
};

/// What was spent and what is out.
struct models_account {
  double spent = 0;
  double reserved = 0;  ///< upper estimate of the calls in flight
  std::uint64_t calls = 0;
  std::uint64_t replayed = 0;
  std::uint64_t changed = 0;  ///< replayed though the request is another than the recorded one
};

/// The models of a run; one object serves all its operators and may be used from any thread. Failures of
/// models are values (`chat_reply::status`).
class language_models;

/// Makes the models of a run, to be given to operators (llm_settings::models) and to the session
/// (session_plan::models). No server is asked yet.
/// @throws kevo::error: input (a wrong URL, a cassette that cannot be read), environment
std::shared_ptr<language_models> make_language_models(models_settings settings);

/// Tells the models what became of a candidate; the model that made it is credited.
void observe(language_models& models, const observation& seen);

/// What the calls of models have cost so far.
models_account account_of(const language_models& models);

}  // namespace kevo
