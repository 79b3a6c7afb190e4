// Nearness in meaning, by embeddings.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "src/llm/language_models.hpp"

namespace kevo {
namespace {

constexpr std::size_t remembered_vectors = 4096;
constexpr std::size_t most_embedded_pages = 255;
constexpr std::size_t embedded_page_bytes = 2000;

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

}  // namespace

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
  // Of pages that the words did not find, those whose meaning is clearly nearer than that of most.
  const double mean =
      std::accumulate(cosines.begin(), cosines.end(), 0.0) / static_cast<double>(cosines.size());
  const double near = (mean + *std::max_element(cosines.begin(), cosines.end())) / 2;
  std::set<std::string> found;
  for (const auto& page : by_words) found.insert(page.id);
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (cosines[i] >= near) found.insert(all[i].id);
  }
  std::erase_if(all, [&](const auto& page) { return !found.contains(page.id); });
  std::stable_sort(all.begin(), all.end(),
                   [&](const auto& a, const auto& b) { return merit[a.id] > merit[b.id]; });
  all.resize(std::min(limit, all.size()));
  return all;
}

}  // namespace kevo
