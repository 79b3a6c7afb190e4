// Operators on simulated landscapes by name.

#include <kevo/lab/landscape_moves.hpp>

#include "src/plugins/builtin.hpp"

namespace kevo {
namespace {

double probability(settings& from, const char* key, double def, const char* doc) {
  return from.real(key, {.def = def, .min = 0.0, .max = 1.0, .unit = "probability", .doc = doc});
}
double cost(settings& from, double def) {
  return from.real("cost_s", {.def = def, .min = 0.0, .unit = "s", .doc = "booked for each proposal"});
}

any_variation landscape_tune_from(settings& from, const build_context&) {
  landscape_tune op;
  op.neighbour =
      probability(from, "neighbour", op.neighbour, "that a tunable moves by one level and not to any level");
  // At 1 a step would never end.
  op.another_step = from.real("another_step", {.def = op.another_step,
                                               .min = 0.0,
                                               .max = 0.99,
                                               .unit = "probability",
                                               .doc = "of each further tunable"});
  op.cost_s = cost(from, op.cost_s);
  return any_variation(op);
}
any_variation landscape_macro_from(settings& from, const build_context&) {
  landscape_macro op;
  op.add = probability(from, "add", op.add, "of applying a step that is not there");
  op.remove = probability(from, "remove", op.remove, "of taking one away; else one is moved");
  if (op.add + op.remove > 1)
    from.fail("remove", "add and remove are parts of one whole", "at most 1 together");
  op.append = probability(from, "append", op.append, "that a new step comes last and not anywhere");
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
  all.operators.add("landscape_tune", landscape_tune_from, "simulated landscapes: other levels of tunables");
  all.operators.add("landscape_macro", landscape_macro_from,
                    "simulated landscapes: applies, takes away or moves a step");
  all.operators.add("landscape_cross", landscape_move_from<landscape_cross>,
                    "simulated landscapes: two candidates mixed");
  all.operators.add("landscape_rename", landscape_move_from<landscape_rename>,
                    "simulated landscapes: a near duplicate, worth what its parent is");
  all.operators.add("landscape_draw", landscape_move_from<landscape_draw>,
                    "simulated landscapes: any program, for random search");
}

}  // namespace kevo
