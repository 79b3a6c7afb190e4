// Variation operators by name: how an entry of `vary.operators:` becomes one.

#include "operators/llm/operators.hpp"

#include <algorithm>

#include <kevo/registry.hpp>

#include "operators/agent/agent.hpp"
#include "operators/llm/directed.hpp"
#include "operators/llm/macro_micro.hpp"
#include "operators/splice/splice.hpp"
#include "operators/tune/tune.hpp"

namespace kevo {
namespace {

tune tune_from(settings& from) {
  tune op;
  op.crossover =
      from.real("crossover", {.def = op.crossover,
                              .min = 0.0,
                              .max = 1.0,
                              .unit = "probability",
                              .doc = "of a cross where another selected candidate has the same tunables"});
  op.neighbour = from.real("neighbour", {.def = op.neighbour,
                                         .min = 0.0,
                                         .max = 1.0,
                                         .unit = "probability",
                                         .doc = "that a step goes to the next value and not to any value"});
  op.another_step = from.real("another_step", {.def = op.another_step,
                                               .min = 0.0,
                                               .max = 1.0,
                                               .unit = "probability",
                                               .doc = "of each further tunable"});
  op.tries = static_cast<std::size_t>(
      from.integer("tries", {.def = static_cast<std::int64_t>(op.tries),
                             .min = 1,
                             .max = 10000,
                             .unit = "settings",
                             .doc = "that may turn out to be seen before all are walked"}));
  op.enumerate = static_cast<std::size_t>(
      from.integer("enumerate", {.def = static_cast<std::int64_t>(op.enumerate),
                                 .min = 0,
                                 .max = 10'000'000,
                                 .unit = "settings",
                                 .doc = "largest number of valid ones that is walked to its end"}));
  return op;
}

splice splice_from(settings& from) {
  splice op;
  op.another_region = from.real("another_region", {.def = op.another_region,
                                                   .min = 0.0,
                                                   .max = 1.0,
                                                   .unit = "probability",
                                                   .doc = "of each further region"});
  op.tries =
      static_cast<std::size_t>(from.integer("tries", {.def = static_cast<std::int64_t>(op.tries),
                                                      .min = 1,
                                                      .max = 10000,
                                                      .unit = "mixtures",
                                                      .doc = "that may turn out to be seen or broken"}));
  return op;
}

llm_settings llm_from(settings& from, const build_context& context) {
  llm_settings made;
  made.models = context.services.get<language_models>();
  if (!made.models && !from.probing() && context.task)
    throw error(error_code::input, "this operator needs a language model", from.place("type"),
                "add llm: {models: [{name: NAME, url: URL}]} to the config; docs/llm.md shows how");
  made.model =
      from.text("model", {.def = "", .doc = "a model of llm.models by name; empty: one of the tier"});
  made.tier = from.text("tier", {.def = "", .doc = "of the models to choose from; empty: all"});
  if (made.models) {
    if (!made.model.empty()) made.models->named(made.model);
    rng unused;
    if (made.model.empty()) made.models->choose(made.tier, unused);
  }
  made.sampling.temperature =
      from.optional<double>("temperature", {.min = 0.0, .max = 5.0, .doc = "null: the server's"});
  made.sampling.top_p = from.optional<double>("top_p", {.min = 0.0, .max = 1.0, .doc = "null: the server's"});
  made.sampling.max_tokens = from.integer(
      "max_tokens",
      {.def = made.sampling.max_tokens, .min = 1, .unit = "tokens", .doc = "of a reply, reasoning included"});
  made.prompt_tokens = from.integer(
      "prompt_tokens", {.def = made.prompt_tokens,
                        .min = 256,
                        .unit = "tokens",
                        .doc = "budget of the first prompt, by a high estimate; the parent is never cut"});
  made.attempts = from.integer(
      "attempts",
      {.def = made.attempts, .min = 1, .max = 100, .unit = "replies", .doc = "until one is usable"});
  made.concurrency = static_cast<std::size_t>(
      from.integer("concurrency", {.def = static_cast<std::int64_t>(made.concurrency),
                                   .min = 1,
                                   .max = 4096,
                                   .unit = "variations",
                                   .doc = "of this operator at once"}));
  made.similarity =
      from.real("similarity",
                {.def = made.similarity,
                 .min = 0.0,
                 .max = 2.0,
                 .doc = "share of common token 5-grams from which a program counts as known; above 1: none"});
  made.embeddings =
      from.text("embeddings", {.def = "", .doc = "model of llm.models that embeds programs; empty: none"});
  made.embedding_similarity =
      from.real("embedding_similarity", {.def = made.embedding_similarity,
                                         .min = -1.0,
                                         .max = 2.0,
                                         .doc = "cosine from which a program counts as known, or is "
                                                "shown to the judge"});
  made.judge = from.text(
      "judge", {.def = "", .doc = "model of llm.models that says whether two programs are one; empty: none"});
  made.judge_similarity =
      from.real("judge_similarity",
                {.def = made.judge_similarity,
                 .min = 0.0,
                 .max = 2.0,
                 .doc = "without embeddings: share of common token 5-grams from which the judge is asked"});
  for (const auto& [key, name] : {std::pair("embeddings", made.embeddings), std::pair("judge", made.judge)}) {
    if (name.empty() || !made.models) continue;
    const auto& all = made.models->settings().models;
    if (std::none_of(all.begin(), all.end(), [&wanted = name](const auto& m) { return m.name == wanted; }))
      from.fail(key, "llm.models has no model named '" + name + "'");
  }
  settings knowledge = from.child_or_empty("knowledge", "what prompts are given of llm.knowledge");
  made.injection_rate =
      knowledge.real("rate", {.def = made.injection_rate,
                              .min = 0.0,
                              .max = 1.0,
                              .unit = "probability",
                              .doc = "that a prompt is given pages: memory also anchors a search"});
  made.pages =
      static_cast<std::size_t>(knowledge.integer("pages", {.def = static_cast<std::int64_t>(made.pages),
                                                           .min = 0,
                                                           .max = 100,
                                                           .unit = "pages",
                                                           .doc = "in a prompt"}));
  return made;
}

llm_contrastive contrastive_from(settings& from, const build_context& context) {
  llm_contrastive op{llm_from(from, context), {}};
  op.exemplars.count = static_cast<std::size_t>(from.integer(
      "exemplars", {.def = 2, .min = 2, .max = 16, .unit = "candidates", .doc = "each of another bucket"}));
  op.exemplars.width =
      from.real("width", {.def = op.exemplars.width, .above = 0.0, .unit = "score", .doc = "of a bucket"});
  op.exemplars.temperature = from.real(
      "exemplar_temperature",
      {.def = op.exemplars.temperature, .above = 0.0, .unit = "score", .doc = "of the softmax over buckets"});
  return op;
}

summarize summarize_from(settings& from, const build_context& context) {
  summarize op{llm_from(from, context)};
  op.notes_bytes =
      static_cast<std::size_t>(from.integer("notes_bytes", {.def = static_cast<std::int64_t>(op.notes_bytes),
                                                            .min = 200,
                                                            .max = 1'000'000,
                                                            .unit = "bytes",
                                                            .doc = "longer notes are cut"}));
  return op;
}

macro_micro macro_micro_from(settings& from, const build_context& context) {
  llm_settings with = llm_from(from, context);
  const std::string policy =
      from.text("policy", {.def = "ucb", .doc = "who picks the step", .one_of = {"uniform", "ucb", "model"}});
  std::vector<std::string> types =
      from.texts("types", {.doc = "kinds of step; a step is a kind and a region or loop of the parent"},
                 std::vector<std::string>{"tiling", "fusion", "reordering", "pipelining"});
  if (types.empty()) from.fail("types", "at least one kind of step is needed");
  return {std::move(with), std::move(types),
          policy == "uniform" ? uniform_policy()
          : policy == "ucb"   ? ucb_policy()
                              : model_policy()};
}

llm_repair repair_from(settings& from, const build_context& context) {
  llm_repair op{llm_from(from, context)};
  op.depth = static_cast<std::size_t>(from.integer("depth", {.def = static_cast<std::int64_t>(op.depth),
                                                             .min = 0,
                                                             .max = 20,
                                                             .unit = "repairs",
                                                             .doc = "of one draft"}));
  return op;
}

agent agent_from(settings& from, const build_context& context) {
  agent op{llm_from(from, context), {}};
  settings limits = from.child_or_empty("limits", "when a turn ends");
  const auto count = [&](const char* key, std::int64_t& value, const char* unit, const char* doc) {
    value = limits.integer(key, {.def = value, .min = 1, .unit = unit, .doc = doc});
  };
  count("steps", op.limits.steps, "calls", "of the model");
  count("tokens", op.limits.tokens, "tokens", "read and written");
  count("evaluations", op.limits.evaluations, "evaluations", "of drafts: tests and timings");
  count("compilations", op.limits.compilations, "builds", "of drafts that are compiled alone");
  count("stalled", op.limits.stalled, "evaluations",
        "in a row without a gain, then the supervisor speaks up");
  count("failing", op.limits.failing, "evaluations",
        "in a row that are not valid, then the supervisor speaks up");
  count("repeated", op.limits.repeated, "evaluations", "of one program, then the supervisor speaks up");
  count("interventions", op.limits.interventions, "reviews", "of the supervisor before the turn ends");
  op.limits.seconds =
      limits.real("seconds", {.def = op.limits.seconds, .above = 0.0, .unit = "s", .doc = "of a turn"});
  op.limits.margin =
      limits.real("margin", {.def = op.limits.margin,
                             .min = 0.0,
                             .max = 1.0,
                             .doc = "what a submission may be worse by, and what counts as a gain"});
  return op;
}

}  // namespace

void register_operators(registry& all);  // declared for users in src/plugins/builtin.hpp
void register_operators(registry& all) {
  all.operators.add(
      "tune", [](settings& from, const build_context&) { return any_variation(tune_from(from)); },
      "another setting of the tunables that a source declares");
  all.operators.add(
      "splice", [](settings& from, const build_context&) { return any_variation(splice_from(from)); },
      "regions of one candidate in the place of another's");
  all.operators.add(
      "llm_rewrite",
      [](settings& from, const build_context& context) {
        return any_variation(llm_rewrite{llm_from(from, context)});
      },
      "a language model writes the main file anew");
  all.operators.add(
      "llm_diff",
      [](settings& from, const build_context& context) {
        return any_variation(llm_diff{llm_from(from, context)});
      },
      "a language model edits the main file: SEARCH/REPLACE blocks or a unified diff");
  all.operators.add(
      "llm_crossover",
      [](settings& from, const build_context& context) {
        return any_variation(llm_crossover{llm_from(from, context)});
      },
      "a language model joins two candidates");
  all.operators.add(
      "llm_repair",
      [](settings& from, const build_context& context) { return any_variation(repair_from(from, context)); },
      "a language model writes a draft and repairs it until it is valid");
  all.operators.add(
      "agent",
      [](settings& from, const build_context& context) { return any_variation(agent_from(from, context)); },
      "a language model works with tools until it submits (AVO)");
  all.operators.add(
      "llm_universal",
      [](settings& from, const build_context& context) {
        return any_variation(llm_universal{llm_from(from, context)});
      },
      "a language model diagnoses, looks up, then acts on one bottleneck (KernelEvolve)");
  all.operators.add(
      "llm_contrastive",
      [](settings& from, const build_context& context) {
        return any_variation(contrastive_from(from, context));
      },
      "a language model compares scored programs, then writes a faster one (CUDA-L1)");
  all.operators.add(
      "macro_micro",
      [](settings& from, const build_context& context) {
        return any_variation(macro_micro_from(from, context));
      },
      "a policy picks a step, a language model realizes it (MTMC)");
  all.operators.add(
      "summarize",
      [](settings& from, const build_context& context) {
        return any_variation(summarize_from(from, context));
      },
      "a language model rewrites the run's notes, then acts on them (POLCA, ShinkaEvolve)");
}

}  // namespace kevo
