#include "src/llm/language_models.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/llm/openai.hpp"

namespace kevo {
namespace {

constexpr std::size_t remembered_jobs = 4096;
constexpr std::size_t remembered_vectors = 4096;
constexpr std::size_t most_embedded_pages = 255;
constexpr std::size_t embedded_page_bytes = 2000;

double price_of(const token_price& price, std::int64_t in, std::int64_t out) {
  return (price.input * static_cast<double>(in) + price.output * static_cast<double>(out)) / 1e6;
}

double cosine(const std::vector<float>& a, const std::vector<float>& b) {
  double dot = 0;
  double aa = 0;
  double bb = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
    dot += double{a[i]} * b[i];
    aa += double{a[i]} * a[i];
    bb += double{b[i]} * b[i];
  }
  return aa > 0 && bb > 0 ? dot / std::sqrt(aa * bb) : 0;
}

std::string list_text(const std::vector<double>& numbers) {
  std::string text;
  for (const double x : numbers) text += fmt::format("{}{}", text.empty() ? "" : " ", x);
  return text;
}
std::vector<double> list_of(const std::string& text) {
  std::vector<double> numbers;
  const char* at = text.data();
  const char* const end = at + text.size();
  while (at < end) {
    double x = 0;
    const auto [stop, failure] = std::from_chars(at, end, x);
    if (failure != std::errc()) return {};
    numbers.push_back(x);
    at = std::find_if(stop, end, [](char c) { return c != ' ' && c != '\n'; });
  }
  return numbers;
}

chat_reply failed(reply_status status, std::string detail) {
  chat_reply reply;
  reply.status = status;
  reply.detail = std::move(detail);
  return reply;
}

}  // namespace

language_models::language_models(models_settings settings)
    : settings_(std::move(settings)),
      tape_(settings_.cassette_path, settings_.ready ? settings_.mode : cassette_mode::off),
      arms_(settings_.models.size()) {
  if (settings_.ready && !(settings_.knowledge.empty() && settings_.skills.empty()))
    knowledge_ = std::make_shared<knowledge_base>(settings_.knowledge, settings_.skills);
  for (const auto& model : settings_.models) servers_.push_back(std::make_unique<endpoint>(model.server));
}

std::size_t language_models::named(const std::string& name) const {
  for (std::size_t i = 0; i < settings_.models.size(); ++i) {
    if (settings_.models[i].name == name) return i;
  }
  throw error(error_code::input, "llm.models has no model named '" + name + "'");
}

std::size_t language_models::choose(const std::string& tier, rng& random) {
  std::vector<std::size_t> choices;
  std::vector<double> weights;
  for (std::size_t i = 0; i < settings_.models.size(); ++i) {
    if (!tier.empty() && settings_.models[i].tier != tier) continue;
    if (!(settings_.models[i].weight > 0)) continue;  // embeddings, judges: asked by name alone
    choices.push_back(i);
    weights.push_back(settings_.models[i].weight);
  }
  if (choices.empty())
    throw error(error_code::input, "llm.models has no model of tier '" + tier + "' with a positive weight");
  if (choices.size() == 1) return choices.front();
  if (settings_.choice.portfolio) return pick(choices, random);
  if (settings_.choice.bandit) return pull(choices, random);
  return choices[random.weighted(weights)];
}

// UCB1 on decayed means, less what a call costs (ShinkaEvolve's cost-aware bandit).
std::size_t language_models::pull(const std::vector<std::size_t>& choices, rng& random) {
  if (random.chance(settings_.choice.exploration)) return choices[random.below(choices.size())];
  const std::scoped_lock lock(guard_);
  double total = 0;
  double dearest = 0;
  for (const std::size_t i : choices) {
    if (arms_[i].calls == 0) return i;
    total += arms_[i].pulls;
    dearest = std::max(dearest, mean_cost(i));
  }
  double best = -1e300;
  std::size_t chosen = choices.front();
  for (const std::size_t i : choices) {
    const double n = std::max(arms_[i].pulls, 0.5);  // the first turns may still be out
    const double value = arms_[i].reward / n + std::sqrt(2 * std::log(std::max(total, 1.0) + 1) / n) -
                         (dearest > 0 ? settings_.choice.cost_weight * mean_cost(i) / dearest : 0);
    if (value > best) {
      best = value;
      chosen = i;
    }
  }
  return chosen;
}

// The portfolio knows all models; those of another tier may not run now.
std::size_t language_models::pick(const std::vector<std::size_t>& choices, rng& random) {
  const std::scoped_lock lock(guard_);
  const auto available = std::make_unique<bool[]>(arms_.size());
  for (const std::size_t i : choices) available[i] = true;
  return settings_.choice.portfolio.pick({available.get(), arms_.size()}, random);
}

double language_models::mean_cost(std::size_t model) const {
  return arms_[model].calls > 0 ? arms_[model].cost / arms_[model].calls : 0.0;
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

const model_call* language_models::recalled(std::uint64_t job, const std::string& operator_name) const {
  const auto turn = recalled_.find(job);
  if (turn == recalled_.end()) return nullptr;
  const auto& calls = turn->second.calls;
  const auto it = std::find_if(calls.begin(), calls.end(),
                               [&](const model_call& c) { return c.operator_name == operator_name; });
  return it == calls.end() ? nullptr : &*it;
}

/// The answer of a turn that is repeated; nothing if this one is new.
std::optional<chat_reply> language_models::repeat(const call_plan& what, const variation_request& owner) {
  const std::scoped_lock lock(guard_);
  const auto turn = recalled_.find(owner.job);
  if (turn == recalled_.end()) return std::nullopt;
  const model_call* call = recalled(owner.job, what.origin.operator_name);
  if (call == nullptr) {
    if (!turn->second.alone) return std::nullopt;
    return failed(reply_status::unrecorded,
                  "the record of this turn holds no further call of " + what.origin.operator_name);
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
    owner.note("[replay] a request of " + what.origin.operator_name + " is not the recorded one\n");
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
  // A call that there was no money for may have it now.
  const bool usable =
      found && (tape_.mode() == cassette_mode::replay || found->reply.status != reply_status::over_budget);
  if (!usable) {
    if (tape_.mode() == cassette_mode::automatic) return std::nullopt;
    return failed(reply_status::unrecorded,
                  "the cassette " + tape_.path() + " holds no reply " + to_string(key));
  }
  const bool changed = !found->request.empty() && found->request != request_id;
  if (changed) owner.note("[cassette] the request of " + to_string(key) + " is not the recorded one\n");
  const std::scoped_lock lock(guard_);
  ++account_.replayed;
  account_.changed += changed ? 1U : 0U;
  return std::move(found->reply);
}

/// Asks, within what may be spent. Every try has its price set aside before it begins.
chat_reply language_models::spend(const call_plan& what, const std::stop_token& stop) {
  if (!reserve(what.most, stop))
    return stop.stop_requested()
               ? failed(reply_status::cancelled, "cancelled")
               : failed(reply_status::over_budget, "llm.max_money leaves no room for another call");
  {
    const std::scoped_lock lock(guard_);
    ++account_.calls;
  }
  const token_price& price = settings_.models[what.origin.model].price;
  return what.live({.charge =
                        [&](const chat_reply& tried) {
                          const std::scoped_lock lock(guard_);
                          account_.reserved -= what.most;
                          account_.spent += price_of(price, tried.tokens_in, tried.tokens_out);
                          released_.notify_all();
                        },
                    .admit = [&] { return reserve(what.most, stop); }});
}

chat_reply language_models::carry_out(const call_plan& what, const variation_request& owner) {
  if (auto known = repeat(what, owner)) return *std::move(known);
  const call_origin& origin = what.origin;
  const model_settings& model = settings_.models[origin.model];
  const cassette_key key = [&] {
    const std::scoped_lock lock(guard_);
    return cassette_key{origin.operator_name, model.name, ordinals_[{origin.operator_name, model.name}]++};
  }();
  content_hasher hash;
  const std::string request_id = to_string(hash.text("kevo request 1").text(what.request).finish());
  auto recorded = replay(key, request_id, owner);
  const chat_reply reply = recorded ? *recorded : spend(what, owner.stop);
  const double money = price_of(model.price, reply.tokens_in, reply.tokens_out);
  owner.book({.money = money, .tokens_in = reply.tokens_in, .tokens_out = reply.tokens_out});
  owner.record({.operator_name = origin.operator_name,
                .model = model.name,
                .group = std::to_string(owner.job),
                .turn = origin.turn,
                .messages = what.messages,
                .response = reply_json(reply),
                .token_ids = reply.token_ids,
                .log_probabilities = reply.log_probabilities,
                .sampling = what.sampling,
                .policy_version = model.policy_version.empty() ? reply.model : model.policy_version,
                .request_key = to_string(key),
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
    tape_.add(key, {request_id, reply});
  return reply;
}

chat_reply language_models::ask(const call_origin& origin, const chat_request& request,
                                const variation_request& owner) {
  {
    const std::scoped_lock lock(guard_);
    asked_.try_emplace(owner.job, origin.model);  // who is asked later judges or advises
    while (asked_.size() > remembered_jobs) asked_.erase(asked_.begin());
  }
  const model_settings& model = settings_.models[origin.model];
  // The prompt's estimate is high, so that the cap holds unless a server counts more than a token for 3
  // bytes.
  return carry_out({.origin = origin,
                    .messages = messages_json(request.messages),
                    .request = chat_body(request, model.server.dialect),
                    .sampling = sampling_json(request.sampling),
                    .most = price_of(model.price, estimated_tokens(request), request.sampling.max_tokens),
                    .live =
                        [&](const call_budget& budget) {
                          return servers_[origin.model]->chat(request, owner.stop, budget);
                        }},
                   owner);
}

std::vector<double> language_models::cosines_by(const call_origin& origin,
                                                const std::vector<std::string>& texts,
                                                const std::vector<content_id>& ids,
                                                const std::stop_token& stop, const call_budget& budget,
                                                chat_reply& reply) {
  std::map<content_id, std::vector<float>> known;
  std::vector<std::string> missing;
  std::vector<content_id> missing_ids;
  {
    const std::scoped_lock lock(guard_);
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (known.contains(ids[i])) continue;
      const auto it = vectors_.find(ids[i]);
      known[ids[i]] = it == vectors_.end() ? std::vector<float>() : it->second;
      if (it != vectors_.end()) continue;
      missing.push_back(texts[i]);
      missing_ids.push_back(ids[i]);
    }
  }
  if (missing.empty()) {
    budget.charge(reply);  // nothing: what was set aside is free again
  } else {
    auto made = servers_[origin.model]->embed(missing, stop, reply, budget);
    if (made.size() != missing.size()) return {};
    const std::scoped_lock lock(guard_);
    for (std::size_t i = 0; i < made.size(); ++i) {
      if (vectors_.emplace(missing_ids[i], made[i]).second) vectors_by_age_.push_back(missing_ids[i]);
      known[missing_ids[i]] = std::move(made[i]);
    }
    while (vectors_by_age_.size() > remembered_vectors) {
      vectors_.erase(vectors_by_age_.front());
      vectors_by_age_.pop_front();
    }
  }
  std::vector<double> all;
  for (std::size_t i = 1; i < ids.size(); ++i) all.push_back(cosine(known[ids[0]], known[ids[i]]));
  return all;
}

std::vector<double> language_models::similarities(const std::string& name,
                                                  const std::vector<std::string>& texts,
                                                  const variation_request& owner) {
  if (texts.size() < 2) return {};
  const call_origin origin{.operator_name = "embeddings", .model = named(name)};
  const model_settings& model = settings_.models[origin.model];
  std::vector<content_id> ids;
  std::string messages;
  std::int64_t tokens = 0;
  for (const auto& text : texts) {
    content_hasher hash;
    ids.push_back(hash.text("kevo embedding 1").text(name).text(text).finish());
    messages += (messages.empty() ? "[\"" : ",\"") + to_string(ids.back()) + '"';
    tokens += estimated_tokens(text.size());
  }
  const chat_reply reply =
      carry_out({.origin = origin,
                 .messages = messages + "]",  // ids: the texts are in the journal already
                 .request = messages,
                 .most = price_of(model.price, tokens, 0),
                 .live =
                     [&](const call_budget& budget) {
                       chat_reply made;
                       const auto all = cosines_by(origin, texts, ids, owner.stop, budget, made);
                       made.content = list_text(all);
                       return made;
                     }},
                owner);
  auto all = reply.ok() ? list_of(reply.content) : std::vector<double>();
  if (all.size() + 1 != texts.size()) all.clear();
  return all;
}

std::vector<knowledge_page> language_models::pages(const std::string& query, const knowledge_filter& filter,
                                                   std::size_t limit, const variation_request& owner) {
  if (!knowledge_ || limit == 0) return {};
  if (settings_.knowledge_embeddings.empty()) return knowledge_->search(query, filter, limit);
  auto all = knowledge_->fitting(filter, most_embedded_pages);
  std::vector<std::string> texts{query};
  for (const auto& page : all) texts.push_back(page.title + "\n" + page.text.substr(0, embedded_page_bytes));
  const auto cosines = similarities(settings_.knowledge_embeddings, texts, owner);
  const auto by_words = knowledge_->search(query, filter, all.size());
  if (cosines.empty())
    return {by_words.begin(),
            by_words.begin() + static_cast<std::ptrdiff_t>(std::min(limit, by_words.size()))};
  std::map<std::string, double> merit;
  const auto credit = [&](const std::string& id, std::size_t rank) {
    merit[id] += 1.0 / (60.0 + static_cast<double>(rank + 1));
  };
  for (std::size_t i = 0; i < by_words.size(); ++i) credit(by_words[i].id, i);
  std::vector<std::size_t> order(all.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return cosines[a] > cosines[b]; });
  for (std::size_t i = 0; i < order.size(); ++i) credit(all[order[i]].id, i);
  std::stable_sort(all.begin(), all.end(),
                   [&](const auto& a, const auto& b) { return merit[a.id] > merit[b.id]; });
  all.resize(std::min(limit, all.size()));
  return all;
}

void language_models::recall(std::uint64_t job, std::vector<model_call> calls, bool alone) {
  const std::scoped_lock lock(guard_);
  recalled_[job] = {std::move(calls), alone};
}

void language_models::forget(std::uint64_t job) {
  const std::scoped_lock lock(guard_);
  recalled_.erase(job);
}

std::optional<std::size_t> language_models::recalled_model(std::uint64_t job,
                                                           const std::string& operator_name) const {
  const std::scoped_lock lock(guard_);
  const model_call* call = recalled(job, operator_name);
  for (std::size_t i = 0; call != nullptr && i < settings_.models.size(); ++i) {
    if (settings_.models[i].name == call->model) return i;
  }
  return std::nullopt;
}

std::optional<std::string> language_models::recalled_messages(std::uint64_t job,
                                                              const std::string& operator_name) const {
  const std::scoped_lock lock(guard_);
  const model_call* call = recalled(job, operator_name);
  return call == nullptr ? std::nullopt : std::optional(call->messages);
}

void language_models::open_knowledge() {
  if (!knowledge_ && !(settings_.knowledge.empty() && settings_.skills.empty()))
    knowledge_ = std::make_shared<knowledge_base>(settings_.knowledge, settings_.skills, skill_writing::off);
}

void language_models::observe(const observation& seen) {
  if (seen.job == 0) return;
  if (knowledge_) knowledge_->observe(seen);
  const double gain =
      seen.parent_score > 0 ? seen.score / seen.parent_score - 1 : (seen.score > 0 ? 1.0 : 0.0);
  credit(seen.job, std::clamp(gain, 0.0, 1.0), seen.cost_s);
}

void language_models::fruitless(std::uint64_t job) {
  credit(job, 0, 0);
}

void language_models::credit(std::uint64_t job, double reward, double cost_s) {
  const std::scoped_lock lock(guard_);
  const auto it = asked_.find(job);
  if (it == asked_.end()) return;
  for (arm& each : arms_) {
    each.pulls *= settings_.choice.decay;
    each.reward *= settings_.choice.decay;
  }
  arms_[it->second].pulls += 1;
  arms_[it->second].reward += reward;
  if (settings_.choice.portfolio) {  // what models cost is money where they have prices, else time
    const bool priced = std::any_of(settings_.models.begin(), settings_.models.end(),
                                    [](const auto& m) { return m.price.input > 0 || m.price.output > 0; });
    settings_.choice.portfolio.observe(
        {.index = it->second, .reward = reward, .cost_s = priced ? mean_cost(it->second) : cost_s});
  }
  asked_.erase(it);
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

}  // namespace kevo
