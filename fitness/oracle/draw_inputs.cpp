#include "fitness/oracle/draw_inputs.hpp"

#include <algorithm>
#include <cstdint>
#include <span>
#include <utility>

#include <kevo/error.hpp>
#include <kevo/task_extents.hpp>

#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/signature.hpp"

namespace kevo {
namespace {

const workload_input* input_of(const workload& w, const tensor& input) {
  const auto found = w.inputs.find(input.name);
  return found == w.inputs.end() ? nullptr : &found->second;
}

// The offsets of the rows whose columns are drawn.
std::vector<std::int64_t> rows_of(const task& t, const generator& columns,
                                  const std::vector<std::vector<std::byte>>& drawn) {
  for (std::size_t i = 0; i < t.inputs.size(); ++i) {
    if (t.inputs[i].name == columns.rows) return load_integers(element_type_of(t.inputs[i]), drawn[i]);
  }
  throw error(error_code::input, "'" + columns.rows + "' is not an input",
              {.file = t.file, .key = "generate"});
}

}  // namespace

variety_strength strength_for(const task& t, const workload& w) {
  const bool absolute = std::any_of(t.outputs.begin(), t.outputs.end(), [&](const tensor& output) {
    const auto rule = tolerance_for(t, w, output.name);
    return rule.rule == "bounds" || rule.max_rmse;
  });
  return absolute ? variety_strength::mild : variety_strength::full;
}

bool alternates(const workload& w) {
  return std::any_of(w.inputs.begin(), w.inputs.end(),
                     [](const auto& named) { return named.second.contents && named.second.alternates; });
}

std::vector<std::vector<std::byte>> draw_inputs(const task& t, const workload& w, const input_recipe& from,
                                                named_elements made, rng& random,
                                                const std::function<bool(const tensor&)>& wanted) {
  const auto axes = axis_values(t, w);
  const auto strength = strength_for(t, w);
  const auto& recipes = t.workloads[from.generators];
  std::vector<std::vector<std::byte>> drawn(t.inputs.size());
  const auto draw = [&](std::size_t i, bool of_rows) {
    const auto& input = t.inputs[i];
    const auto& type = element_type_of(input);
    if (wanted && !wanted(input)) return;
    if (const auto own = made.find(input.name); own != made.end()) {
      if (!of_rows) drawn[i] = std::move(own->second);
      return;
    }
    const auto* given = input_of(w, input);
    // A scalar stays the task's own: its meaning (an epsilon, a temperature) seldom bears a change.
    const auto recipe = resolved(generator_of(input, input.scalar ? w : recipes), axes);
    // One that is kept and does not alternate has no generator: what is drawn for others must fit to it.
    const bool file =
        given != nullptr && given->contents && (from.files || (given->kept && !given->alternates));
    const bool generated = !file && (given == nullptr || given->kind != "scalar");
    if (of_rows != (generated && recipe.kind == "columns")) return;
    if (file) {
      drawn[i] = given->kept ? given->contents->bytes
                             : redrawn(type, given->contents->bytes, from.kind, strength, random);
    } else if (!generated) {
      drawn[i].resize(type.size);
      store_values(type, std::span<const double>(&given->value, 1), drawn[i].data());
    } else {
      const std::size_t count = input.scalar ? 1 : element_count(input, axes);
      const auto rows = of_rows ? rows_of(t, recipe, drawn) : std::vector<std::int64_t>();
      drawn[i] = generate_elements(type, count, recipe, input.scalar ? variety::plain : from.kind, strength,
                                   random, rows);
      if (!from.rows || !may_have_other_rows(input)) return;
      std::vector<generator> recipes_of_rows = {recipe};
      for (const auto lender : from.rows->generators) {
        auto theirs = resolved(generator_of(input, t.workloads[lender]), axes);
        if (std::find(recipes_of_rows.begin(), recipes_of_rows.end(), theirs) == recipes_of_rows.end())
          recipes_of_rows.push_back(std::move(theirs));
      }
      const auto row = static_cast<std::size_t>(extents(input, axes).back());
      replace_rows(drawn[i], type, row, recipes_of_rows, from.rows->special, strength, random);
    }
  };
  for (std::size_t i = 0; i < drawn.size(); ++i) draw(i, false);
  for (std::size_t i = 0; i < drawn.size(); ++i) draw(i, true);  // they need the rows
  return drawn;
}

}  // namespace kevo
