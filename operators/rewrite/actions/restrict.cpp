// f(float* a, float* b)  ->  f(float* __restrict a, float* __restrict b): arrays that do not overlap, which
// compilers cannot know.
#include "operators/rewrite/action.hpp"

namespace kevo::rewriting {
namespace {

std::vector<const node*> plain_pointers(const kernel& of, const node& function) {
  std::vector<const node*> found;
  for (const node& one : function.children) {
    if (one.kind != node_kind::parameter || one.type.empty() || one.type.back() != '*' || one.declared < 0)
      continue;
    if (of.in.of(one).find("restrict") == std::string_view::npos &&
        of.in.text.compare(static_cast<std::size_t>(one.declared), one.name.size(), one.name) == 0)
      found.push_back(&one);
  }
  return found;
}

}  // namespace

std::vector<site> restrict_pointers_sites(const kernel& of) {
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    const bool is_kernel = of.cuda || of.loops[i].function->name == "run";
    if (is_kernel && plain_pointers(of, *of.loops[i].function).size() > 1) return {{i}};
  }
  return {};
}

std::string restrict_pointers(const kernel& of, const site& where, rng&) {
  changes all;
  for (const node* one : plain_pointers(of, *of.loops.at(where.loop).function)) {
    const auto name = static_cast<std::size_t>(one->declared);
    all.replace(name, name, "__restrict ");
  }
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
