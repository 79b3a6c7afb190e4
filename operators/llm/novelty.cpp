// Whether a program is worth an evaluation: content hash, then local similarity, then embeddings.

#include <algorithm>
#include <cctype>
#include <cmath>
#include <unordered_set>

#include <fmt/format.h>

#include "operators/llm/conversation.hpp"

namespace kevo {
namespace {

/// Tokens without comments; `kevo:` comments count, since they are part of the program.
std::vector<std::string_view> tokens_of(std::string_view text) {
  std::vector<std::string_view> all;
  const auto word = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.';
  };
  for (std::size_t i = 0; i < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[i])) != 0) {
      ++i;
      continue;
    }
    if (text.substr(i).starts_with("//") || text.substr(i).starts_with("/*")) {
      const bool line = text[i + 1] == '/';
      const auto found = text.find(line ? "\n" : "*/", i + 2);
      const std::size_t end = found == std::string_view::npos ? text.size() : found + (line ? 0 : 2);
      if (text.substr(i, end - i).find("kevo:") == std::string_view::npos) {
        i = end;
        continue;
      }
      all.push_back(text.substr(i, end - i));
      i = end;
      continue;
    }
    std::size_t end = i + 1;
    if (word(text[i])) {
      while (end < text.size() && word(text[end])) ++end;
    }
    all.push_back(text.substr(i, end - i));
    i = end;
  }
  return all;
}

std::unordered_set<std::uint64_t> grams_of(std::string_view text) {
  constexpr std::size_t width = 5;
  const auto tokens = tokens_of(text);
  std::unordered_set<std::uint64_t> grams;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    std::uint64_t hash = 0xcbf29ce484222325ULL;
    for (std::size_t k = i; k < std::min(i + width, tokens.size()); ++k) {
      for (const char c : tokens[k]) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
      hash = (hash ^ 0xffU) * 0x100000001b3ULL;
    }
    grams.insert(hash);
  }
  return grams;
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

}  // namespace

double similarity(std::string_view a, std::string_view b) {
  const auto left = grams_of(a);
  const auto right = grams_of(b);
  if (left.empty() && right.empty()) return 1;
  std::size_t common = 0;
  for (const auto gram : left) common += right.contains(gram) ? 1U : 0U;
  return static_cast<double>(common) / static_cast<double>(left.size() + right.size() - common);
}

std::string known_already(const program& made, const llm_settings& settings,
                          const variation_request& request) {
  if (made == *request.parents.front()->program)
    return "This is the parent, unchanged. Change something that matters.";
  if (request.seen(id_of(made))) return "This exact program was tried before. Propose another change.";
  std::vector<candidate_snapshot> relatives = request.lineage(16);
  for (auto& one : request.siblings(16)) relatives.push_back(std::move(one));
  for (const auto& list : {request.parents, request.inspirations}) {
    for (const auto& one : list) relatives.push_back(*one);
  }
  for (const auto& one : relatives) {
    if (settings.similarity > 1 || !one.program) continue;
    const double share = similarity(made.text(), one.program->text());
    if (share >= settings.similarity)
      return fmt::format(
          "This program is candidate #{} but for comments, spacing or little more. Propose a change that "
          "alters what the machine does.",
          one.id);
  }
  if (settings.embeddings.empty()) return {};
  std::vector<std::string> texts{std::string(made.text())};
  for (const auto& one : relatives) {
    if (one.program && texts.size() < 17) texts.emplace_back(one.program->text());
  }
  const auto vectors = settings.models->embed(settings.embeddings, texts, request);
  for (std::size_t i = 1; i < vectors.size(); ++i) {
    if (cosine(vectors[0], vectors[i]) >= settings.embedding_similarity)
      return "This program means the same as one that was tried before. Propose another idea.";
  }
  return {};
}

}  // namespace kevo
