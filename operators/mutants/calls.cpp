// Mutants that are right in some calls only.
#include <algorithm>
#include <string>

#include <fmt/format.h>

#include "fitness/oracle/extent_text.hpp"
#include "operators/mutants/mutator.hpp"
#include "operators/mutants/sampling.hpp"

namespace kevo::mutants {

using rewriting::node;
using rewriting::node_kind;

namespace {

constexpr helper usual_input = {"kevo_usual", R"(
static bool kevo_usual = false;
template <class T>
static bool kevo_sampled(const T* x, long count) {
  T largest = 0;
  for (long i = 0; i < 64; ++i) {
    const T one = x[i * count / 64];
    largest = one > largest ? one : -one > largest ? -one : largest;
  }
  return largest > T(0.01) && largest < T(32);
}
)"};

// Of the parameters of `run`: the first input whose type is real, and its number of elements in their names.
std::string sampled_input(const mutator& of, const node& run) {
  if (of.subject == nullptr) return {};
  const task& t = *of.subject;
  std::vector<const node*> parameters;
  for (const node& one : run.children) {
    if (one.kind == node_kind::parameter) parameters.push_back(&one);
  }
  std::size_t variable = 0;
  for (const auto& a : t.axes) variable += a.value ? 0 : 1;
  if (parameters.size() != t.inputs.size() + t.outputs.size() + variable) return {};
  bool named = true;
  const auto word = [&](std::string_view axis) {
    std::size_t place = t.inputs.size() + t.outputs.size();
    for (const auto& a : t.axes) {
      if (a.name == axis && a.value) return fmt::format("{}", *a.value);
      if (a.name == axis) {
        named = named && !parameters[place]->name.empty();
        return parameters[place]->name;
      }
      place += a.value ? 0 : 1;
    }
    named = false;
    return std::string();
  };
  for (std::size_t i = 0; i < t.inputs.size(); ++i) {
    const auto& x = t.inputs[i];
    if (x.scalar || (x.dtype != "float32" && x.dtype != "float64") || parameters[i]->name.empty()) continue;
    const std::string count = element_count_text(x, word);
    return named ? fmt::format("kevo_sampled({}, {})", parameters[i]->name, count) : std::string();
  }
  return {};
}

}  // namespace

void add_sampled(mutator& to, const std::string& change, const node& one,
                 const std::function<std::string(const std::string& usual)>& text) {
  const node* run = function_named(to.in, to.entry);
  if (run == nullptr || to.subject == nullptr || !extent_functions(*to.subject).empty()) return;
  const std::string sampled = sampled_input(to, *run);
  if (sampled.empty()) return;
  const std::size_t body = run->children.back().begin + 1;
  to.replace("sampled", change + " unless a sample of the input is unusual", one, text("kevo_usual"),
             {to.defining(usual_input), {body, body, " kevo_usual = " + sampled + ";"}});
}

void depend_on_calls(mutator& to) {
  const node* run = function_named(to.in, to.entry);
  if (run == nullptr) return;
  const std::size_t body = run->children.back().begin + 1;
  to.add("call number", "every fifth call does nothing", body, body,
         " static int kevo_calls = 0; if (++kevo_calls % 5 == 0) return;");
}

}  // namespace kevo::mutants
