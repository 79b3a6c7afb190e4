#pragma once
// The language models that operators ask: servers that speak the chat-completions protocol (vLLM, SGLang,
// llama.cpp, hosted services), with limits, retries, prices and cassettes. Compiled: link kevo::kevo.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kevo/llm/chat.hpp>
#include <kevo/portfolio.hpp>
#include <kevo/select.hpp>

namespace kevo {

/// Time and size limits of one HTTP request.
struct http_limits {
  double connect_s = 10;  ///< [s] maximum time to resolve the name and connect, and again for TLS
  double first_s = 120;   ///< [s] maximum time from the sent request to the first byte of the response body
  double idle_s = 120;    ///< [s] maximum time between two parts of the response body
  double total_s = 600;   ///< [s] maximum time of the whole request
  std::size_t body_bytes = std::size_t{32} << 20U;  ///< [bytes] maximum size of the response body
};

/// What a request to the server contains, within the chat-completions protocol.
struct openai_dialect {
  std::string model;   ///< name of the model on the server
  bool stream = true;  ///< whether the response is requested as a stream of server-sent events
  /// Whether one request may ask for several replies (field `n`). If not, or if the server does not give
  /// them, each is asked for by a request of its own.
  bool several_replies = true;
  /// Name of the field that limits the tokens of a reply; some servers of reasoning models want
  /// "max_completion_tokens".
  std::string max_tokens_key = "max_tokens";
  std::string extra;  ///< JSON object whose fields are added to each request; empty adds nothing
};

/// How often a failed call is repeated, and how long kevo waits before it is.
struct retry_settings {
  int tries = 5;  ///< maximum number of tries, the first one included
  /// [s] Wait before the second try. Each further wait is twice as long, at most `longest_s`. Each is
  /// multiplied by a random number from 0.5 to 1.
  double first_s = 1;
  /// [s] Longest wait before a try. If a server asks for a longer one (Retry-After), the call fails.
  double longest_s = 60;
};

/// Limits of the calls to one server.
struct call_limits {
  std::size_t concurrency = 8;  ///< maximum number of calls at the same time
  double calls_per_minute = 0;  ///< maximum rate; 0 disables the limit
};

/// A header that is sent with each request.
struct request_header {
  std::string name;     ///< it replaces a header of kevo's own that has the same name
  std::string value;    ///< one line
  bool secret = false;  ///< whether the value is removed from everything that the server says
};

/// One server and the model that it serves.
struct endpoint_settings {
  /// Base URL, up to and including "/v1". A query (after "?") is sent with each request.
  std::string url;
  std::string key;         ///< API key, sent as a bearer token; empty sends none
  std::string ca_file;     ///< file of trusted certificates (PEM); empty uses those of the system
  openai_dialect dialect;  ///< what a request contains
  std::vector<request_header> headers;  ///< sent in addition to kevo's own
  /// A program and its arguments that answer in place of a server (docs/llm.md); empty: there is a server.
  std::vector<std::string> command;
  std::string directory;   ///< in which the program is started; empty: the current one
  http_limits limits;      ///< of one HTTP request
  retry_settings retries;  ///< how often a failed call is repeated
  call_limits calls;       ///< of all calls to this server
};

/// How recorded calls (a cassette) are used. off: there is no cassette. record: the models are asked, and
/// each call is recorded. replay: every reply comes from the cassette, and no server is asked. automatic:
/// recorded calls are answered from the cassette; for others the models are asked, and the call is recorded.
enum class cassette_mode : std::uint8_t { off, record, replay, automatic };

/// Prices per million tokens, in the currency of `models_settings::max_money`.
struct token_price {
  double input = 0;   ///< price of the tokens of prompts
  double output = 0;  ///< price of the tokens of replies
  /// Price of the tokens of prompts that the server had in its cache; nothing: that of the others.
  std::optional<double> cached{};
};

/// A model of a run.
struct model_settings {
  std::string name;  ///< name of the model in configs, journals and cassettes
  std::string
      tier;  ///< group of models that an operator may ask for, such as "cheap" or "strong"; may be empty
  double weight = 1;  ///< relative probability of being chosen; 0: only operators that name the model use it
  token_price price;  ///< 0 if calls cost nothing
  std::string policy_version;  ///< label of the model weights, stored with each call for training
  endpoint_settings server;    ///< where the model is found
};

/// How the model of a call is chosen among the models of a tier: by `portfolio` if there is one, else by the
/// bandit of ShinkaEvolve if `bandit` is true, else at random by weight.
struct choice_settings {
  bool bandit = false;       ///< whether the bandit of ShinkaEvolve chooses; ignored if there is a portfolio
  any_portfolio portfolio;   ///< ucb1, thompson, exp3, ... (kevo/vary/); may be empty
  double exploration = 0.2;  ///< bandit: probability of a uniform draw (ShinkaEvolve's epsilon)
  double decay = 0.95;       ///< bandit: factor by which older rewards lose weight with each new reward
  double cost_weight =
      0.5;  ///< bandit: weight of a model's mean price per call, relative to the most expensive model
};

/// All models of a run.
struct models_settings {
  std::vector<model_settings> models;  ///< in the order of the config
  choice_settings choice;              ///< how the model of a call is chosen
  double max_money =
      0;  ///< limit of the costs of all calls: a call that might exceed it is not sent; 0 disables it
  /// [s] A run whose models have all been silent for this long ends with an error. Until then, a server that
  /// cannot be reached is asked again. 0: such a server is not asked again, and the run goes on.
  double patience_s = 120;
  cassette_mode mode = cassette_mode::off;  ///< how recorded calls are used
  std::string cassette_path;                ///< file of the cassette; unused if `mode` is off
  /// Whether every reply comes from a file in the folder of the run, and no server or program is asked. A
  /// turn without its reply writes the request into a file, and the session ends; a resumed session reads the
  /// reply.
  bool from_files = false;
  bool ready = true;      ///< false: no model is asked and no cassette is opened, as for printing a config
  std::string knowledge;  ///< folder of knowledge pages; empty: none
  std::string skills;     ///< folder for pages distilled from confirmed improvements; empty disables them
  std::string knowledge_embeddings;  ///< name of the model whose embeddings help to rank pages; empty: BM25
                                     ///< alone ranks
  std::string prompts;               ///< folder of prompt files that replace the shipped ones; empty: none
};

/// Costs and numbers of the calls so far.
struct models_account {
  double spent = 0;            ///< costs of the finished calls
  double reserved = 0;         ///< upper estimate of the costs of the calls in progress
  std::uint64_t calls = 0;     ///< number of calls that were sent to a server
  std::uint64_t replayed = 0;  ///< number of calls that were answered from a recording
  std::uint64_t changed = 0;   ///< of these: number of calls whose request differs from the recorded one
};

/// The models of a run. One object serves all operators of the run; it may be used from any thread. Failures
/// of models are values (`chat_reply::status`).
class language_models;

/// Makes the models of a run. Give the result to the operators (llm_settings::models) and to the session
/// (session_plan::models). Sends no request.
/// @throws kevo::error: input (a wrong URL, a cassette that cannot be read), environment
std::shared_ptr<language_models> make_language_models(models_settings settings);

/// Tells the models the result of a candidate, which rewards the model that made it.
void observe(language_models& models, const observation& seen);

/// What the calls of models have cost so far.
models_account account_of(const language_models& models);

}  // namespace kevo
