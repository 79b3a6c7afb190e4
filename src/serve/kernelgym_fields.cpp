#include "src/serve/kernelgym_fields.hpp"

#include <array>
#include <chrono>
#include <ctime>
#include <optional>
#include <string_view>

#include <fmt/format.h>

#include <kevo/evaluation.hpp>

#include "src/base/json/evaluation_json.hpp"
#include "src/base/json/finite.hpp"
#include "src/serve/refusal.hpp"
#include "src/task/source_file.hpp"

namespace kevo::serve {
namespace {
namespace json = boost::json;
}

void gym_wrong(const std::string& why) {
  throw refusal{400, "VALIDATION_ERROR", why};
}

std::string gym_text(const json::object& o, std::string_view key, std::size_t least, std::size_t most,
                     const std::optional<std::string>& otherwise) {
  const auto* found = o.if_contains(key);
  if (found == nullptr || found->is_null()) {
    if (!otherwise) gym_wrong(std::string(key) + " is missing");
    return *otherwise;
  }
  if (!found->is_string()) gym_wrong(std::string(key) + " is not a string");
  const auto& text = found->get_string();
  if (text.size() < least || text.size() > most)
    gym_wrong(fmt::format("{} must have {} to {} characters", std::string(key), least, most));
  return std::string(text);
}

namespace {

double gym_number(const json::object& o, std::string_view key, double least, double most, double otherwise) {
  const auto* found = o.if_contains(key);
  if (found == nullptr || found->is_null()) return otherwise;
  if (!found->is_number()) gym_wrong(std::string(key) + " is not a number");
  const double x = found->to_number<double>();
  if (!(x >= least && x <= most))
    gym_wrong(fmt::format("{} must be from {:.0f} to {:.0f}", std::string(key), least, most));
  return x;
}

/// A program whose classes have other names than KernelBench's gets a last line that gives them those.
std::string with_entry(std::string text, const std::string& entry, const std::string& wanted) {
  if (entry == wanted) return text;
  for (const char c : entry) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    if (!plain) gym_wrong("entry_point is not a valid name of a class");
  }
  return text + "\n" + wanted + " = " + entry + "\n";
}

}  // namespace

gym_request gym_request_from(const json::object& o) {
  gym_request made;
  made.task_id = gym_text(o, "task_id", 1, 100, std::nullopt);
  const std::string workflow = gym_text(o, "workflow", 1, 100, "kernelbench");
  if (workflow != "kernelbench")
    gym_wrong("kevo supports only the workflow kernelbench, not '" + workflow + "'");
  const std::string entry = gym_text(o, "entry_point", 1, 100, "Model");
  made.what.kernelbench = with_entry(gym_text(o, "reference_code", 10, 100000, std::nullopt), entry, "Model");
  made.what.program = program_of(
      "python", with_entry(gym_text(o, "kernel_code", 10, 100000, std::nullopt), entry + "New", "ModelNew"));
  made.what.limit_s = gym_number(o, "timeout", 10, 3600, 300);
  made.what.second_try = false;  // KernelGYM does not try again after a time-out or an illegal access
  const std::string priority = gym_text(o, "priority", 1, 10, "normal");
  made.what.priority = priority == "high" ? 10 : priority == "low" ? -10 : 0;
  const auto off = [&o](std::string_view key) {
    const auto* found = o.if_contains(key);
    return found != nullptr && found->is_bool() && !found->get_bool();
  };
  made.what.stage = off("measure_performance") || off("run_performance") ? evaluation_stage::checked
                                                                         : evaluation_stage::confirmed;
  const auto* refresh = o.if_contains("force_refresh");
  if (refresh != nullptr && refresh->is_bool() && refresh->get_bool()) {
    made.what.attempt = fmt::format("{}", std::chrono::system_clock::now().time_since_epoch().count());
  }
  static constexpr std::array<std::string_view, 16> no_counterpart = {"num_correct_trials",
                                                                      "num_perf_trials",
                                                                      "num_warmup",
                                                                      "perf_trim_count",
                                                                      "device_preference",
                                                                      "toolkit",
                                                                      "backend_adapter",
                                                                      "reference_backend",
                                                                      "uuid",
                                                                      "cases",
                                                                      "use_reference_cache",
                                                                      "is_valid",
                                                                      "verbose_errors",
                                                                      "enable_profiling",
                                                                      "cases_code",
                                                                      "resources"};
  for (const auto key : no_counterpart) {
    if (const auto* found = o.if_contains(key); found != nullptr && !found->is_null())
      made.ignored.emplace_back(json::string(key));
  }
  return made;
}

std::string_view gym_status(const job& work) {
  switch (work.progress) {
    case remote::progress::queued:
      return "pending";
    case remote::progress::running:
      return "processing";
    case remote::progress::done:
      return "completed";
    case remote::progress::expired:
      return "timeout";
    case remote::progress::failed:
      return work.error.find(R"("code":"timeout")") == std::string::npos ? "failed" : "timeout";
  }
  return "failed";
}

std::string iso_time(double unix_s) {
  const auto seconds = static_cast<std::time_t>(unix_s);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

namespace {

/// A module that cannot be imported (a syntax error, for instance): KernelGYM counts it as not compiled.
bool is_not_loaded(const evaluation& e) {
  return e.outcome == outcome::launch_failed && !e.reasons.empty() &&
         e.reasons.front() == "could not be loaded";
}

const char* gym_error_code(const evaluation& e) {
  if (is_not_loaded(e)) return "COMPILATION_ERROR";
  switch (e.outcome) {
    case outcome::valid:
    case outcome::unchecked:
      return nullptr;
    case outcome::build_failed:
      return "COMPILATION_ERROR";
    case outcome::timed_out:
      return "TIMEOUT_ERROR";
    case outcome::incorrect:
    case outcome::rejected:
    case outcome::suspect:
      return "CORRECTNESS_ERROR";
    case outcome::launch_failed:
    case outcome::crashed:
      return "RUNTIME_ERROR";
  }
  return "UNKNOWN_ERROR";
}

void add_evaluation(json::object& to, json::object& metadata, const evaluation& e) {
  // As KernelGYM has it: a program that ran was compiled; one that cheats is a decoy and counts as incorrect.
  to["compiled"] = e.outcome != outcome::build_failed && !is_not_loaded(e);
  to["correctness"] = e.valid();
  to["decoy_kernel"] = e.outcome == outcome::rejected;
  double candidate_ns = 0;
  double baseline_ns = 0;
  int timed = 0;
  for (const auto& each : e.workloads) {
    if (each.hidden || each.time_ns <= 0) continue;
    candidate_ns += each.time_ns;
    baseline_ns += each.baseline_ns;
    ++timed;
  }
  // [ms], of one call with each visible workload, as the sizes of a problem are one workload.
  to["kernel_runtime"] = timed > 0 ? json::value(candidate_ns / 1e6) : json::value();
  to["reference_runtime"] = timed > 0 ? json::value(baseline_ns / 1e6) : json::value();
  to["speedup"] = e.speedup > 0 ? finite_or_null(e.speedup) : json::value();
  if (const char* code = gym_error_code(e)) {
    to["error_code"] = code;
    std::string message;
    for (const auto& reason : e.reasons) message += (message.empty() ? "" : "; ") + reason;
    // Trainers show it to the model, which learns more from the whole.
    if (!e.feedback.empty()) message += (message.empty() ? "" : "\n") + e.feedback;
    to["error_message"] = message;
  }
  metadata["device"] = e.device;
  metadata["backend"] = e.backend;
  metadata["kevo_outcome"] = json::string(to_string(e.outcome));
  metadata["kevo_feedback"] = e.feedback;
  if (const auto share = e.measures.find("own_kernel_share"); share != e.measures.end()) {
    metadata["kevo_own_kernel_share"] = share->second;
    // The two times whose quotient is what KernelGYM's clients call coverage.
    metadata["total_kernel_run_time_in_profiling_us"] = candidate_ns / 1e3;
    metadata["custom_kernel_cuda_time_in_profiling_us"] = share->second * candidate_ns / 1e3;
  }
}

}  // namespace

json::object gym_result(const ticket_view& seen, const std::string& task_id, const json::array& ignored) {
  json::object made{{"task_id", task_id}, {"status", json::string(gym_status(seen.work))}};
  for (const char* key : {"compiled", "correctness", "decoy_kernel", "reference_runtime", "kernel_runtime",
                          "speedup", "error_message", "error_code", "submitted_at", "completed_at"})
    made[key] = nullptr;
  json::object metadata{{"kevo_evaluation", seen.owner.id}, {"kevo_ignored", ignored}};
  if (seen.work.progress == remote::progress::done)
    add_evaluation(made, metadata, evaluation_from_json(seen.work.public_result));
  if (!seen.work.error.empty()) {
    const auto problem = json::parse(seen.work.error).as_object();
    const bool late = gym_status(seen.work) == "timeout";
    made["error_code"] = late                            ? "TIMEOUT_ERROR"
                         : problem.at("code") == "input" ? "VALIDATION_ERROR"
                                                         : "SYSTEM_ERROR";
    made["error_message"] = problem.at("message");
  }
  if (seen.work.progress == remote::progress::expired)
    made["error_message"] = "the task waited too long in the queue";
  if (seen.work.ended_unix_s > 0) {
    made["completed_at"] = iso_time(seen.work.ended_unix_s);
    made["processing_time"] =
        seen.work.begun_unix_s > 0 ? seen.work.ended_unix_s - seen.work.begun_unix_s : 0.0;
  }
  made["metadata"] = std::move(metadata);
  return made;
}

}  // namespace kevo::serve
