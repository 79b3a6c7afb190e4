#include "fitness/cuda/tools/gates.hpp"

#include <sstream>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kevo/error.hpp>
#include <kevo/random.hpp>
#include <kevo/task_extents.hpp>

#include "fitness/cuda/device/worker_link.hpp"
#include "fitness/cuda/tools/replay.hpp"
#include "fitness/cuda/tools/tool.hpp"
#include "fitness/oracle/draw_inputs.hpp"
#include "fitness/oracle/signature.hpp"

namespace kevo::cuda {
namespace {

constexpr int found_errors = 86;  // the exit code that is asked of compute-sanitizer
constexpr double check_s = 300;   // instrumented code may take a hundred times as long
constexpr double profile_s = 120;

// As one line, without what tools draw.
std::string in_a_line(const std::string& text, std::size_t bytes) {
  std::string line;
  std::istringstream lines(text);
  for (std::string part; std::getline(lines, part);) {
    const auto begin = part.find_first_not_of("= ");
    if (begin != std::string::npos) line += (line.empty() ? "" : "; ") + part.substr(begin);
  }
  return printable(line.substr(0, bytes));
}

std::string what_happened(const tool_report& report) {
  const std::string said = in_a_line(report.process.err.empty() ? report.log : report.process.err, 400);
  return kevo::describe(report.process) + (said.empty() ? "" : "; its output: " + said);
}

}  // namespace

device_gates::device_gates(std::shared_ptr<const task> t, const cuda_gates& gates, sandbox_mode sandbox)
    : task_(std::move(t)), gates_(gates), sandbox_(sandbox) {
  if (gates_.memcheck) checkers_.emplace_back("memcheck");
  if (gates_.racecheck) checkers_.emplace_back("racecheck");
  if (!checkers_.empty()) {
    sanitizer_ = find_device_tool("compute-sanitizer");
    if (sanitizer_.empty())
      throw error(
          error_code::environment,
          "compute-sanitizer was not found, but the config enables fitness.gates." + checkers_.front(),
          {.key = "fitness.gates." + checkers_.front()},
          "install compute-sanitizer from the CUDA toolkit, or set KEVO_COMPUTE_SANITIZER to its path, or "
          "set fitness.gates." +
              checkers_.front() + "=false");
  }
  if (gates_.profile) profiler_ = find_device_tool("ncu");
}

std::string device_gates::checkers() const {
  return fmt::format("{}", fmt::join(checkers_, ", "));
}

std::string device_gates::describe() const {
  std::string text = checkers();
  if (gates_.profile) text += (text.empty() ? "" : ", ") + std::string("profile");
  return text;
}

std::string device_gates::file_of(const gated_call& call) const {
  const auto& w = task_->workloads[call.workload];
  const auto axes = axis_values(*task_, w);
  replay file{*call.code, *call.what, {}, {}};
  rng random(secret_seed());
  const auto not_in_the_plan = [](const tensor& input) { return !input.scalar; };
  const auto drawn =
      draw_inputs(*task_, w, {variety::plain, call.workload, true}, {}, random, not_in_the_plan);
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    if (!task_->inputs[i].scalar)
      file.inputs.emplace_back(reinterpret_cast<const char*>(drawn[i].data()), drawn[i].size());
  }
  for (const auto& output : task_->outputs)
    file.outputs.push_back(static_cast<std::uint64_t>(element_count(output, axes)) *
                           element_type_of(output).size);
  return encode(file);
}

std::optional<call_failure> device_gates::check_with(const std::string& tool, const gated_call& call,
                                                     const device_description& device,
                                                     const std::stop_token& stop) {
  const auto report = run_device_tool(
      sanitizer_,
      {"--tool", tool, "--error-exitcode", std::to_string(found_errors), "--print-limit", "5",
       "--show-backtrace", "no", "--report-api-errors", "no", "--target-processes", "application-only"},
      file_of(call), device, sandbox_, check_s, stop);
  const auto found = read_sanitizer_report(report.log);
  if (found.errors > 0)
    return call_failure{outcome::incorrect, tool + " found errors",
                        fmt::format("{} errors, the first:\n{}", found.errors, found.first)};
  if (report.process.ok() && found.finished) return std::nullopt;
  // Not a finding: whether the candidate or the tool is to blame, the baseline says.
  call_failure failure{
      report.process.kind == exit_kind::timed_out ? outcome::timed_out : outcome::launch_failed,
      "does not run under " + tool, what_happened(report)};
  failure.machine = true;
  return failure;
}

void device_gates::try_out(const gated_call& baseline, const device_description& device,
                           const std::stop_token& stop) {
  for (const auto& tool : checkers_) {
    const auto failure = check_with(tool, baseline, device, stop);
    if (!failure) continue;
    if (failure->machine)
      throw error(
          error_code::environment,
          tool + " of " + sanitizer_ + " does not work on this machine: the baseline " + failure->detail, {},
          "set fitness.gates." + tool + "=false to disable it");
    throw error(error_code::input, "the first baseline fails the check " + tool + ": " + failure->detail,
                {.file = task_->file, .key = "baselines"});
  }
  known_code_ = *baseline.code;
  known_plan_ = *baseline.what;
  known_workload_ = baseline.workload;
}

std::optional<call_failure> device_gates::check(const gated_call& candidate, const device_description& device,
                                                const std::stop_token& stop) {
  for (const auto& tool : checkers_) {
    auto failure = check_with(tool, candidate, device, stop);
    if (!failure) continue;
    if (failure->machine && known_code_) {
      const auto same = check_with(tool, {&*known_code_, &*known_plan_, known_workload_}, device, stop);
      if (same) throw error(error_code::environment, tool + " no longer works: the baseline " + same->detail);
    }
    return failure;
  }
  return std::nullopt;
}

profile_figures device_gates::profile(const gated_call& candidate, const device_description& device,
                                      const std::stop_token& stop) {
  profile_figures figures;
  if (profiler_.empty()) {
    figures.missing = "ncu was not found";
    return figures;
  }
  const auto report = run_device_tool(profiler_,
                                      {"--csv", "--print-units", "base", "--clock-control", "none",
                                       "--target-processes", "application-only", "--metrics", ncu_metrics()},
                                      file_of(candidate), device, sandbox_, profile_s, stop);
  figures = read_ncu_csv(report.log);
  if (!figures.there && !report.process.ok() && report.log.empty())
    figures.missing = "ncu " + what_happened(report);
  return figures;
}

}  // namespace kevo::cuda
