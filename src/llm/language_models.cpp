#include "src/llm/language_models.hpp"

#include <algorithm>

#include "src/llm/openai.hpp"
#include "src/llm/recorded_reply.hpp"

namespace kevo {
namespace {

constexpr std::size_t remembered_jobs = 4096;

chat_reply failed_reply(reply_status status, std::string detail) {
  chat_reply reply;
  reply.status = status;
  reply.detail = std::move(detail);
  return reply;
}

}  // namespace

double price_of(const token_price& price, std::int64_t tokens_in, std::int64_t tokens_out,
                std::int64_t tokens_cached) {
  const double cached = price.cached.value_or(price.input) * static_cast<double>(tokens_cached);
  return (price.input * static_cast<double>(tokens_in - tokens_cached) + cached +
          price.output * static_cast<double>(tokens_out)) /
         1e6;
}

language_models::language_models(models_settings settings)
    : settings_(std::move(settings)),
      tape_(settings_.cassette_path, settings_.ready ? settings_.mode : cassette_mode::off),
      arms_(settings_.models.size()),
      refused_(settings_.models.size()),
      warned_(settings_.models.size()),
      served_(settings_.models.size()),
      one_reply_(settings_.models.size()),
      rejections_(settings_.models.size()) {
  if (settings_.ready && !(settings_.knowledge.empty() && settings_.skills.empty()))
    knowledge_ = std::make_shared<knowledge_base>(settings_.knowledge, settings_.skills);
  skills_.use(knowledge_);
  for (const auto& model : settings_.models) servers_.push_back(std::make_unique<endpoint>(model.server));
  warn_of_missing_prices();
}

/// A limit of money holds only where calls have prices. A server that takes a key, or is reached by https, is
/// mostly one that charges.
void language_models::warn_of_missing_prices() {
  if (!settings_.ready || !(settings_.max_money > 0) || settings_.mode == cassette_mode::replay ||
      settings_.from_files)
    return;
  const auto priced = [](const model_settings& m) { return m.price.input > 0 || m.price.output > 0; };
  const bool none = std::none_of(settings_.models.begin(), settings_.models.end(), priced);
  std::string names;
  for (const auto& model : settings_.models) {
    const bool charges = !model.server.key.empty() || model.server.url.starts_with("https:");
    if (!priced(model) && (none || charges)) names += (names.empty() ? "'" : ", '") + model.name + "'";
  }
  if (names.empty()) return;
  warnings_.push_back(
      "llm.max_money has no effect on " + names +
      ", because no price is set: add price: {input: ..., output: ...}, money per million tokens");
}

/// Sets money aside. Where calls in flight hold what is missing, waits for what they really cost; whoever
/// waits holds nothing.
bool language_models::reserve(double amount, const std::stop_token& stop) {
  std::unique_lock lock(guard_);
  const double cap = settings_.max_money;
  const auto fits = [&] { return account_.spent + account_.reserved + amount <= cap; };
  const auto hopeless = [&] { return account_.spent + amount > cap; };
  if (cap > 0 && !(released_.wait(lock, stop, [&] { return fits() || hopeless(); }) && fits())) return false;
  account_.reserved += amount;
  return true;
}

/// The answer of a turn that is repeated; nothing if this one is new.
std::optional<chat_reply> language_models::repeat(const call_plan& what, const variation_request& owner) {
  const std::scoped_lock lock(guard_);
  const auto turn = recalled_.find(owner.job);
  if (turn == recalled_.end()) return std::nullopt;
  const model_call* call = recalled(owner.job, what.origin.operator_name, what.sample);
  if (call == nullptr) {
    if (!turn->second.alone) return std::nullopt;
    return failed_reply(
        reply_status::unrecorded,
        "the journal records no further model call in this turn of " + what.origin.operator_name);
  }
  chat_reply reply = reply_of_json(call->response);
  reply.tokens_in = call->tokens_in;
  reply.tokens_out = call->tokens_out;
  reply.token_ids = call->token_ids;
  reply.log_probabilities = call->log_probabilities;
  reply.wall_s = call->wall_s;
  ++account_.replayed;
  if (call->messages != what.messages) {
    ++account_.changed;
    owner.note("[replay] a request of " + what.origin.operator_name + " differs from the recorded one\n");
  }
  arms_[what.origin.model].calls += 1;
  arms_[what.origin.model].cost += call->money;
  auto& calls = turn->second.calls;
  calls.erase(calls.begin() + (call - calls.data()));
  return reply;
}

/// The answer of the cassette; nothing if a model has to be asked.
std::optional<chat_reply> language_models::replay(const cassette_key& key, const std::string& request_id,
                                                  const variation_request& owner) {
  if (tape_.mode() != cassette_mode::replay && tape_.mode() != cassette_mode::automatic) return std::nullopt;
  auto found = tape_.find(key);
  // A call that there was no money or no valid key for may have it now.
  const bool usable =
      found && (tape_.mode() == cassette_mode::replay || (found->reply.status != reply_status::over_budget &&
                                                          found->reply.status != reply_status::unauthorized));
  if (!usable) {
    if (tape_.mode() == cassette_mode::automatic) return std::nullopt;
    return failed_reply(reply_status::unrecorded,
                        "the cassette " + tape_.path() + " holds no reply " + to_string(key));
  }
  const bool changed = !found->request.empty() && found->request != request_id;
  if (changed) owner.note("[cassette] the request of " + to_string(key) + " differs from the recorded one\n");
  const std::scoped_lock lock(guard_);
  ++account_.replayed;
  account_.changed += changed ? 1U : 0U;
  return std::move(found->reply);
}

/// The reply of a file. Without one, the call is cancelled, and kept nowhere: its turn is made again.
chat_reply language_models::read_from_file(const call_plan& what, const variation_request& owner) {
  if (what.chat == nullptr)
    return failed_reply(reply_status::rejected, "embeddings do not come from files (llm.ask: files)");
  auto reply =
      files_.answer({.job = owner.job, .operator_name = what.origin.operator_name, .number = what.number},
                    what.request, *what.chat);
  if (!reply) return failed_reply(reply_status::cancelled, "the reply is awaited in a file");
  if (!reply->counted) {
    reply->tokens_in = estimated_tokens(*what.chat);
    reply->tokens_out = estimated_tokens(reply->content.size());
    reply->tokens_estimated = reply->tokens_in + reply->tokens_out;
  }
  return *std::move(reply);
}

/// Asks, within what may be spent. Every try has its price set aside before it begins.
chat_reply language_models::spend(const call_plan& what, const variation_request& owner) {
  if (settings_.from_files) return read_from_file(what, owner);
  const std::stop_token& begins_until = owner.ending.stop_possible() ? owner.ending : owner.stop;
  const char* const ended =
      owner.stop.stop_requested() ? "cancelled" : "the run is ending, so that no new request is sent";
  if (begins_until.stop_requested()) return failed_reply(reply_status::cancelled, ended);
  const auto refusal = [&] {
    const std::scoped_lock lock(guard_);
    return refused_[what.origin.model];
  }();
  if (!refusal.empty()) {
    chat_reply reply = failed_reply(reply_status::unauthorized, refusal);
    reply.last_model = !may_ask(what.origin.asked_by_name, what.origin.tier);
    return reply;
  }
  if (!reserve(what.most, begins_until))
    return begins_until.stop_requested()
               ? failed_reply(reply_status::cancelled, ended)
               : failed_reply(reply_status::over_budget, "llm.max_money leaves no room for another call");
  {
    const std::scoped_lock lock(guard_);
    ++account_.calls;
    if (what.chat != nullptr) rejections_[what.origin.model].asked = true;
  }
  chat_reply reply = try_live(what, owner);
  // A turn is not given up because a server is being started anew.
  while (wait_for_server(reply, begins_until) && reserve(what.most, begins_until)) {
    chat_reply next = try_live(what, owner);
    next.tries += reply.tries;
    next.tokens_in += reply.tokens_in;
    next.tokens_cached += reply.tokens_cached;
    next.tokens_out += reply.tokens_out;
    next.tokens_estimated += reply.tokens_estimated;
    next.wall_s += reply.wall_s;
    reply = std::move(next);
  }
  if (reply.status == reply_status::unauthorized) {
    const endpoint_settings& server = settings_.models[what.origin.model].server;
    const bool keyless = server.key.empty() && server.headers.empty();
    reply.detail += " (check key_env or key_file of this model";
    reply.detail += keyless ? ", no key was sent; it is not asked again)" : "; it is not asked again)";
    {
      const std::scoped_lock lock(guard_);
      refused_[what.origin.model] = reply.detail;
    }
    reply.last_model = !may_ask(what.origin.asked_by_name, what.origin.tier);
  }
  conclude(what.origin, reply);
  return reply;
}

/// Asks once, as often as the server's settings say.
chat_reply language_models::try_live(const call_plan& what, const variation_request& owner) {
  const std::stop_token& begins_until = owner.ending.stop_possible() ? owner.ending : owner.stop;
  const token_price& price = settings_.models[what.origin.model].price;
  return what.live({.charge =
                        [&](const chat_reply& tried) {
                          const std::scoped_lock lock(guard_);
                          account_.reserved -= what.most;
                          account_.spent +=
                              price_of(price, tried.tokens_in, tried.tokens_out, tried.tokens_cached);
                          released_.notify_all();
                          hear(what.origin.model, tried);
                        },
                    .admit = [&] { return reserve(what.most, begins_until); },
                    .ending = owner.ending});
}

language_models::call_place language_models::place_of(const call_plan& what) {
  const std::string& model = settings_.models[what.origin.model].name;
  const std::string sequence = tape_.sequence(what.origin.operator_name, what.origin.turn);
  content_hasher hash;
  const std::scoped_lock lock(guard_);
  return {{sequence, model, ordinals_[{sequence, model}]++},
          to_string(hash.text("kevo request 1").text(what.request).finish())};
}

/// Books a call and has journal and cassette keep it.
void language_models::keep(const call_plan& what, const call_place& place, const chat_reply& reply,
                           bool recorded, const variation_request& owner) {
  const call_origin& origin = what.origin;
  const model_settings& model = settings_.models[origin.model];
  const double money = price_of(model.price, reply.tokens_in, reply.tokens_out, reply.tokens_cached);
  owner.book({.money = money, .tokens_in = reply.tokens_in, .tokens_out = reply.tokens_out});
  owner.record({.operator_name = origin.operator_name,
                .model = model.name,
                .group = std::to_string(owner.job),
                .turn = origin.turn,
                .sample = what.sample,
                .messages = what.messages,
                .response = reply_json(reply),
                .token_ids = reply.token_ids,
                .log_probabilities = reply.log_probabilities,
                .sampling = what.sampling,
                .policy_version = model.policy_version.empty() ? reply.model : model.policy_version,
                .request_key = to_string(place.key),
                .tokens_in = reply.tokens_in,
                .tokens_out = reply.tokens_out,
                .money = money,
                .wall_s = reply.wall_s});
  {
    const std::scoped_lock lock(guard_);
    arms_[origin.model].calls += 1;
    arms_[origin.model].cost += money;
  }
  // Last, because it may throw: what was paid for is booked by then.
  if (!recorded && tape_.mode() != cassette_mode::off && reply.status != reply_status::cancelled)
    tape_.add(place.key, {place.request_id, reply});
}

chat_reply language_models::carry_out(call_plan what, const variation_request& owner) {
  if (settings_.from_files) what.number = files_.next_number(owner.job, what.origin.operator_name);
  if (auto known = repeat(what, owner)) return *std::move(known);
  const call_place place = place_of(what);
  auto recorded = replay(place.key, place.request_id, owner);
  chat_reply reply = recorded ? *recorded : spend(what, owner);
  if (settings_.from_files && reply.status == reply_status::cancelled) return reply;
  keep(what, place, reply, recorded.has_value(), owner);
  return reply;
}

/// Who is asked later in a turn judges or advises.
void language_models::remember_asked(std::uint64_t job, std::size_t model) {
  const std::scoped_lock lock(guard_);
  asked_.try_emplace(job, model);
  while (asked_.size() > remembered_jobs) asked_.erase(asked_.begin());
}

/// The plan refers to the request and to its owner.
language_models::call_plan language_models::plan_of(const call_origin& origin, const chat_request& request,
                                                    const variation_request& owner) {
  const model_settings& model = settings_.models[origin.model];
  // The prompt's estimate is high, so that the cap holds unless a server counts more than a token for 3
  // bytes.
  return {
      .origin = origin,
      .messages = messages_json(request.messages),
      .request = chat_body(request, model.server.dialect),
      .sampling = sampling_json(request.sampling),
      .most = price_of(model.price, estimated_tokens(request), request.sampling.max_tokens * request.replies),
      .live = [&, at = origin.model](
                  const call_budget& budget) { return servers_[at]->chat(request, owner.stop, budget); },
      .chat = &request};
}

chat_reply language_models::ask(const call_origin& origin, const chat_request& request,
                                const variation_request& owner) {
  remember_asked(owner.job, origin.model);
  return carry_out(plan_of(origin, request, owner), owner);
}

void language_models::open_knowledge() {
  if (!knowledge_ && !(settings_.knowledge.empty() && settings_.skills.empty()))
    knowledge_ = std::make_shared<knowledge_base>(settings_.knowledge, settings_.skills, skill_writing::off);
  skills_.use(knowledge_);
}

void language_models::remember(double spent, const std::vector<std::string>& request_keys) {
  const std::scoped_lock lock(guard_);
  account_.spent += spent;
  for (const std::string& text : request_keys) {
    const auto last = text.rfind('/');
    const auto middle = last == std::string::npos || last == 0 ? last : text.rfind('/', last - 1);
    if (middle == std::string::npos) continue;
    std::uint64_t& next = ordinals_[{text.substr(0, middle), text.substr(middle + 1, last - middle - 1)}];
    next = std::max<std::uint64_t>(next, std::stoull(text.substr(last + 1)) + 1);
  }
}

models_account language_models::account() const {
  const std::scoped_lock lock(guard_);
  return account_;
}

std::size_t language_models::concurrency() const {
  std::size_t all = 0;
  for (const auto& model : settings_.models) all += model.server.calls.concurrency;
  return std::max<std::size_t>(all, 1);
}

std::string language_models::notes() const {
  const std::scoped_lock lock(guard_);
  return notes_;
}

void language_models::set_notes(std::string text) {
  const std::scoped_lock lock(guard_);
  notes_ = std::move(text);
}

std::shared_ptr<language_models> make_language_models(models_settings settings) {
  return std::make_shared<language_models>(std::move(settings));
}

void observe(language_models& models, const observation& seen) {
  models.observe(seen);
}

models_account account_of(const language_models& models) {
  return models.account();
}

}  // namespace kevo
