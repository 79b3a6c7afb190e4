// Operators on simulated landscapes by name.

#include <kevo/lab/landscape_moves.hpp>

#include "src/plugins/builtin.hpp"

namespace kevo {
namespace {

double probability(settings& from, const char* key, double def, const char* doc) {
  return from.real(key, {.def = def, .min = 0.0, .max = 1.0, .unit = "probability", .doc = doc});
}
double cost(settings& from, double def) {
  return from.real("cost_s", {.def = def, .min = 0.0, .unit = "s", .doc = "simulated cost of each proposal"});
}

any_variation landscape_tune_from(settings& from, const build_context&) {
  landscape_tune op;
  op.neighbour = probability(
      from, "neighbour", op.neighbour,
      "probability that a tunable moves to a neighbouring level; otherwise it moves to any level");
  // At 1 a step would never end.
  op.another_step = from.real(
      "another_step", {.def = op.another_step,
                       .min = 0.0,
                       .max = 0.99,
                       .unit = "probability",
                       .doc = "probability of changing one more tunable, applied again after each change"});
  op.cost_s = cost(from, op.cost_s);
  return any_variation(op);
}
any_variation landscape_macro_from(settings& from, const build_context&) {
  landscape_macro op;
  op.add = probability(from, "add", op.add, "probability of applying a step that the program does not have");
  op.remove = probability(from, "remove", op.remove,
                          "probability of removing a step; in the remaining cases a step is moved");
  if (op.add + op.remove > 1)
    from.fail("remove", "the sum of add and remove must not exceed 1", "reduce add or remove");
  op.append = probability(from, "append", op.append,
                          "probability that a new step is put at the end; otherwise its position is random");
  op.cost_s = cost(from, op.cost_s);
  return any_variation(op);
}
template <class Move>
any_variation landscape_move_from(settings& from, const build_context&) {
  Move op;
  op.cost_s = cost(from, op.cost_s);
  return any_variation(op);
}

}  // namespace

void register_landscape_moves(registry& all) {
  all.operators.add("landscape_tune", landscape_tune_from,
                    "simulated landscapes: changes the levels of tunables");
  all.operators.add("landscape_macro", landscape_macro_from,
                    "simulated landscapes: applies, removes or moves an optimization step");
  all.operators.add("landscape_cross", landscape_move_from<landscape_cross>,
                    "simulated landscapes: crosses two candidates");
  all.operators.add("landscape_rename", landscape_move_from<landscape_rename>,
                    "simulated landscapes: makes a near duplicate with the same true value as its parent");
  all.operators.add("landscape_draw", landscape_move_from<landscape_draw>,
                    "simulated landscapes: draws a random program, for random search");
}

}  // namespace kevo
