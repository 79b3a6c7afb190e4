#include "operators/rewrite/rewrite.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <kevo/annotation.hpp>

#include "operators/rewrite/action.hpp"
#include "operators/rewrite/parser.hpp"

namespace kevo {
namespace {

using namespace rewriting;

struct choice {
  const action* what;
  site where;
};

std::vector<std::pair<choice, double>> choices_of(const kernel& of, const std::vector<std::string>& only) {
  std::vector<std::pair<choice, double>> found;
  for (const action& one : actions()) {
    if (one.language != speaks::both && (one.language == speaks::cuda) != of.cuda) continue;
    if (!only.empty() && std::find(only.begin(), only.end(), one.name) == only.end()) continue;
    const auto sites = one.sites(of);
    // An action with many places is not taken more often for it, but one whose places promise little is taken
    // less often.
    double total = 1;
    for (const site& where : sites) total += where.weight;
    // A GPU runs many threads at a time, so that what one of them does in which order matters less.
    const double weight = of.cuda && one.language == speaks::both ? 0.3 * one.weight : one.weight;
    for (const site& where : sites) found.push_back({{&one, where}, weight * where.weight / total});
  }
  return found;
}

// One action somewhere in the text; nothing if all that were tried are refused.
std::optional<std::pair<std::string, std::string>> stepped(const parsed_source& in, const task* what,
                                                           const rewrite& how, bool cuda, rng& random) {
  const kernel of{in, loops_of(in), what, how.threads, cuda};
  auto all = choices_of(of, how.only);
  while (!all.empty()) {
    std::vector<double> weights;
    weights.reserve(all.size());
    for (const auto& one : all) weights.push_back(one.second);
    const std::size_t at = random.weighted(weights);
    if (at >= all.size()) break;
    const choice one = all[at].first;
    try {
      std::string text = one.what->apply(of, one.where, random);
      if (text != in.text)
        return std::pair(std::move(text), std::string(one.what->name) + " " + place_of(of, one.where));
    } catch (const refusal&) {  // the next one
    }
    all.erase(all.begin() + static_cast<std::ptrdiff_t>(at));
  }
  return std::nullopt;
}

bool is_cpp(const program& source) {
  return source.language == "cpp" || source.language == "c++";
}

}  // namespace

std::vector<rewrite_action> rewrite_actions() {
  std::vector<rewrite_action> result;
  for (const action& one : actions()) result.push_back({std::string(one.name), std::string(one.about)});
  return result;
}

void require_rewrite_parser() {
  parser_program();
}

variation_result rewrite::vary(const variation_request& request, rng& random) const {
  const program& source = *request.parents.front()->program;
  const bool cuda = source.language == "cuda";
  if (!is_cpp(source) && !cuda) return no_proposal{"rewrite changes C++ and CUDA sources only"};
  const dialect spoken = cuda ? dialect::cuda : dialect::cpp;
  const std::string path = parser.empty() ? parser_program() : parser;
  const auto parsed = parse(path, {std::string(source.text())}, request.stop, spoken).front();
  if (!parsed) return no_proposal{"the parser could not read the parent"};

  std::size_t known = 0;
  for (std::size_t attempt = 0; attempt < tries && !request.stop.stop_requested(); ++attempt) {
    std::optional<parsed_source> now = parsed;
    std::string summary;
    do {
      auto step = stepped(*now, request.task.get(), *this, cuda, random);
      if (!step) break;
      auto child = parse(path, {step->first}, request.stop, spoken).front();
      // What the parser does not take, or takes for less than it was, is not proposed.
      if (!child || child->errors > now->errors) break;
      summary += (summary.empty() ? "" : ", ") + step->second;
      now = std::move(child);
    } while (random.chance(another_action));
    if (summary.empty()) {
      if (attempt == 0 && known == 0 && loops_of(*parsed).empty())
        return no_proposal{"the parent has no loop that rewrite understands"};
      continue;
    }
    program child = source;
    child.files.front().text = now->text;
    try {
      parse_annotations(child);
    } catch (const error&) {  // a tunable twice, because its line stood in a loop that was copied
      continue;
    }
    if (request.seen(id_of(child))) {
      ++known;
      continue;
    }
    return proposal{std::move(child), summary};
  }
  return no_proposal{"found no unseen program in " + std::to_string(tries) + " tries"};
}

}  // namespace kevo
