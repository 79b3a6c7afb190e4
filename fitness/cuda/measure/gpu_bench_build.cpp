// From the source of a program to what can be launched, or why it cannot: declared and hosted programs.

#include <kevo/annotation.hpp>
#include <kevo/error.hpp>

#include "fitness/cuda/compile/variable_limit.hpp"
#include "fitness/cuda/hosted/entry.hpp"
#include "fitness/cuda/launch/wanted_kernels.hpp"
#include "fitness/cuda/measure/gpu_bench.hpp"
#include "fitness/torch/compiled_baseline.hpp"
#include "fitness/torch/source_facts.hpp"

namespace kevo::cuda {
namespace {

built_program refused(outcome why, std::string reason, std::string feedback = {}) {
  built_program result;
  result.outcome = why;
  result.feedback = feedback.empty() ? reason : std::move(feedback);
  result.reasons.push_back(std::move(reason));
  return result;
}

// What an evaluation says of how its program was compiled.
std::map<std::string, std::string> build_context_of(const std::string& compiler, const std::string& choices) {
  std::map<std::string, std::string> said;
  if (!compiler.empty()) said["built_by"] = compiler;
  if (!choices.empty()) said["build"] = choices;
  return said;
}

}  // namespace

built_program gpu_bench::build(const program& source, bool trusted, std::stop_token stop,
                               const std::vector<std::string>& link) {
  if (python_) return build_python(source, trusted, torch::is_compiled(link), stop);
  if (is_hosted(source)) return build_hosted(source, trusted, std::move(stop), link);
  const auto lines = read_launch_lines(source);
  if (const auto* failure = std::get_if<launch_failure>(&lines))
    return refused(outcome::launch_failed, failure->reason);
  const auto& declared = std::get<declared_launch>(lines);
  auto kernels = kernels_to_compile(declared, source, *task_, facts_);
  if (const auto* failure = std::get_if<launch_failure>(&kernels))
    return refused(outcome::launch_failed, failure->reason);
  auto& wanted = std::get<wanted_kernels>(kernels);
  auto compiled =
      compiler_->build({source, std::move(wanted.names), facts_.architecture, settings_.flags, wanted.visible,
                        trusted ? fast_math_permission{true, {}} : fast_math_of(*task_)},
                       std::move(stop));
  if (!compiled.ok) {
    return refused(outcome::build_failed,
                   compiled.reasons.empty() ? "does not compile" : compiled.reasons.front(),
                   compiled.diagnostics);
  }
  if (!trusted && !settings_.allow_globals && !compiled.module.lasting.empty()) {
    return refused(outcome::rejected, "uses device memory that outlives a call",
                   compiled.module.lasting.front() +
                       " could carry results from one call to the next; use a workspace, or a __device__ "
                       "variable (64 KiB in all), which has its initial value at the beginning of each call");
  }
  // Of trusted programs, too: what is not timed for a baseline would make each candidate look slow.
  if (const auto why = refuse_large_variables(compiled.module))
    return refused(outcome::rejected, why->reason, why->feedback);
  built_program result;
  for (const auto& w : task_->workloads) {
    auto resolved = resolve(declared, signature_of(*task_, w), compiled.module, facts_);
    if (const auto* failure = std::get_if<launch_failure>(&resolved)) {
      const std::string reason = w.hidden ? "a hidden workload failed" : failure->reason;
      return refused(outcome::launch_failed, reason);
    }
    result.plans.push_back(std::get<plan>(std::move(resolved)));
  }
  result.ok = true;
  result.outcome = outcome::valid;
  result.context = build_context_of(compiled.compiler, compiled.chosen.text());
  result.code = std::move(compiled.module);
  return result;
}

built_program gpu_bench::build_python(const program& source, bool trusted, bool compile,
                                      const std::stop_token& stop) {
  try {
    static_cast<void>(parse_annotations(source));
    static_cast<void>(build_choices_of(source, build_family::torch, {}));
  } catch (const error& failure) {
    return refused(outcome::launch_failed, failure.message());
  }
  const auto facts = torch::facts_of(source);
  if (!trusted && settings_.own_kernel && facts.triton_kernels + facts.cuda_kernels == 0)
    return refused(outcome::rejected,
                   "the program has no kernel of its own, which fitness.own_kernel requires");
  // Baselines have no compiler.
  if (!trusted) {
    if (const auto why = python_->build_ahead(source, stop); !why.empty())
      return refused(outcome::build_failed, "an extension cannot be built", why);
  }
  built_program result;
  result.kind = program_kind::hosted;
  for (const auto& w : task_->workloads) result.plans.push_back(python_plan(*task_, w));
  result.object.object =
      python_->object_of(source, trusted ? python_role::baseline : python_role::candidate, compile);
  result.measures = torch::measures_of(facts);
  result.concurrent = facts.concurrent;
  result.ok = true;
  result.outcome = outcome::valid;
  return result;
}

// The first one that needs no library: candidates may not link with them.
built_program gpu_bench::baseline_as_candidate() {
  for (const auto& b : task_->baselines) {
    if (python_) {
      auto built = build_python(b.source, true, false, {});
      built.object.object = python_->object_of(b.source, python_role::candidate);
      if (built.ok) return built;
    } else if (b.link.empty()) {
      auto built = build(b.source, false, {});
      if (built.ok) return built;
    }
  }
  return {};
}

built_program gpu_bench::build_hosted(const program& source, bool trusted, std::stop_token stop,
                                      const std::vector<std::string>& link) {
  try {
    static_cast<void>(parse_annotations(source));
  } catch (const error& failure) {
    return refused(outcome::launch_failed, failure.message());
  }
  auto object =
      hosted_->build(*task_, source, facts_.architecture, settings_.flags, trusted, link, std::move(stop));
  if (!object.ok) {
    return refused(outcome::build_failed,
                   object.reasons.empty() ? "does not compile" : object.reasons.front(), object.diagnostics);
  }
  built_program result;
  result.kind = program_kind::hosted;
  for (const auto& w : task_->workloads) result.plans.push_back(hosted_plan(*task_, w));
  result.context = build_context_of(object.compiler, object.choices);
  result.object = std::move(object);
  result.ok = true;
  result.outcome = outcome::valid;
  return result;
}

}  // namespace kevo::cuda
