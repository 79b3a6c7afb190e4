// Variation operators that ask a language model, by name.

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kevo/operators/macro_steps.hpp>
#include <kevo/registry.hpp>

#include "operators/agent/agent.hpp"
#include "operators/llm/directed.hpp"
#include "operators/llm/macro_micro.hpp"
#include "operators/llm/operators.hpp"
#include "src/plugins/builtin.hpp"
#include "src/plugins/count_setting.hpp"
#include "src/plugins/named_policy.hpp"

namespace kevo {
namespace {

void sampling_from(settings& from, llm_settings& made) {
  made.sampling.temperature = from.optional<double>(
      "temperature",
      {.min = 0.0, .max = 5.0, .doc = "sampling temperature; null: the default of the server"});
  made.sampling.top_p = from.optional<double>(
      "top_p",
      {.min = 0.0, .max = 1.0, .doc = "nucleus sampling threshold; null: the default of the server"});
  made.sampling.max_tokens = from.integer(
      "max_tokens", {.def = made.sampling.max_tokens,
                     .min = 1,
                     .unit = "tokens",
                     .doc = "maximum length of a reply, including its reasoning; if a server says "
                            "that its limit is lower, kevo asks again with that limit"});
}

/// Which programs count as known.
void likeness_from(settings& from, llm_settings& made) {
  made.similarity =
      from.real("similarity",
                {.def = made.similarity,
                 .min = 0.0,
                 .max = 2.0,
                 .doc = "a program counts as known and is refused if the fraction of token 5-grams that it "
                        "has in common with a related candidate (Jaccard) is at least this; 1: it differs in "
                        "nothing but comments, spacing or repetition; above 1 disables the check"});
  made.embeddings = from.text("embeddings", {.def = "",
                                             .doc = "name of the embedding model in llm.models that compares "
                                                    "programs by meaning; empty disables this comparison"});
  made.embedding_similarity = from.real(
      "embedding_similarity", {.def = made.embedding_similarity,
                               .min = -1.0,
                               .max = 2.0,
                               .doc = "minimum cosine similarity at which a program counts as known, or "
                                      "is passed to the judge if there is one"});
  made.judge = from.text("judge", {.def = "",
                                   .doc = "name of the model in llm.models that judges whether two programs "
                                          "are equivalent; empty disables the judge"});
  made.judge_similarity =
      from.real("judge_similarity", {.def = made.judge_similarity,
                                     .min = 0.0,
                                     .max = 2.0,
                                     .doc = "without embeddings, minimum fraction of common token 5-grams "
                                            "(Jaccard) at which the judge is asked"});
  for (const auto& [key, name] : {std::pair("embeddings", made.embeddings), std::pair("judge", made.judge)}) {
    if (name.empty() || !made.models) continue;
    const auto& all = made.models->settings().models;
    if (std::none_of(all.begin(), all.end(), [&wanted = name](const auto& m) { return m.name == wanted; }))
      from.fail(key, "llm.models has no model named '" + name + "'",
                "add it to llm.models, or name a model of that list");
  }
}

/// Which part of the past a prompt shows.
void memory_from(settings& from, llm_settings& made) {
  settings memory = from.child_or_empty(
      "memory",
      "weights by which each prompt's scope is drawn; all 0: the selector's scope. If the "
      "selector asks for clean_slate, as for independent drafts, that scope is used");
  for (std::size_t i = 0; i < memory_scope_names.size(); ++i) {
    constexpr const char* docs[memory_scope_names.size()] = {
        "relative frequency of prompts that show the ancestors of the parent; if all frequencies are 0, the "
        "selector's scope decides",
        "relative frequency of prompts that show the earlier children of the parent",
        "relative frequency of prompts that show both the ancestors and the earlier children",
        "relative frequency of prompts that show no earlier candidates, no notes of the run and no "
        "inspirations",
        "relative frequency of prompts that show no earlier candidates, but the notes of the run and the "
        "inspirations"};
    made.scopes[i] =
        memory.real(memory_scope_names[i], {.def = 0.0, .min = 0.0, .unit = "weight", .doc = docs[i]});
  }
}

void knowledge_from(settings& from, llm_settings& made) {
  settings knowledge = from.child_or_empty("knowledge", "how prompts use the pages of llm.knowledge");
  made.injection_rate = knowledge.real(
      "rate", {.def = made.injection_rate,
               .min = 0.0,
               .max = 1.0,
               .unit = "probability",
               .doc = "probability that a prompt includes pages of the knowledge base; below 1, some prompts "
                      "have none, so that the pages do not narrow the search"});
  made.pages = count_from(knowledge, "pages", made.pages,
                          {.min = 0,
                           .max = 100,
                           .unit = "pages",
                           .doc = "maximum number of pages in a prompt; pages of the kind constraints are in "
                                  "all prompts and do not count"});
}

/// At most as many turns as the models that they may ask answer at once: a turn that waits for a model holds
/// a place that other operators could use.
std::size_t turns_at_once(const llm_settings& made) {
  if (!made.models) return made.concurrency;
  std::size_t most = 0;
  for (const auto& model : made.models->settings().models) {
    const bool asked =
        made.model.empty() ? made.tier.empty() || model.tier == made.tier : model.name == made.model;
    if (asked) most += model.server.calls.concurrency;
  }
  return std::clamp<std::size_t>(most, 1, made.concurrency);
}

llm_settings llm_from(settings& from, const build_context& context) {
  llm_settings made;
  made.models = context.services.get<language_models>();
  if (!made.models && !from.probing() && context.task)
    throw error(error_code::input, "this operator needs a language model", from.place("type"),
                "add llm: {models: [{name: NAME, url: URL}]} to the config; docs/llm.md shows how");
  made.model = from.text(
      "model",
      {.def = "", .doc = "name of a model in llm.models; empty: one of the models of the tier is chosen"});
  made.tier =
      from.text("tier", {.def = "", .doc = "tier of the models to choose from; empty means all models"});
  if (made.models) {
    if (!made.model.empty()) made.models->named(made.model);
    rng unused;
    if (made.model.empty()) made.models->choose(made.tier, unused);
  }
  sampling_from(from, made);
  made.prompt_tokens =
      from.integer("prompt_tokens", {.def = made.prompt_tokens,
                                     .min = 256,
                                     .unit = "tokens",
                                     .doc = "maximum length of the first prompt, by a conservative estimate; "
                                            "sections are shortened to fit, but never the parent's source"});
  made.attempts =
      from.integer("attempts", {.def = made.attempts,
                                .min = 1,
                                .max = 100,
                                .unit = "replies",
                                .doc = "maximum number of replies in one turn; a further one is requested "
                                       "only if none so far contains a usable new program"});
  made.concurrency = count_from(from, "concurrency", made.concurrency,
                                {.min = 1,
                                 .max = 4096,
                                 .unit = "turns",
                                 .doc = "maximum number of turns of this operator at the same time; at most "
                                        "as many as its models answer at once (llm.models[].concurrency)"});
  made.concurrency = turns_at_once(made);
  likeness_from(from, made);
  memory_from(from, made);
  knowledge_from(from, made);
  return made;
}

/// The settings of operators that make one program from one reply, of which they can therefore ask for
/// several.
llm_settings sampling_llm_from(settings& from, const build_context& context) {
  llm_settings made = llm_from(from, context);
  made.samples = count_from(
      from, "samples", made.samples,
      {.min = 1,
       .max = 128,
       .unit = "replies",
       .doc = "number of replies to each prompt. Each reply that contains a program becomes a separate "
              "candidate, so that kevo export --format grpo can form groups. Above 1, known programs are "
              "proposed, too, and the model is asked again only if no reply contained a program"});
  return made;
}

llm_universal universal_from(settings& from, const build_context& context) {
  llm_universal op{sampling_llm_from(from, context)};
  op.index = from.boolean(
      "index",
      {.def = false,
       .doc = "whether the prompt for the diagnosis contains the index of the pages in llm.knowledge, so "
              "that the model can name pages; these come before pages that the search finds"});
  return op;
}

llm_contrastive contrastive_from(settings& from, const build_context& context) {
  llm_contrastive op{sampling_llm_from(from, context), {}};
  op.exemplars.count =
      count_from(from, "exemplars", 2,
                 {.min = 2,
                  .max = 16,
                  .unit = "candidates",
                  .doc = "number of programs that are compared: the parent and other selected candidates"});
  op.exemplars.width = from.real("width", {.def = op.exemplars.width,
                                           .above = 0.0,
                                           .doc = "width of a score bucket, relative to its scores, used if "
                                                  "the selector does not choose the programs to compare"});
  op.exemplars.temperature =
      from.real("exemplar_temperature", {.def = op.exemplars.temperature,
                                         .above = 0.0,
                                         .doc = "temperature of the softmax over the mean scores of the "
                                                "buckets, relative to the greatest of them"});
  return op;
}

summarize summarize_from(settings& from, const build_context& context) {
  summarize op{sampling_llm_from(from, context)};
  op.notes_bytes = count_from(from, "notes_bytes", op.notes_bytes,
                              {.min = 200,
                               .max = 1'000'000,
                               .unit = "bytes",
                               .doc = "maximum length of the notes; longer notes are cut"});
  return op;
}

summarize_rounds summarize_rounds_from(settings& from, const build_context& context) {
  llm_settings with = sampling_llm_from(from, context);
  round_summary_settings how;
  const auto count = [&from](const char* key, std::size_t& value, const char* unit, const char* doc) {
    value = count_from(from, key, value, {.min = 1, .unit = unit, .doc = doc});
  };
  count("every", how.every, "proposals", "number of proposals in a round, which begins with a summary");
  count("candidates", how.candidates, "candidates",
        "maximum number of candidates that the prompt of one summary contains, with their sources");
  count("notes_bytes", how.notes_bytes, "bytes", "maximum length of the notes; longer notes are cut");
  return summarize_rounds(std::move(with), how);
}

paradigm_shift paradigm_shift_from(settings& from, const build_context& context) {
  llm_settings with = sampling_llm_from(from, context);
  paradigm_settings how;
  const auto count = [&from](const char* key, std::size_t& value, const char* unit, const char* doc) {
    value = count_from(from, key, value, {.min = 1, .unit = unit, .doc = doc});
  };
  count("window", how.window, "evaluations", "number of latest results in which improvements are counted");
  how.below = from.real("below", {.def = how.below,
                                  .min = 0.0,
                                  .max = 1.0,
                                  .doc = "the run counts as stalled while less than this fraction of the "
                                         "results in the window improved on the best score so far"});
  count("ideas", how.ideas, "strategies", "number of strategies that one call asks the model for");
  count("uses", how.uses, "proposals", "number of proposals whose prompts show the same strategy");
  count("remembered", how.remembered, "strategies",
        "maximum number of tried strategies that the prompt of the next call lists");
  count("notes_bytes", how.notes_bytes, "bytes", "maximum length of a strategy; a longer one is cut");
  return paradigm_shift(std::move(with), how);
}

macro_micro macro_micro_from(settings& from, const build_context& context) {
  llm_settings with = sampling_llm_from(from, context);
  const setting<std::string> how = {
      .def = "ucb",
      .doc =
          "how an optimization step is chosen. uniform: all with equal probability; ucb: UCB1 over the kinds "
          "of step; model: the language model chooses. Any other value is the path of a policy file that "
          "kevo learn policy wrote, relative to the config; it chooses among the actions of rewrite"};
  named_policy chosen = named_policy_from(from, how, {"uniform", "ucb", "model"}, context.directory);
  std::vector<std::string> types = from.texts(
      "types",
      {.doc = "kinds of optimization step; a step is one of these applied to a region or loop of the parent"},
      std::vector<std::string>{"tiling", "fusion", "reordering", "pipelining", "vectorization", "packing"});
  if (types.empty())
    from.fail("types", "at least one kind of step is needed", "for example, types: [tiling, fusion]");
  if (chosen.learnt.weights) {
    require_rewrite_parser();
    return {std::move(with), std::move(types), rewrite_steps(std::move(chosen.learnt))};
  }
  return {std::move(with), std::move(types),
          chosen.name == "uniform" ? uniform_policy()
          : chosen.name == "model" ? model_policy()
                                   : ucb_policy()};
}

llm_repair repair_from(settings& from, const build_context& context) {
  llm_repair op{llm_from(from, context)};
  op.depth =
      count_from(from, "depth", op.depth,
                 {.min = 0, .max = 20, .unit = "repairs", .doc = "maximum number of repairs of a draft"});
  return op;
}

agent agent_from(settings& from, const build_context& context) {
  agent op{llm_from(from, context), {}};
  settings limits = from.child_or_empty("limits", "limits of one turn of the agent");
  const auto count = [&](const char* key, std::int64_t& value, const char* unit, const char* doc) {
    value = limits.integer(key, {.def = value, .min = 1, .unit = unit, .doc = doc});
  };
  count("steps", op.limits.steps, "calls", "maximum number of model calls in one turn");
  count(
      "tokens", op.limits.tokens, "tokens",
      "maximum number of tokens read and written in one turn, without those that the server reports as read "
      "from its cache");
  count("context", op.limits.context, "tokens",
        "size of the conversation, in estimated tokens, from which it is shortened: results of tools older "
        "than "
        "the last steps become a line each; if that is not enough, the model writes notes, with which the "
        "conversation begins anew. A smaller limit that the server names when it refuses a request is used "
        "instead");
  count("evaluations", op.limits.evaluations, "evaluations",
        "maximum number of evaluations of drafts (tests and timings) in one turn");
  count("compilations", op.limits.compilations, "builds",
        "maximum number of drafts that are only compiled in one turn");
  count("runs", op.limits.runs, "runs",
        "maximum number of programs of the model's own that are built and run (tool run), and of looks at "
        "machine code (tool assembly), in one turn");
  count("stalled", op.limits.stalled, "evaluations",
        "number of consecutive evaluations without a gain after which the supervisor, a model in a "
        "conversation of its own, intervenes");
  count("failing", op.limits.failing, "evaluations",
        "number of consecutive invalid evaluations after which the supervisor intervenes");
  count("repeated", op.limits.repeated, "evaluations",
        "number of evaluations of the same program after which the supervisor intervenes");
  count("interventions", op.limits.interventions, "reviews",
        "number of interventions of the supervisor after which the turn ends");
  op.limits.fruitless_turns = limits.integer(
      "fruitless_turns", {.def = 0,
                          .min = 0,
                          .unit = "turns",
                          .doc = "number of consecutive turns without a proposal after which each further "
                                 "turn begins with a review by the supervisor; 0 disables this"});
  op.notes_bytes = count_from(from, "notes", 0,
                              {.min = 0,
                               .max = 100000,
                               .unit = "bytes",
                               .doc = "maximum size of the notes that the model writes at the end of each "
                                      "turn; its next turn and the supervisor read them. 0 disables notes"});
  op.limits.seconds = limits.real(
      "seconds", {.def = op.limits.seconds,
                  .above = 0.0,
                  .unit = "s",
                  .doc = "maximum time that the model calls and evaluations of one turn may take"});
  if (from.boolean("tools",
                   {.def = false,
                    .doc = "whether the model also has the tools of the fitness function: run builds "
                           "and runs programs of the model's own in the sandbox, with hardware "
                           "counters if wanted; assembly shows the loops of a draft's machine code. "
                           "The cpu backend has them with places: 1"}))
    op.tools = context.services.get<draft_tools>();
  op.limits.margin =
      limits.real("margin", {.def = op.limits.margin,
                             .min = 0.0,
                             .max = 1.0,
                             .doc = "relative difference in score that counts as a gain; a submission may be "
                                    "worse than the parent by at most this"});
  return op;
}

}  // namespace

void register_model_operators(registry& all) {
  all.operators.add(
      "llm_rewrite",
      [](settings& from, const build_context& context) {
        return any_variation(llm_rewrite{sampling_llm_from(from, context)});
      },
      "a language model rewrites the main file");
  all.operators.add(
      "llm_diff",
      [](settings& from, const build_context& context) {
        return any_variation(llm_diff{sampling_llm_from(from, context)});
      },
      "a language model edits the main file: SEARCH/REPLACE blocks or a unified diff");
  all.operators.add(
      "llm_crossover",
      [](settings& from, const build_context& context) {
        return any_variation(llm_crossover{sampling_llm_from(from, context)});
      },
      "a language model combines two candidates");
  all.operators.add(
      "llm_repair",
      [](settings& from, const build_context& context) { return any_variation(repair_from(from, context)); },
      "a language model writes a draft and repairs it until it is valid");
  all.operators.add(
      "agent",
      [](settings& from, const build_context& context) { return any_variation(agent_from(from, context)); },
      "a language model works with tools (read, edit, compile, test, time) until it submits a program (AVO)");
  all.operators.add(
      "llm_universal",
      [](settings& from, const build_context& context) {
        return any_variation(universal_from(from, context));
      },
      "a language model diagnoses one bottleneck, looks up knowledge about it, then rewrites the program "
      "(KernelEvolve)");
  all.operators.add(
      "llm_contrastive",
      [](settings& from, const build_context& context) {
        return any_variation(contrastive_from(from, context));
      },
      "a language model compares programs of different scores, then writes a faster one (CUDA-L1)");
  all.operators.add(
      "paradigm_shift",
      [](settings& from, const build_context& context) {
        return any_variation(paradigm_shift_from(from, context));
      },
      "a language model edits the main file; while the run stalls, it is first asked for new strategies, "
      "which the prompts of the next proposals show (AdaEvolve)");
  all.operators.add(
      "macro_micro",
      [](settings& from, const build_context& context) {
        return any_variation(macro_micro_from(from, context));
      },
      "a policy chooses an optimization step, and a language model implements it (MTMC)");
  all.operators.add(
      "summarize",
      [](settings& from, const build_context& context) {
        return any_variation(summarize_from(from, context));
      },
      "a language model rewrites the notes of the run, then rewrites the program with them (ShinkaEvolve)");
  all.operators.add(
      "summarize_rounds",
      [](settings& from, const build_context& context) {
        return any_variation(summarize_rounds_from(from, context));
      },
      "a language model rewrites the program; once a round it first summarizes new candidates in the notes "
      "of "
      "the run (POLCA)");
}

}  // namespace kevo
