#include "fitness/cuda/measure/screening.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/cuda/measure/device_task.hpp"

namespace kevo::cuda {

namespace {

// How long a call of the candidate may take.
std::chrono::nanoseconds limit_of(const gpu_bench& bench, const program_runner& candidate,
                                  std::size_t workload) {
  return candidate.has_run(workload) ? bench.call_limit(workload)
                                     : bench.first_call_limit(workload, candidate.kind());
}

bool check_workload(gpu_bench& bench, evaluation_state& p, program_runner& candidate, std::size_t index,
                    std::uint32_t from, std::uint32_t count) {
  for (std::uint32_t i = from; i < count; ++i) {
    if (p.request.stop.stop_requested()) throw error(error_code::interrupted, "the evaluation was stopped");
    const auto time = candidate.check(index, i, limit_of(bench, candidate, index));
    if (time.suite_misses >= 0 && !bench.subject().workloads[index].hidden)
      p.by_suite.add(static_cast<std::uint64_t>(time.suite_misses));
    if (time.failure) return fail(p, index, bench.subject().workloads[index], *time.failure), false;
    auto& known = p.call_ns[index];
    known = known > 0 ? std::min(known, time.event_ns) : time.event_ns;
  }
  return true;
}

// Ends the process of a candidate after hidden workloads: the next one cannot tell their sizes to anybody,
// neither by a message, nor by how or when it fails, nor by the times that it takes.
void forget_hidden(const gpu_bench& bench, program_runner& candidate) {
  const auto& workloads = bench.subject().workloads;
  if (std::any_of(workloads.begin(), workloads.end(), [](const workload& w) { return w.hidden; }))
    candidate.restart();
}

// Why a task takes no programs of this language.
std::string why_unknown(const std::string& language, bool python_task) {
  if (python_task) return "the task takes programs in python, not in " + language;
  if (language == "python")
    return "the program has no kernel: a program in Python needs functions with @triton.jit and launch lines "
           "for this task (modules of PyTorch are for tasks whose reference is in Python)";
  return "the CUDA backend takes programs in cuda and triton, not in " + language;
}

}  // namespace

bool build_candidate(gpu_bench& bench, evaluation_state& p) {
  const auto& source = *p.request.program;
  const bool python = is_python_task(bench.subject());
  const bool known = source.language == "triton" || source.language == (python ? "python" : "cuda");
  auto why = known ? why_unbuildable(source, bench.settings().limits.source_bytes)
                   : why_unknown(source.language, python);
  if (!why.empty()) return tell_build_failure(p.result, {std::move(why)}), false;
  p.built = bench.build(source, false, p.request.stop);
  for (const auto& [key, value] : p.built.context) p.result.context[key] = value;
  if (p.built.ok) return true;
  p.result.outcome = p.built.outcome;
  p.result.reasons = p.built.reasons;
  p.result.feedback = p.built.feedback;
  return false;
}

bool check_workloads(gpu_bench& bench, evaluation_state& p, program_runner& candidate, bool hidden) {
  const auto& workloads = bench.subject().workloads;
  const auto first = bench.smallest_visible();
  const auto usual = [&](std::size_t i) {
    return std::min(workloads[i].hidden ? 2 : bench.contents_to_check(), 1 + bench.contents()[i].varied);
  };
  const auto passes = [&](std::size_t i) {
    if (!check_workload(bench, p, candidate, i, 0, usual(i))) return false;
    p.result.workloads[i].outcome = outcome::valid;
    return true;
  };
  if (!hidden && !passes(first)) return false;
  for (std::size_t i = 0; i < workloads.size(); ++i) {
    if (i != first && workloads[i].hidden == hidden && !passes(i)) return false;
  }
  return true;
}

bool same_bits(gpu_bench& bench, evaluation_state& p, program_runner& candidate) {
  const auto& workloads = bench.subject().workloads;
  std::vector<std::string> first(workloads.size());
  std::vector<std::size_t> visible_first;
  for (const bool hidden : {false, true}) {
    for (std::size_t i = 0; i < workloads.size(); ++i) {
      if (workloads[i].hidden == hidden) visible_first.push_back(i);
    }
  }
  const int runs = bench.settings().gates.determinism;
  for (int run = 0; runs > 1 && run < runs; ++run) {
    candidate.restart();
    for (const std::size_t i : visible_first) {
      if (p.request.stop.stop_requested()) throw error(error_code::interrupted, "the evaluation was stopped");
      const auto time = candidate.fingerprint(i, limit_of(bench, candidate, i));
      if (time.failure) return fail(p, i, workloads[i], *time.failure), false;
      if (run == 0) {
        first[i] = time.fingerprint;
      } else if (time.fingerprint != first[i]) {
        const std::string detail = fmt::format("run {} of {} on the same inputs", run + 1, runs);
        return fail(p, i, workloads[i], {outcome::incorrect, "gives different bits in another run", detail}),
               false;
      }
    }
  }
  if (runs > 1) forget_hidden(bench, candidate);
  if (runs > 1) p.result.context["determinism"] = fmt::format("{} runs gave the same bits", runs);
  return true;
}

bool pass_checkers(gpu_bench& bench, evaluation_state& p, program_runner& candidate) {
  const std::string checkers = bench.checkers();
  if (checkers.empty()) return true;
  candidate.restart();
  if (const auto failure = bench.check_gates(p.built, p.request.stop)) {
    const auto index = bench.smallest_visible();
    return fail(p, index, bench.subject().workloads[index], *failure), false;
  }
  p.result.context["gates"] = checkers + ": no errors";
  return true;
}

}  // namespace kevo::cuda
