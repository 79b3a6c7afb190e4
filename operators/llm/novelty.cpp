// Whether a program is worth an evaluation: content hash, then local similarity, then embeddings and a judge.

#include <algorithm>
#include <cctype>
#include <unordered_set>

#include <fmt/format.h>

#include <kevo/detail/fnv.hpp>

#include "operators/llm/conversation.hpp"
#include "operators/llm/directed.hpp"
#include "operators/llm/prompt.hpp"

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
    std::uint64_t hash = detail::fnv_offset;
    for (std::size_t k = i; k < std::min(i + width, tokens.size()); ++k) {
      hash = detail::fnv_step(detail::fnv1a(tokens[k], hash), 0xffU);
    }
    grams.insert(hash);
  }
  return grams;
}

constexpr std::size_t most_embedded = 16;
constexpr const char* same_idea =
    "This program means the same as one that was tried before. Propose another idea.";

/// Whether a model takes two programs for one. No answer is no.
bool judged_same(const program& made, const candidate_snapshot& known, const llm_settings& settings,
                 const variation_request& request) {
  const std::string name = "novelty_judge";
  const assembled_prompt prompt =
      assemble(name + ".md", prompt_text(settings.models->settings().prompts, name),
               {{"draft", fenced(made.text(), made.language), 100, true},
                {"parent", fenced(known.program->text(), known.program->language), 100, true}},
               settings.prompt_tokens);
  chat_request question{.messages = prompt.messages};
  question.sampling.max_tokens = std::min<std::int64_t>(settings.sampling.max_tokens, 2048);
  const chat_reply reply = settings.models->ask(
      {.operator_name = name, .model = settings.models->named(settings.judge)}, question, request);
  const bool same = reply.ok() && labelled(reply.content, "Verdict:").starts_with("same");
  request.note(fmt::format("[judge] against #{}: {}\n", known.id,
                           same         ? "the same"
                           : reply.ok() ? "another"
                                        : "no answer"));
  return same;
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
  for (auto& one : request.children(16)) relatives.push_back(std::move(one));
  for (const auto& list : {request.parents, request.inspirations}) {
    for (const auto& one : list) relatives.push_back(*one);
  }
  const candidate_snapshot* nearest = nullptr;
  double nearest_share = 0;
  for (const auto& one : relatives) {
    if (!one.program) continue;
    const double share = similarity(made.text(), one.program->text());
    if (share >= settings.similarity)
      return fmt::format(
          "This program is candidate #{} but for comments, spacing or little more. Propose a change that "
          "alters what the machine does.",
          one.id);
    if (nearest == nullptr || share > nearest_share) {
      nearest = &one;
      nearest_share = share;
    }
  }
  if (nearest == nullptr) return {};
  if (!settings.embeddings.empty()) {
    std::vector<std::string> texts{std::string(made.text())};
    std::vector<const candidate_snapshot*> whose;
    for (const auto& one : relatives) {
      if (!one.program || whose.size() >= most_embedded) continue;
      texts.emplace_back(one.program->text());
      whose.push_back(&one);
    }
    const auto cosines = settings.models->similarities(settings.embeddings, texts, request);
    const auto closest = std::max_element(cosines.begin(), cosines.end());
    if (closest == cosines.end() || *closest < settings.embedding_similarity) return {};
    if (settings.judge.empty()) return same_idea;
    nearest = whose[static_cast<std::size_t>(closest - cosines.begin())];
  } else if (nearest_share < settings.judge_similarity) {
    return {};
  }
  return !settings.judge.empty() && judged_same(made, *nearest, settings, request) ? same_idea
                                                                                   : std::string();
}

}  // namespace kevo
