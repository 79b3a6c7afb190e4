#include "src/llm/language_models.hpp"

#include <algorithm>
#include <cmath>
#include <set>

#include <kevo/content_id.hpp>
#include <kevo/error.hpp>

namespace kevo {
namespace {

constexpr std::size_t remembered_jobs = 4096;

double price_of(const token_price& price, std::int64_t in, std::int64_t out) {
  return (price.input * static_cast<double>(in) + price.output * static_cast<double>(out)) / 1e6;
}

std::int64_t estimated_prompt(const chat_request& request) {
  std::int64_t tokens = 0;
  for (const auto& m : request.messages) {
    std::size_t bytes = m.content.size() + 16;
    for (const auto& call : m.tool_calls) bytes += call.name.size() + call.arguments.size();
    tokens += estimated_tokens(bytes);
  }
  for (const auto& tool : request.tools)
    tokens += estimated_tokens(tool.name.size() + tool.description.size() + tool.parameters.size());
  return tokens;
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
    const double n = std::max(arms_[i].pulls, 1e-3);
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

bool language_models::reserve(double amount) {
  const std::scoped_lock lock(guard_);
  if (settings_.max_money > 0 && account_.spent + account_.reserved + amount > settings_.max_money)
    return false;
  account_.reserved += amount;
  ++account_.calls;
  return true;
}

chat_reply language_models::reply_to(const call_origin& origin, const cassette_key& key,
                                     const chat_request& request, const variation_request& owner) {
  const std::string id = [&] {
    content_hasher hash;
    hash.text("kevo request 1").text(chat_body(request, settings_.models[origin.model].server.dialect));
    return to_string(hash.finish());
  }();
  if (tape_.mode() == cassette_mode::replay || tape_.mode() == cassette_mode::automatic) {
    if (const auto found = tape_.find(key)) {
      const bool changed = !found->request.empty() && found->request != id;
      if (changed) owner.note("[cassette] the request of " + to_string(key) + " is not the recorded one\n");
      const std::scoped_lock lock(guard_);
      ++account_.replayed;
      account_.changed += changed ? 1U : 0U;
      return found->reply;
    }
    if (tape_.mode() == cassette_mode::replay) {
      chat_reply none;
      none.status = reply_status::unrecorded;
      none.detail = "the cassette " + tape_.path() + " holds no reply " + to_string(key);
      return none;
    }
  }
  const model_settings& model = settings_.models[origin.model];
  // The prompt's estimate is high, so that the cap holds unless a server counts more than a token for 3
  // bytes.
  const double most = price_of(model.price, estimated_prompt(request), request.sampling.max_tokens);
  if (!reserve(most)) {
    chat_reply refused;
    refused.status = reply_status::over_budget;
    refused.detail = "llm.max_money leaves no room for another call";
    return refused;
  }
  chat_reply reply = servers_[origin.model]->chat(request, owner.stop);
  {
    const std::scoped_lock lock(guard_);
    account_.reserved -= most;
    account_.spent += price_of(model.price, reply.tokens_in, reply.tokens_out);
  }
  if (tape_.mode() != cassette_mode::off && reply.status != reply_status::cancelled)
    tape_.add(key, {id, reply});
  return reply;
}

chat_reply language_models::ask(const call_origin& origin, const chat_request& request,
                                const variation_request& owner) {
  const model_settings& model = settings_.models[origin.model];
  const cassette_key key = [&] {
    const std::scoped_lock lock(guard_);
    asked_[owner.job] = origin.model;
    while (asked_.size() > remembered_jobs) asked_.erase(asked_.begin());
    return cassette_key{origin.operator_name, model.name, ordinals_[{origin.operator_name, model.name}]++};
  }();
  const chat_reply reply = reply_to(origin, key, request, owner);
  const double money = price_of(model.price, reply.tokens_in, reply.tokens_out);
  owner.book({.money = money, .tokens_in = reply.tokens_in, .tokens_out = reply.tokens_out});
  owner.record({.operator_name = origin.operator_name,
                .model = model.name,
                .group = std::to_string(owner.job),
                .turn = origin.turn,
                .messages = messages_json(request.messages),
                .response = reply_json(reply),
                .token_ids = reply.token_ids,
                .log_probabilities = reply.log_probabilities,
                .sampling = sampling_json(request.sampling),
                .policy_version = model.policy_version.empty() ? reply.model : model.policy_version,
                .request_key = to_string(key),
                .tokens_in = reply.tokens_in,
                .tokens_out = reply.tokens_out,
                .money = money,
                .wall_s = reply.wall_s});
  const std::scoped_lock lock(guard_);
  arms_[origin.model].calls += 1;
  arms_[origin.model].cost += money;
  return reply;
}

std::vector<std::vector<float>> language_models::embed(const std::string& name,
                                                       const std::vector<std::string>& texts,
                                                       const variation_request& owner) {
  if (tape_.mode() == cassette_mode::replay) return {};
  const std::size_t index = named(name);
  const model_settings& model = settings_.models[index];
  std::int64_t tokens = 0;
  for (const auto& text : texts) tokens += estimated_tokens(text.size());
  const double most = price_of(model.price, tokens, 0);
  if (!reserve(most)) return {};
  chat_reply reply;
  auto vectors = servers_[index]->embed(texts, owner.stop, reply);
  // The protocol need not say what an embedding took: the estimate is booked.
  const bool paid = !vectors.empty();
  {
    const std::scoped_lock lock(guard_);
    account_.reserved -= most;
    account_.spent += paid ? most : 0;
  }
  if (paid) owner.book({.money = most, .tokens_in = tokens});
  return vectors;
}

void language_models::observe(const observation& seen) {
  if (seen.job == 0) return;
  if (knowledge_) knowledge_->observe(seen);
  const std::scoped_lock lock(guard_);
  const auto it = asked_.find(seen.job);
  if (it == asked_.end()) return;
  for (arm& each : arms_) {
    each.pulls *= settings_.choice.decay;
    each.reward *= settings_.choice.decay;
  }
  const double gain =
      seen.parent_score > 0 ? seen.score / seen.parent_score - 1 : (seen.score > 0 ? 1.0 : 0.0);
  const double reward = std::clamp(gain, 0.0, 1.0);
  arms_[it->second].pulls += 1;
  arms_[it->second].reward += reward;
  if (settings_.choice.portfolio) {  // what models cost is money where they have prices, else time
    const bool priced = std::any_of(settings_.models.begin(), settings_.models.end(),
                                    [](const auto& m) { return m.price.input > 0 || m.price.output > 0; });
    settings_.choice.portfolio.observe(
        {.index = it->second, .reward = reward, .cost_s = priced ? mean_cost(it->second) : seen.cost_s});
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
