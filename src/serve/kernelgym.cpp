#include "src/serve/kernelgym.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <ctime>
#include <optional>
#include <string_view>
#include <vector>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/evaluation.hpp>

#include "src/base/json/evaluation_json.hpp"
#include "src/base/json/exact_parse.hpp"
#include "src/base/json/finite.hpp"
#include "src/base/time/seconds_since.hpp"
#include "src/serve/refusal.hpp"
#include "src/serve/views.hpp"
#include "src/serve/waiting.hpp"
#include "src/task/source_file.hpp"

namespace kevo::serve {
namespace {

namespace json = boost::json;
using gym_exchange = std::shared_ptr<http_exchange>;

/// One request in KernelGYM's fields, with its defaults.
struct gym_request {
  std::string task_id;
  remote::submission what;
  json::array ignored;  ///< names of fields that were given and have no effect here
};

[[noreturn]] void gym_wrong(const std::string& why) {
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
    if (!plain) gym_wrong("entry_point is no name of a class");
  }
  return text + "\n" + wanted + " = " + entry + "\n";
}

gym_request gym_request_from(const json::object& o) {
  gym_request made;
  made.task_id = gym_text(o, "task_id", 1, 100, std::nullopt);
  const std::string workflow = gym_text(o, "workflow", 1, 100, "kernelbench");
  if (workflow != "kernelbench") gym_wrong("kevo has the workflow kernelbench only, not '" + workflow + "'");
  const std::string entry = gym_text(o, "entry_point", 1, 100, "Model");
  made.what.kernelbench = with_entry(gym_text(o, "reference_code", 10, 100000, std::nullopt), entry, "Model");
  made.what.program = program_of(
      "python", with_entry(gym_text(o, "kernel_code", 10, 100000, std::nullopt), entry + "New", "ModelNew"));
  made.what.limit_s = gym_number(o, "timeout", 10, 3600, 300);
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

/// KernelGYM's word for where a task is: its clients poll until one of the last three.
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

const char* gym_error_code(const evaluation& e) {
  switch (e.outcome) {
    case outcome::valid:
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

std::string iso_time(double unix_s) {
  const auto seconds = static_cast<std::time_t>(unix_s);
  std::tm parts{};
  ::gmtime_r(&seconds, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text;
}

void add_evaluation(json::object& to, json::object& metadata, const evaluation& e) {
  // As KernelGYM has it: a program that ran was compiled; one that cheats is a decoy and counts as incorrect.
  to["compiled"] = e.outcome != outcome::build_failed;
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
    to["error_message"] = message.empty() ? e.feedback : message;
  }
  metadata["device"] = e.device;
  metadata["backend"] = e.backend;
  metadata["kevo_outcome"] = json::string(to_string(e.outcome));
  metadata["kevo_feedback"] = e.feedback;
  if (const auto share = e.measures.find("own_kernel_share"); share != e.measures.end())
    metadata["kevo_own_kernel_share"] = share->second;
}

json::object gym_result(const ticket_view& seen, const json::array& ignored) {
  json::object made{{"task_id", seen.owner.label}, {"status", json::string(gym_status(seen.work))}};
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
    made["error_message"] = "it waited in the queue too long";
  if (seen.work.ended_unix_s > 0) {
    made["completed_at"] = iso_time(seen.work.ended_unix_s);
    made["processing_time"] =
        seen.work.begun_unix_s > 0 ? seen.work.ended_unix_s - seen.work.begun_unix_s : 0.0;
  }
  made["metadata"] = std::move(metadata);
  return made;
}

ticket_view submit_gym(const service_parts& parts, const std::string& tenant, const gym_request& asked) {
  return parts.jobs.submit(tenant, asked.what, parts.tasks.key_of(asked.what), asked.task_id);
}

/// The longest that a request stays open: its own limit and KernelGYM's wait in the queue.
double open_for(const gym_request& asked) {
  constexpr double queue_wait_s = 180;
  return asked.what.limit_s + queue_wait_s;
}

void gym_evaluate(const service_parts& parts, const json::object& body, const std::string& tenant,
                  const gym_exchange& back) {
  const gym_request asked = gym_request_from(body);
  const ticket_view seen = submit_gym(parts, tenant, asked);
  answer_when_ended(parts.jobs, seen.work.key, open_for(asked), back,
                    [&jobs = parts.jobs, tenant, id = seen.owner.id, ignored = asked.ignored, back] {
                      if (const auto now = jobs.find(tenant, id))
                        back->answer({.body = json::serialize(gym_result(*now, ignored))});
                    });
}

/// Answers when the last of its tasks has ended.
void gym_batch(const service_parts& parts, const json::object& body, const std::string& tenant,
               const gym_exchange& back) {
  constexpr std::size_t most_tasks = 100;
  const std::string batch = gym_text(body, "batch_id", 1, 200, std::nullopt);
  const auto* tasks = body.if_contains("tasks");
  if (tasks == nullptr || !tasks->is_array() || tasks->get_array().empty() ||
      tasks->get_array().size() > most_tasks)
    gym_wrong("tasks must be a list of 1 to 100 tasks");
  std::vector<gym_request> all;
  for (const auto& one : tasks->get_array()) {
    if (!one.is_object()) gym_wrong("tasks must be a list of objects");
    all.push_back(gym_request_from(one.get_object()));
  }
  auto ids = std::make_shared<std::vector<std::pair<std::string, json::array>>>();
  std::vector<std::string> keys;
  double longest_s = 0;
  for (const auto& asked : all) {
    const ticket_view seen = submit_gym(parts, tenant, asked);
    ids->emplace_back(seen.owner.id, asked.ignored);
    keys.push_back(seen.work.key);
    longest_s = std::max(longest_s, open_for(asked));
  }
  const auto left = std::make_shared<std::atomic<std::size_t>>(keys.size());
  const std::function<void()> answer = [&jobs = parts.jobs, tenant, ids, batch, back] {
    json::array results;
    std::size_t completed = 0;
    std::size_t failed = 0;
    for (const auto& [id, ignored] : *ids) {
      const auto now = jobs.find(tenant, id);
      if (!now) continue;
      const auto status = gym_status(now->work);
      completed += status == "completed" ? 1 : 0;
      failed += status == "failed" || status == "timeout" ? 1 : 0;
      results.push_back(gym_result(*now, ignored));
    }
    const bool whole = completed + failed == ids->size();
    back->answer({.body = json::serialize(json::object{
                      {"batch_id", batch},
                      {"total_tasks", ids->size()},
                      {"completed_tasks", completed},
                      {"failed_tasks", failed},
                      {"results", std::move(results)},
                      {"batch_status", whole ? (failed == 0 ? "completed" : "failed") : "processing"},
                      {"submitted_at", nullptr},
                      {"completed_at", nullptr}})});
  };
  back->after(longest_s, answer);
  for (const auto& key : keys) {
    const auto number = parts.jobs.when_ended(key, [left, answer] {
      if (--*left == 0) answer();
    });
    back->when_over([&jobs = parts.jobs, key, number] { jobs.forget(key, number); });
  }
}

/// {"workflow", "payload": {fields of /evaluate}, "task_id"}: answered with the result, as KernelGYM does.
void gym_workflow(const service_parts& parts, const json::object& body, const std::string& tenant,
                  const gym_exchange& back) {
  const auto* payload = body.if_contains("payload");
  if (payload == nullptr || !payload->is_object()) gym_wrong("payload must be an object");
  json::object fields = payload->get_object();
  for (const char* key : {"workflow", "task_id", "force_refresh"}) {
    if (const auto* given = body.if_contains(key); given != nullptr && !given->is_null())
      fields[key] = *given;
  }
  const gym_request asked = gym_request_from(fields);
  const ticket_view seen = submit_gym(parts, tenant, asked);
  answer_when_ended(parts.jobs, seen.work.key, open_for(asked), back,
                    [&jobs = parts.jobs, tenant, id = seen.owner.id, ignored = asked.ignored, back] {
                      const auto now = jobs.find(tenant, id);
                      if (!now) return;
                      json::object result = gym_result(*now, ignored);
                      json::object made{{"task_id", result["task_id"]},
                                        {"status", result["status"]},
                                        {"error_message", result["error_message"]},
                                        {"error_code", result["error_code"]},
                                        {"submitted_at", result["submitted_at"]},
                                        {"completed_at", result["completed_at"]}};
                      made["result"] = std::move(result);
                      back->answer({.body = json::serialize(made)});
                    });
}

http_answer gym_poll(const service_parts& parts, const std::string& tenant, const std::string& task_id,
                     bool whole) {
  const auto seen = parts.jobs.find_label(tenant, task_id);
  if (!seen) throw refusal{404, "not_found", "there is no task " + task_id};
  if (whole && !is_final(seen->work.progress)) throw refusal{404, "not_found", "this task has not ended"};
  if (whole) return {.body = json::serialize(gym_result(*seen, {}))};
  json::object made{{"task_id", task_id}, {"status", json::string(gym_status(seen->work))}};
  made["progress"] = nullptr;
  made["estimated_completion"] = nullptr;
  made["queue_position"] = seen->position < 0 ? json::value() : json::value(seen->position);
  made["assigned_device"] = nullptr;
  if (is_final(seen->work.progress)) {
    const auto result = gym_result(*seen, {});
    made["error_message"] = result.at("error_message");
  }
  return {.body = json::serialize(made)};
}

http_answer gym_health(const service_parts& parts) {
  const auto processed = parts.counts.ended[static_cast<std::size_t>(remote::progress::done)].load();
  const double now =
      std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
  return {.body =
              json::serialize(json::object{{"status", "healthy"},
                                           {"timestamp", iso_time(now)},
                                           {"gpu_status", json::object{}},
                                           {"queue_status", json::object{{"pending", parts.jobs.queued()},
                                                                         {"processing", parts.jobs.running()},
                                                                         {"completed", processed}}},
                                           {"memory_usage", json::object{}},
                                           {"active_tasks", parts.jobs.running()},
                                           {"total_processed", processed},
                                           {"uptime", seconds_since(parts.started)}})};
}

/// One component of a path with its percent signs decoded; nothing for what is no text of a task.
std::optional<std::string> component_of(std::string_view path, std::string_view prefix) {
  if (!path.starts_with(prefix)) return std::nullopt;
  const std::string_view raw = path.substr(prefix.size());
  if (raw.empty() || raw.find('/') != std::string_view::npos || raw.size() > 300) return std::nullopt;
  std::string text;
  for (std::size_t i = 0; i < raw.size(); ++i) {
    if (raw[i] != '%') {
      text += raw[i];
      continue;
    }
    static constexpr std::string_view digits = "0123456789abcdefABCDEF";
    const auto value = [&](char c) {
      const auto at = digits.find(c);
      return at == std::string_view::npos ? -1 : static_cast<int>(at < 16 ? at : at - 6);
    };
    if (i + 2 >= raw.size()) return std::nullopt;
    const int high = value(raw[i + 1]);
    const int low = value(raw[i + 2]);
    if (high < 0 || low < 0) return std::nullopt;
    text += static_cast<char>(high * 16 + low);
    i += 2;
  }
  return text;
}

}  // namespace

bool handle_kernelgym(const service_parts& parts, const http_call& call, const std::string& tenant,
                      const gym_exchange& back) {
  if (call.method == "GET") {
    if (call.path == "/health") return back->answer(gym_health(parts)), true;
    for (const auto& [prefix, whole] : {std::pair{"/status/", false}, {"/results/", true}}) {
      if (const auto id = component_of(call.path, prefix))
        return back->answer(gym_poll(parts, tenant, *id, whole)), true;
    }
    return false;
  }
  const bool ours =
      call.path == "/evaluate" || call.path == "/evaluate/batch" || call.path == "/workflow/submit";
  if (call.method != "POST" || !ours) return false;
  json::value document;
  try {
    document = parse_json_exactly(call.body, true);
  } catch (const error& wrong) {
    gym_wrong(wrong.what());
  }
  if (!document.is_object()) gym_wrong("expected a JSON object");
  const auto& body = document.get_object();
  if (call.path == "/evaluate") {
    gym_evaluate(parts, body, tenant, back);
  } else if (call.path == "/evaluate/batch") {
    gym_batch(parts, body, tenant, back);
  } else {
    gym_workflow(parts, body, tenant, back);
  }
  return true;
}

}  // namespace kevo::serve
