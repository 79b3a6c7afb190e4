#include "src/lab/problem.hpp"

#include <utility>

#include <fmt/format.h>

#include <kevo/lab/landscape.hpp>
#include <kevo/lab/landscape_fitness.hpp>
#include <kevo/lab/simulated_model.hpp>
#include <kevo/registry.hpp>

#include "src/base/settings/yaml.hpp"

namespace kevo {
namespace {

std::size_t count(settings& from, const char* key, std::size_t def, std::int64_t min, std::int64_t max,
                  const char* unit, const char* doc) {
  return static_cast<std::size_t>(from.integer(
      key, {.def = static_cast<std::int64_t>(def), .min = min, .max = max, .unit = unit, .doc = doc}));
}
double share(settings& from, const char* key, double def, const char* doc) {
  return from.real(key, {.def = def, .min = 0.0, .max = 1.0, .doc = doc});
}

simulated_measurement read_measurement(settings& from) {
  simulated_measurement m;
  m.noise = from.real(
      "noise",
      {.def = m.noise, .min = 0.0, .doc = "standard deviation of the logarithm of a measured speedup"});
  m.confirmed_noise =
      from.real("confirmed_noise", {.def = m.confirmed_noise,
                                    .min = 0.0,
                                    .doc = "standard deviation of the logarithm of a confirmed speedup"});
  m.tasks =
      count(from, "tasks", m.tasks, 0, 1'000'000, "tasks",
            "number of small tasks; each measurement runs a program on one of them, drawn at random, so that "
            "`noise` is the variation among tasks; 0: one task, and every measurement has noise of its own");
  m.build_s =
      from.real("build_s", {.def = m.build_s, .min = 0.0, .unit = "s", .doc = "simulated cost of a build"});
  m.run_s = from.real("run_s", {.def = m.run_s,
                                .min = 0.0,
                                .unit = "s",
                                .doc = "simulated cost of timing a program that is as fast as the seed"});
  return m;
}

landscape_settings read_landscape(settings& from) {
  landscape_settings s;
  s.steps = count(from, "steps", s.steps, 0, 256, "steps", "number of optimization steps");
  s.tunables = count(from, "tunables", s.tunables, 0, 256, "tunables", "number of tunables");
  s.levels = count(from, "levels", s.levels, 2, 256, "levels", "number of values of each tunable");
  s.gain_low = from.real(
      "gain_low", {.def = s.gain_low, .min = 1.0, .doc = "minimum speedup factor of a step or a tunable"});
  s.gain_high = from.real(
      "gain_high", {.def = s.gain_high, .min = 1.0, .doc = "maximum speedup factor of a step or a tunable"});
  if (s.gain_high < s.gain_low)
    from.fail("gain_high", "gain_high must not be less than gain_low", "raise gain_high or lower gain_low");
  s.ordered = share(from, "ordered", s.ordered, "probability that a step requires another step before it");
  s.strict = share(from, "strict", s.strict,
                   "probability that such a step gives incorrect results without the required one; otherwise "
                   "it is only slower");
  s.valleys = share(from, "valleys", s.valleys,
                    "probability that a step which others require makes the program slower by itself");
  s.misplaced = from.real("misplaced", {.def = s.misplaced,
                                        .max = 1.0,
                                        .above = 0.0,
                                        .doc = "speedup factor of a step whose required step is missing"});
  s.coupled =
      share(from, "coupled", s.coupled, "probability that the best value of a tunable depends on a step");
  s.traps =
      share(from, "traps", s.traps, "probability that a tunable has a local optimum far from its best value");
  s.trap_height = from.real(
      "trap_height", {.def = s.trap_height,
                      .min = 0.0,
                      .max = 0.99,
                      .doc = "height of such a local optimum, as a fraction of the logarithm of the gain"});
  s.plateau = count(from, "plateau", s.plateau, 1, 256, "levels",
                    "number of neighbouring levels with the same value");
  s.resources = count(from, "resources", s.resources, 0, 256, "pairs",
                      "number of pairs of tunables that share a limited resource");
  return s;
}

simulated_quality read_model(settings from) {
  simulated_quality q;
  q.correct = share(from, "correct", q.correct, "probability that one edit leaves the program valid");
  q.improving = share(from, "improving", q.improving,
                      "probability that a reply is an improvement because of what the model knows already");
  q.duplicate = share(from, "duplicate", q.duplicate, "probability that a reply changes only names");
  q.repair = share(from, "repair", q.repair,
                   "probability of repairing a program whose error message the prompt shows");
  q.blind_repair =
      share(from, "blind_repair", q.blind_repair, "probability of repairing a program without the message");
  q.follow = share(from, "follow", q.follow, "probability that a reply uses what the prompt shows");
  return q;
}

/// The operator `simulated_model` of one landscape problem.
void add_model(registry& all, const std::shared_ptr<const simulated_model_states>& states,
               const simulated_quality& quality) {
  all.operators.add(
      "simulated_model",
      [states, quality](settings& from, const build_context&) {
        const std::string call =
            from.text("call", {.def = "rewrite",
                               .doc = "operator that is simulated",
                               .one_of = {simulated_call_names.begin(), simulated_call_names.end()}});
        simulated_quality own = quality;
        own.feedback = from.boolean(
            "feedback", {.def = true, .doc = "whether the prompt holds the error message of the parent"});
        settings memory = from.child_or_empty(
            "memory", "weights of the kinds of memory; if all are 0, the selector decides");
        const auto weight = [&memory](const char* key) {
          return memory.real(key, {.def = 0.0, .min = 0.0, .doc = "weight of this kind of memory"});
        };
        simulated_memory weights;
        weights.parent_trajectory = weight("parent_trajectory");
        weights.siblings = weight("siblings");
        weights.both = weight("both");
        weights.clean_slate = weight("clean_slate");
        std::size_t kind = 0;
        while (simulated_call_names[kind] != call) ++kind;
        return any_variation(simulated_model(states, static_cast<simulated_call>(kind), own, weights));
      },
      "simulated landscapes: stands for an operator that asks a language model");
}

lab_problem landscape_problem(settings& from) {
  const landscape_settings shape = read_landscape(from);
  const simulated_measurement measured = read_measurement(from);
  const simulated_quality quality =
      read_model(from.child_or_empty("model", "stated quality of the simulated language model"));
  const auto states = std::make_shared<simulated_model_states>();
  lab_problem problem;
  problem.extend = [states, quality](registry& all) { add_model(all, states, quality); };
  problem.description = fmt::format("simulated landscapes of {} steps and {} tunables, noise {:g}",
                                    shape.steps, shape.tunables, measured.noise);
  problem.instance = [shape, measured, states](std::uint64_t seed) {
    const auto world = std::make_shared<const landscape>(shape, seed);
    lab_instance made;
    made.seeds = {to_source(world->seed())};
    made.fitness = any_fitness(std::make_shared<landscape_fitness>(world, measured, seed));
    made.true_value = [world](const program& source) {
      const auto p = landscape_program_in(source.text());
      return p ? world->judge(*p).value : 0;
    };
    made.optimum = world->optimum();
    made.task = std::make_shared<const task>();
    states->add(made.task, world);
    return made;
  };
  return problem;
}

}  // namespace

lab_problem read_problem(settings& from, const std::string& directory) {
  const std::string type =
      from.text("type", {.def = "landscape",
                         .doc = "the problem that is searched",
                         .one_of = {"landscape", "recorded", "recorded_run", "ordered_steps"}});
  if (type == "recorded") return recorded_problem(from, directory);
  if (type == "recorded_run") return recorded_run_problem(from, directory);
  if (type == "ordered_steps") return ordered_problem(from);
  lab_problem problem = landscape_problem(from);
  from.finish();
  problem.identity = dump_yaml(from.resolved());
  return problem;
}

}  // namespace kevo
