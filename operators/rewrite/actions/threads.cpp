// #pragma omp parallel for in front of an outermost loop, where the run allows several threads
#include <utility>

#include "operators/rewrite/pragma.hpp"

namespace kevo::rewriting {

std::vector<site> share_among_threads_sites(const kernel& of) {
  std::vector<site> found;
  if (of.threads < 2) return found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    const placed_loop& which = of.loops[i];
    if (is_short(of, which) || is_rest(which) || which.loop.whole_steps) continue;
    bool inner = which.loop.begin != which.loop.at->begin;  // has a pragma already
    for (const node* around : which.around) inner = inner || around->kind == node_kind::counted;
    if (!inner) found.push_back({i});
  }
  return found;
}

std::string share_among_threads(const kernel& of, const site& where, rng&) {
  const placed_loop& which = of.loops.at(where.loop);
  if (has_effects_unknown(of.in, *which.loop.body)) throw refusal{"the loop does what is not understood"};
  std::string why;
  const auto collected = reductions_of(of.in, *which.function, *which.loop.body, why);
  if (!collected) throw refusal{why};
  why = carried_by_arrays(of.in, which.loop, definitions_of(of.in, *which.function));
  if (!why.empty()) throw refusal{why};
  std::string pragma = "#pragma omp parallel for num_threads(" + std::to_string(of.threads) + ")";
  return with_pragma(of, which, std::move(pragma), *collected);
}

}  // namespace kevo::rewriting
