#pragma once
// The language models of a run: which one is asked, what it costs, what is recorded. One object serves all
// operators of a run.

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kevo/content_id.hpp>
#include <kevo/llm/client.hpp>
#include <kevo/model_call.hpp>
#include <kevo/portfolio.hpp>
#include <kevo/random.hpp>
#include <kevo/vary.hpp>

#include "src/llm/awaited_replies.hpp"
#include "src/llm/cassette.hpp"
#include "src/llm/chat.hpp"
#include "src/llm/endpoint.hpp"
#include "src/llm/knowledge.hpp"
#include "src/llm/skills.hpp"

namespace kevo {

/// What tokens cost; `tokens_cached` are those of `tokens_in` that the server had in its cache.
double price_of(const token_price& price, std::int64_t tokens_in, std::int64_t tokens_out,
                std::int64_t tokens_cached = 0);

/// Who asks, and which turn of which conversation it is.
struct call_origin {
  std::string operator_name;
  std::size_t model = 0;
  std::int64_t turn = 0;
  std::string asked_by_name{};  ///< the name by which `model` was chosen; empty: it is one of `tier`
  std::string tier{};           ///< "" is any
};

/// Thread-safe. Failures of models are values; kevo::error is thrown only for cassettes that cannot be
/// written.
///
/// What it learns (the choice of models, notes, knowledge) is not saved: a resumed run repeats its recorded
/// turns by `recall`, and operators come to the state that they had.
class language_models {
 public:
  explicit language_models(models_settings settings);

  /// Index of a model of `tier` ("" is any). Throws kevo::error (input) if there is none.
  std::size_t choose(const std::string& tier, rng& random);
  /// Whether a model of `tier` ("" is any), or the one named `name` if that is not empty, may still be asked:
  /// one whose server refused the key is not asked again.
  bool may_ask(const std::string& name, const std::string& tier) const;
  /// Throws kevo::error (environment) if no model can be asked any more: a server refused the key and no
  /// other model may be asked instead, or none has answered for `models_settings::patience_s`.
  void require_answers() const;
  /// What users should hear at once, in sentences: a server that does not answer or refuses the key. Each is
  /// given once.
  std::vector<std::string> take_warnings();
  /// Index of a named model. Throws kevo::error (input) if there is none.
  std::size_t named(const std::string& name) const;
  /// One call: reserves its price, asks or replays, books tokens and money with `owner`, has the journal keep
  /// it.
  chat_reply ask(const call_origin& origin, const chat_request& request, const variation_request& owner);
  /// `count` replies to one request, each booked, journaled and in cassettes like a call of its own. What no
  /// record answers is asked by one request where the server can give several replies, else by one request
  /// each, at the same time. Replies that failed together are journaled once.
  std::vector<chat_reply> ask(const call_origin& origin, const chat_request& request, std::size_t count,
                              const variation_request& owner);
  /// Cosines of the first text with each of the others, by the embedding model `name`; empty if that failed.
  /// Booked, journaled and in cassettes like a call, by the operator name "embeddings". At most 256 texts.
  std::vector<double> similarities(const std::string& name, const std::vector<std::string>& texts,
                                   const variation_request& owner);
  /// At most `limit` pages of knowledge that fit, best first: by words, and where the config names an
  /// embedding model also by meaning, joined by reciprocal ranks (Cormack, Clarke and Buettcher, SIGIR 2009,
  /// k = 60).
  std::vector<knowledge_page> pages(const std::string& query, const knowledge_filter& filter,
                                    std::size_t limit, const variation_request& owner);
  /// Credits the model that made a candidate: the one that its turn asked first.
  void observe(const observation& seen);
  /// A turn ended without a program: its model has earned nothing.
  void fruitless(std::uint64_t job);
  /// After a resume: what earlier sessions spent, and the keys of their recorded calls.
  void remember(double spent, const std::vector<std::string>& request_keys);

  /// From now on the calls of turn `job` are answered by these, which it made before: nothing is asked,
  /// booked or recorded for them. What comes after them is asked, or with `alone` ends as `unrecorded`.
  void recall(std::uint64_t job, std::vector<model_call> calls, bool alone);
  void forget(std::uint64_t job);
  /// The model that the next recalled call of an operator was made to; nothing if there is none.
  std::optional<std::size_t> recalled_model(std::uint64_t job, const std::string& operator_name) const;
  /// The messages of the next recalled call of an operator, JSON; nothing if there is none.
  std::optional<std::string> recalled_messages(std::uint64_t job, const std::string& operator_name) const;
  /// Sees every event of the run, in order, also those of the past when a run is resumed or replayed.
  void observe_event(const event& each) { skills_.observe_event(each); }
  skill_tracker& skills() { return skills_; }
  /// Whether turn `job` is repeated from its record.
  bool repeats(std::uint64_t job) const;
  /// For a replay, which writes nothing: the pages, without skills being written.
  void open_knowledge();

  /// Whether the run has an operator that tries values of tunables; prompts then say how they are written.
  bool tunes() const { return tunes_; }
  void set_tunes(bool tunes) { tunes_ = tunes; }

  /// With `models_settings::from_files`: the folder of requests and replies.
  void keep_requests_in(std::string folder) { files_.use(std::move(folder)); }
  /// The requests that wait for a reply in a file, and whether a turn has one.
  const awaited_replies& awaited() const { return files_; }
  bool awaits(std::uint64_t turn) const { return files_.awaits(turn); }

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
  /// What a call is, whether of chat or of embeddings.
  struct call_plan {
    call_origin origin;
    std::string messages;       ///< JSON
    std::string request;        ///< what is hashed
    std::string sampling = {};  ///< JSON
    double most = 0;            ///< money that it may cost
    std::function<chat_reply(const call_budget&)> live;
    std::int64_t sample = 0;             ///< which of several replies to one request it is
    const chat_request* chat = nullptr;  ///< null: it is a request for embeddings
    std::uint64_t number = 0;            ///< of the call in its turn, where replies come from files
  };
  /// Where a call is kept: its key in cassettes, and the content id of its request.
  struct call_place {
    cassette_key key;
    std::string request_id;
  };
  /// The replies to one request that are being collected.
  struct sampled;
  struct recalled_turn {
    std::vector<model_call> calls;
    bool alone = false;
  };
  chat_reply carry_out(call_plan what, const variation_request& owner);
  call_place place_of(const call_plan& what);
  void keep(const call_plan& what, const call_place& place, const chat_reply& reply, bool recorded,
            const variation_request& owner);
  call_plan plan_of(const call_origin& origin, const chat_request& request, const variation_request& owner);
  void remember_asked(std::uint64_t job, std::size_t model);
  void ask_at_once(sampled& all);
  void ask_each(sampled& all);
  std::optional<chat_reply> repeat(const call_plan& what, const variation_request& owner);
  std::optional<chat_reply> replay(const cassette_key& key, const std::string& request_id,
                                   const variation_request& owner);
  chat_reply read_from_file(const call_plan& what, const variation_request& owner);
  chat_reply spend(const call_plan& what, const variation_request& owner);
  chat_reply try_live(const call_plan& what, const variation_request& owner);
  void warn_of_missing_prices();
  bool wait_for_server(const chat_reply& failed, const std::stop_token& stop);
  void hear(std::size_t model, const chat_reply& tried);
  void conclude(const call_origin& origin, const chat_reply& reply);
  bool out_of_patience() const;
  const model_call* recalled(std::uint64_t turn, const std::string& operator_name,
                             std::optional<std::int64_t> sample = {}) const;
  std::vector<double> cosines_by(const call_origin& origin, const std::vector<std::string>& texts,
                                 const std::vector<content_id>& ids, const std::stop_token& stop,
                                 const call_budget& budget, chat_reply& reply);
  void credit(std::uint64_t job, double reward, double cost_s);
  bool reserve(double amount, const std::stop_token& stop);
  void leave_out_refused(std::vector<std::size_t>& choices, std::vector<double>& weights) const;
  std::size_t pull(const std::vector<std::size_t>& choices, rng& random);
  std::size_t pick(const std::vector<std::size_t>& choices, rng& random);
  double mean_cost(std::size_t model) const;

  models_settings settings_;
  cassette tape_;
  std::shared_ptr<knowledge_base> knowledge_;
  skill_tracker skills_;
  std::vector<std::unique_ptr<endpoint>> servers_;
  mutable std::mutex guard_;
  std::condition_variable_any released_;  ///< money that was set aside is free again, or spent
  models_account account_;
  std::map<std::pair<std::string, std::string>, std::uint64_t> ordinals_;
  std::vector<arm> arms_;
  std::vector<std::string>
      refused_;  ///< by model: what the server said when it refused the key; empty: it did not
  std::map<std::uint64_t, std::size_t> asked_;  ///< job -> model, of the latest few thousand
  std::map<std::uint64_t, recalled_turn> recalled_;
  std::map<content_id, std::vector<float>> vectors_;  ///< of texts, of the latest few thousand
  std::deque<content_id> vectors_by_age_;
  std::string notes_;
  bool tunes_ = false;  ///< set before the run begins
  /// When the first try failed since a model answered last; nothing while they answer.
  std::optional<std::chrono::steady_clock::time_point> silent_since_;
  /// By model: when its silence was warned of last.
  std::vector<std::optional<std::chrono::steady_clock::time_point>> warned_;
  std::vector<bool> served_;     ///< by model: whether it took a request
  std::vector<bool> one_reply_;  ///< by model: whether it gave one reply to a request for several
  std::vector<std::string> warnings_;
  /// By model: whether it was asked to chat, and how many of its latest calls were rejected.
  struct rejections {
    bool asked = false;
    int in_a_row = 0;
  };
  bool rejects_everything(std::size_t model) const;
  std::vector<rejections> rejections_;
  awaited_replies files_;
  std::string outage_;  ///< why no model can be asked any more; empty: they can
};

}  // namespace kevo
