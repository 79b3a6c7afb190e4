// #pragma omp simd in front of a loop that collects, #pragma GCC ivdep in front of others
#include <utility>

#include "operators/rewrite/pragma.hpp"

namespace kevo::rewriting {

std::vector<site> simd_sites(const kernel& of) {
  std::vector<site> found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    const placed_loop& which = of.loops[i];
    if (is_short(of, which) || is_rest(which) || which.loop.whole_steps || has_long_loop_inside(of, which))
      continue;
    if (which.loop.begin == which.loop.at->begin) found.push_back({i});
  }
  return found;
}

std::string simd(const kernel& of, const site& where, rng&) {
  const placed_loop& which = of.loops.at(where.loop);
  std::string why;
  const auto collected = reductions_of(of.in, *which.function, *which.loop.body, why);
  if (!collected) throw refusal{why};
  for (const auto& one : *collected) {
    if (one.type.substr(0, 7) == "vector_") throw refusal{one.name + " is a vector"};
  }
  why = carried_by_arrays(of.in, which.loop, definitions_of(of.in, *which.function));
  if (!why.empty()) throw refusal{why};
  std::string pragma = collected->empty() ? "#pragma GCC ivdep" : "#pragma omp simd";
  return with_pragma(of, which, std::move(pragma), *collected);
}

}  // namespace kevo::rewriting
