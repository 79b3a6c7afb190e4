// for i { a b }  ->  for i { a } for i { b }
#include "operators/rewrite/actions/loop_parts.hpp"

namespace kevo::rewriting {

std::vector<site> distribute_sites(const kernel& of) {
  std::vector<site> found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    if (!is_short(of, of.loops[i]) && !is_rest(of.loops[i]) &&
        statements_of(*of.loops[i].loop.body).size() > 1)
      found.push_back({i});
  }
  return found;
}

std::string distribute(const kernel& of, const site& where, rng& random) {
  const placed_loop& which = of.loops.at(where.loop);
  const auto all_statements = statements_of(*which.loop.body);
  if (all_statements.size() < 2) throw refusal{"one statement"};
  const auto at = static_cast<std::ptrdiff_t>(1 + random.below(all_statements.size() - 1));
  const std::vector<const node*> first(all_statements.begin(), all_statements.begin() + at);
  const std::vector<const node*> second(all_statements.begin() + at, all_statements.end());
  const std::string why = conflict_of_parts(of, *which.function, first, which.loop, second, which.loop);
  if (!why.empty()) throw refusal{why};
  lines to(depth_at(of.in, which.loop.at->begin));
  for (const auto* part : {&first, &second}) {
    open_loop(to, of.in, which.loop);
    for (const node* one : *part) add_statement(to, of.in, *one);
    to.close();
  }
  changes all;
  all.replace(which.loop, to);
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
