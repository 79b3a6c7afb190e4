#include "operators/llm/directed.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <utility>

#include <fmt/format.h>

#include <kevo/detail/score_bucket.hpp>

#include "operators/llm/difference.hpp"
#include "operators/llm/operators.hpp"
#include "operators/llm/sections.hpp"
#include "src/base/text/useful_line.hpp"

namespace kevo {
namespace {

/// Calls `add` for each relative of the parent that the memory scope of the request allows to see.
void for_each_relative(const variation_request& request,
                       const std::function<void(const candidate_snapshot&)>& add) {
  if (request.scope == memory_scope::clean_slate) return;
  for (const auto& one : request.lineage(16)) add(one);
  for (const auto& one : request.children(16)) add(one);
  for (const auto& one : request.siblings(16)) add(one);
}

bool scored(const candidate_snapshot& one) {
  return one.program && one.evaluation && one.evaluation->valid() && std::isfinite(one.evaluation->score);
}

std::vector<candidate_snapshot> everyone(const variation_request& request) {
  std::vector<candidate_snapshot> pool;
  std::set<candidate_id> taken;
  const auto add = [&](const candidate_snapshot& one) {
    if (taken.insert(one.id).second) pool.push_back(one);
  };
  for (const auto& one : request.parents) add(*one);
  for (const auto& one : request.inspirations) add(*one);
  for_each_relative(request, add);
  return pool;
}

/// Shows the index of the knowledge base and says how a reply names pages of it.
std::string index_section(const knowledge_base& knowledge, const variation_request& request,
                          std::size_t most) {
  const std::string lines = knowledge.index(filter_for(request));
  if (lines.empty() || most == 0) return {};
  return fmt::format(
      "## Index of the knowledge base\n\nAfter the two lines that your answer ends with, you may add a "
      "third, `Pages: ` with the ids of at most {} pages of this index, separated by commas, the most useful "
      "one "
      "first. The next step will show their text.\n\n{}",
      most, fenced(lines));
}

/// At most `most` pages: those that the model named, then those that were found, each once.
std::vector<knowledge_page> joined(std::vector<knowledge_page> named, std::vector<knowledge_page> found,
                                   std::size_t most) {
  for (auto& page : found) {
    if (std::none_of(named.begin(), named.end(), [&](const auto& one) { return one.id == page.id; }))
      named.push_back(std::move(page));
  }
  if (named.size() > most) named.resize(most);
  return named;
}

}  // namespace

std::string labelled(std::string_view reply, std::string_view label) {
  for (std::size_t at = 0; at < reply.size();) {
    const std::size_t end = std::min(reply.find('\n', at), reply.size());
    std::string_view line = reply.substr(at, end - at);
    at = end + 1;
    const auto first = line.find_first_not_of(" \t*-#");
    if (first == std::string_view::npos || !line.substr(first).starts_with(label)) continue;
    line.remove_prefix(first + label.size());
    const auto begin = line.find_first_not_of(" \t*:");
    if (begin == std::string_view::npos) return {};
    return std::string(line.substr(begin, line.find_last_not_of(" \t\r*") + 1 - begin));
  }
  return {};
}

std::string text_between(std::string_view reply, std::string_view begin, std::string_view end) {
  const auto at = reply.find(begin);
  if (at == std::string_view::npos) return {};
  const auto from = at + begin.size();
  const auto to = reply.find(end, from);
  return to == std::string_view::npos ? std::string() : std::string(reply.substr(from, to - from));
}

std::vector<std::string> words_between(std::string_view list, std::string_view separators) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : list) {
    if (separators.find(c) == std::string_view::npos) {
      word += c;
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.push_back(std::move(word));
  return words;
}

variation_result llm_universal::vary(const variation_request& asked, rng& random) const {
  const variation_request request = with_scope(with, asked, random);
  conversation talk(with, name(), request, random);
  auto sections = sections_of(request);
  add_memory(sections, with, request, random);
  set_section(sections, "knowledge", {});  // what is looked up depends on the diagnosis
  const auto& knowledge = with.models->knowledge();
  if (index && knowledge) set_section(sections, "index", index_section(*knowledge, request, with.pages));
  talk.begin("llm_universal_diagnose", sections);
  const chat_reply diagnosis = talk.ask();
  if (!diagnosis.ok()) return failure_of(diagnosis);
  const std::string bottleneck = labelled(diagnosis.content, "Bottleneck:");
  const std::string query = labelled(diagnosis.content, "Query:");
  if (bottleneck.empty() || query.empty())
    return no_proposal{"the diagnosis names no bottleneck or no query"};
  request.note(fmt::format("[diagnosis] {}; looked up: {}\n", bottleneck, query));

  set_section(sections, "index", {});
  set_section(sections, "diagnosis", "## Diagnosis\n\n" + fenced(shortened(diagnosis.content, 6000)));
  set_section(sections, "action",
              fmt::format("Act on this one bottleneck and leave the others for later: {}",
                          bottleneck.substr(0, 200)));
  if (knowledge && random.chance(with.injection_rate)) {
    knowledge_filter filter = filter_for(request);
    filter.bottleneck = bottleneck.substr(0, bottleneck.find_first_of(" ,.;("));
    auto found = with.models->pages(query, filter, with.pages, request);
    if (found.empty()) {
      filter.bottleneck.clear();
      found = with.models->pages(query, filter, with.pages, request);
    }
    const std::string chosen = index ? labelled(diagnosis.content, "Pages:") : std::string();
    const auto pages =
        joined(knowledge->named(words_between(chosen, ", \t`[]\"'"), filter), std::move(found), with.pages);
    for (const auto& page : pages) request.note("[knowledge] " + page.id + "\n");
    set_section(sections, "knowledge", pages_text(pages));
  }
  talk.begin(name(), std::move(sections));
  return propose(talk, whole_file(*request.parents.front()->program));
}

std::vector<candidate_snapshot> draw_exemplars(std::vector<candidate_snapshot> pool,
                                               const exemplar_settings& how, rng& random) {
  std::map<std::int64_t, std::vector<candidate_snapshot>> buckets;
  for (auto& one : pool) {
    if (scored(one))
      buckets[detail::score_bucket(one.evaluation->score, how.width)].push_back(std::move(one));
  }
  std::vector<candidate_snapshot> drawn;
  while (drawn.size() < how.count && !buckets.empty()) {
    std::vector<double> means;
    double best = -INFINITY;
    for (const auto& [index, members] : buckets) {
      double sum = 0;
      for (const auto& one : members) sum += one.evaluation->score;
      means.push_back(sum / static_cast<double>(members.size()));
      best = std::max(best, means.back());
    }
    for (double& mean : means) mean = detail::bucket_weight(mean, best, how.temperature);
    const auto chosen = std::next(buckets.begin(), static_cast<std::ptrdiff_t>(random.weighted(means)));
    drawn.push_back(chosen->second[random.below(chosen->second.size())]);
    buckets.erase(chosen);
  }
  std::sort(drawn.begin(), drawn.end(),
            [](const auto& a, const auto& b) { return a.evaluation->score < b.evaluation->score; });
  return drawn;
}

std::vector<candidate_snapshot> exemplars_for(const variation_request& request, const exemplar_settings& how,
                                              rng& random) {
  const candidate_snapshot& parent = *request.parents.front();
  if (!scored(parent)) return {};
  const double score = parent.evaluation->score;
  std::vector<candidate_snapshot> others;
  std::set<candidate_id> taken = {parent.id};
  const auto add = [&](const candidate_snapshot& one) {
    if (scored(one) && one.evaluation->score != score && taken.insert(one.id).second) others.push_back(one);
  };
  for (const auto& list : {request.parents, request.inspirations}) {
    for (const auto& one : list) add(*one);
  }
  const bool drawn = !others.empty();  // by the selector
  if (!drawn) for_each_relative(request, add);
  if (!drawn || others.size() + 1 > how.count) {
    const auto own = detail::score_bucket(score, how.width);
    std::erase_if(others, [&](const auto& one) {
      return detail::score_bucket(one.evaluation->score, how.width) == own;
    });
    exemplar_settings rest = how;
    rest.count = how.count - 1;
    others = draw_exemplars(std::move(others), rest, random);
  }
  others.push_back(parent);
  std::stable_sort(others.begin(), others.end(),
                   [](const auto& a, const auto& b) { return a.evaluation->score < b.evaluation->score; });
  return others;
}

variation_result llm_contrastive::vary(const variation_request& asked, rng& random) const {
  const variation_request request = with_scope(with, asked, random);
  const auto shown = exemplars_for(request, exemplars, random);
  if (shown.size() < 2) return no_proposal{"fewer than two candidates of different score to compare"};
  const candidate_snapshot& parent = *request.parents.front();
  std::string contrast = "## Programs to compare\n\n";
  for (std::size_t i = 0; i < shown.size(); ++i) {
    const bool own = shown[i].id == parent.id;
    contrast +=
        fmt::format("code{}: {}\n\n{}\n", i + 1, described_with_times(shown[i]),
                    own ? fenced(parent.program->text(), parent.program->language)
                        : shown_beside(*shown[i].program, *parent.program, fmt::format("#{}", parent.id)));
  }
  contrast += fmt::format("Your program is built on #{}: it replaces that program's main file.\n", parent.id);
  conversation talk(with, name(), request, random);
  auto sections = sections_of(request);
  add_memory(sections, with, request, random);
  for (auto& s : sections) {
    if (s.name == "contrast") s.whole = true;
    if (s.name == "parent") s.text.clear();        // it is among the exemplars
    if (s.name == "inspirations") s.text.clear();  // so are they
  }
  set_section(sections, "contrast", std::move(contrast));
  talk.begin(name(), std::move(sections));
  const program& source = *parent.program;
  return propose(talk, [&source](const std::string& reply) -> draft {
    for (const char* title : {"Performance Analysis", "Algorithm Design", "Code Implementation"}) {
      if (part_under(reply, title).find_first_not_of(" \n") == std::string::npos)
        return {{},
                fmt::format("Your reply lacks the section '## {}'. Answer with all three sections.", title)};
    }
    return whole_file(source)(part_under(reply, "Code Implementation"));
  });
}

variation_result summarize::vary(const variation_request& asked, rng& random) const {
  const variation_request request = with_scope(with, asked, random);
  conversation talk(with, name(), request, random);
  auto sections = sections_of(request);
  add_memory(sections, with, request, random);
  std::string attempts;
  for (const auto& one : everyone(request)) {
    attempts += "- " + headline(one);
    if (one.evaluation && !one.evaluation->feedback.empty())
      attempts += ": " + useful_line(one.evaluation->feedback).substr(0, 200);
    attempts += "\n";
  }
  set_section(sections, "memory", "## Attempts to learn from\n\n" + fenced(attempts));
  talk.begin("summarize_notes", sections);
  const chat_reply reply = talk.ask();
  if (!reply.ok()) return failure_of(reply);
  const std::string notes = text_between(reply.content, "<summary>", "</summary>");
  if (notes.empty()) return no_proposal{"the reply holds no <summary>: the notes stay as they are"};
  with.models->set_notes(shortened(notes, notes_bytes));
  request.note("[notes] rewritten\n");
  set_section(sections, "notes", "## Notes of this run\n\n" + fenced(with.models->notes()));
  talk.begin(name(), std::move(sections));
  return propose(talk, whole_file(*request.parents.front()->program));
}

}  // namespace kevo
