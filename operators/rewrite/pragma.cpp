#include "operators/rewrite/pragma.hpp"

namespace kevo::rewriting {

std::string with_pragma(const kernel& of, const placed_loop& which, std::string pragma,
                        const std::vector<reduction>& collected) {
  static constexpr const char* operators[] = {"+", "*", "max", "min"};
  for (const auto& one : collected) {
    pragma +=
        std::string(" reduction(") + operators[static_cast<std::size_t>(one.kind)] + " : " + one.name + ")";
  }
  lines to(depth_at(of.in, which.loop.at->begin));
  to.add(pragma);
  open_loop(to, of.in, which.loop);
  for (const node* one : statements_of(*which.loop.body)) add_statement(to, of.in, *one);
  to.close();
  changes all;
  all.replace(which.loop, to);
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
