// for i { ++counts[X[i]]; }  ->  several arrays of counts, used in turn, and added up behind the loop
#include "operators/rewrite/action.hpp"
#include "operators/rewrite/dependence.hpp"

namespace kevo::rewriting {
namespace {

// The number of elements of a parameter of the kernel, if it does not depend on the workload.
std::optional<std::int64_t> elements_of(const kernel& of, const placed_loop& which, long parameter) {
  if (of.task == nullptr || which.function->name != "run") return std::nullopt;
  std::size_t position = 0;
  for (const node& one : which.function->children) {
    if (one.kind != node_kind::parameter) continue;
    if (one.declared == parameter) break;
    ++position;
  }
  const auto& inputs = of.task->inputs;
  const auto& outputs = of.task->outputs;
  if (position < inputs.size() || position >= inputs.size() + outputs.size()) return std::nullopt;
  std::int64_t count = 1;
  for (const auto& extent : outputs[position - inputs.size()].shape) {
    std::optional<std::int64_t> value;
    for (const auto& axis : of.task->axes) {
      if (axis.name == extent) value = axis.value;
    }
    if (!value || *value <= 0 || *value > 65536) return std::nullopt;
    if (__builtin_mul_overflow(count, *value, &count) || count > 65536) return std::nullopt;
  }
  return count;
}

// The array in which the loop counts: all it does with it is to add to elements that the loop looks up.
const element_access* counted_array(const kernel& of, const placed_loop& which,
                                    const std::vector<element_access>& all) {
  const std::string index = which.loop.index + "#" + std::to_string(which.loop.id);
  for (const auto& one : all) {
    if (!one.accumulated || bare(one.at->children[0]).kind != node_kind::name) continue;
    if (coefficient(one.index, index)) continue;  // no look-up
    bool alone = true;
    for (const auto& other : all) alone = alone && (other.base != one.base || other.accumulated);
    if (alone && elements_of(of, which, one.base)) return &one;
  }
  return nullptr;
}

}  // namespace

std::vector<site> privatize_sites(const kernel& of) {
  std::vector<site> found;
  for (std::size_t i = 0; i < of.loops.size(); ++i) {
    const placed_loop& which = of.loops[i];
    if (is_short(of, which) || is_rest(which) || which.loop.whole_steps) continue;
    if (counted_array(of, which,
                      accesses_in(of.in, *which.loop.body, definitions_of(of.in, *which.function))) !=
        nullptr)
      found.push_back({i});
  }
  return found;
}

std::string privatize(const kernel& of, const site& where, rng& random) {
  const placed_loop& which = of.loops.at(where.loop);
  const counted_loop& loop = which.loop;
  const auto all_accesses = accesses_in(of.in, *loop.body, definitions_of(of.in, *which.function));
  const element_access* array = counted_array(of, which, all_accesses);
  if (array == nullptr) throw refusal{"no array is counted in"};
  if (has_effects_unknown(of.in, *loop.body)) throw refusal{"the loop does what is not understood"};
  std::string why;
  if (const auto others = reductions_of(of.in, *which.function, *loop.body, why); !others || !others->empty())
    throw refusal{"the loop collects something else, too"};
  const std::string name = root_of(*array->at)->name;
  const std::string size = std::to_string(*elements_of(of, which, array->base));
  fresh_names fresh(of.in);
  const std::string copies = fresh("copies_" + name);
  const std::string parts = fresh(name + "_parts");
  const std::string part = fresh("part");
  const std::string element = fresh("element");
  std::string type = array->at->type;
  const std::string step = times(loop.step, copies);

  lines to(depth_at(of.in, loop.at->begin));
  to.open("");
  to.add(type + " " + parts + "[" + copies + "][" + size + "] = {};");
  to.open("for (" + loop.type + " " + loop.index + " = " + loop.lower + "; " + loop.index + " + " + step +
          " <= " + loop.upper + "; " + loop.index + " += " + step + ")");
  to.add("#pragma GCC unroll " + copies);
  to.open("for (int " + part + " = 0; " + part + " < " + copies + "; ++" + part + ")");
  replacements by;
  by.names[loop.id] = "(" + loop.index + " + " + times(part, loop.step) + ")";
  by.names[array->base] = parts + "[" + part + "]";
  for (const node* one : statements_of(*loop.body)) add_statement(to, of.in, *one, by);
  to.close();
  to.close();
  to.open("for (int " + part + " = 0; " + part + " < " + copies + "; ++" + part + ")");
  to.add("for (int " + element + " = 0; " + element + " < " + size + "; ++" + element + ") " + name + "[" +
         element + "] += " + parts + "[" + part + "][" + element + "];");
  to.close();
  to.close();
  replacements rest;
  rest.nodes[loop.lower_node] = loop.lower == "0"
                                    ? grouped(loop.upper) + " / " + grouped(step) + " * " + grouped(step)
                                    : grouped(loop.lower) + " < " + grouped(loop.upper) + " ? " + loop.lower +
                                          " + (" + loop.upper + " - " + grouped(loop.lower) + ") / " +
                                          grouped(step) + " * " + grouped(step) + " : " + loop.lower;
  open_loop(to, of.in, loop, rest);
  for (const node* one : statements_of(*loop.body)) add_statement(to, of.in, *one);
  to.close();
  changes all;
  all.replace(loop, to);
  const std::size_t top = place_for_declarations(of.in);
  all.replace(top, top, tunable_line(copies, 2 << random.below(3), "1, 2, 4, 8, 16") + "\n");
  return all.applied_to(of.in.text);
}

}  // namespace kevo::rewriting
