#include "src/serve/kernelgym.hpp"

#include <algorithm>
#include <atomic>
#include <optional>
#include <string_view>
#include <vector>

#include <boost/json.hpp>
#include <boost/url/pct_string_view.hpp>

#include <kevo/error.hpp>

#include "src/base/json/exact_parse.hpp"
#include "src/base/time/seconds_since.hpp"
#include "src/base/time/unix_seconds.hpp"
#include "src/serve/deferred_answer.hpp"
#include "src/serve/kernelgym_fields.hpp"
#include "src/serve/refusal.hpp"
#include "src/serve/views.hpp"

namespace kevo::serve {
namespace {

namespace json = boost::json;
using gym_exchange = std::shared_ptr<http_exchange>;

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
  answer_when_ended(
      parts.jobs, seen.work.key, open_for(asked), back,
      [&jobs = parts.jobs, tenant, id = seen.owner.id, name = asked.task_id, ignored = asked.ignored, back] {
        if (const auto now = jobs.find(tenant, id))
          back->answer({.body = json::serialize(gym_result(*now, name, ignored))});
      });
}

struct gym_ticket {
  std::string id;
  std::string task_id;
  json::array ignored;
};

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
  auto ids = std::make_shared<std::vector<gym_ticket>>();
  std::vector<std::string> keys;
  double longest_s = 0;
  for (const auto& asked : all) {
    const ticket_view seen = submit_gym(parts, tenant, asked);
    ids->push_back({seen.owner.id, asked.task_id, asked.ignored});
    keys.push_back(seen.work.key);
    longest_s = std::max(longest_s, open_for(asked));
  }
  const auto left = std::make_shared<std::atomic<std::size_t>>(keys.size());
  const auto answer = answer_without_throwing(back, [&jobs = parts.jobs, tenant, ids, batch, back] {
    json::array results;
    std::size_t completed = 0;
    std::size_t failed = 0;
    for (const auto& [id, name, ignored] : *ids) {
      const auto now = jobs.find(tenant, id);
      if (!now) continue;
      const auto status = gym_status(now->work);
      completed += status == "completed" ? 1 : 0;
      failed += status == "failed" || status == "timeout" ? 1 : 0;
      results.push_back(gym_result(*now, name, ignored));
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
  });
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
  answer_when_ended(
      parts.jobs, seen.work.key, open_for(asked), back,
      [&jobs = parts.jobs, tenant, id = seen.owner.id, name = asked.task_id, ignored = asked.ignored, back] {
        const auto now = jobs.find(tenant, id);
        if (!now) return;
        json::object result = gym_result(*now, name, ignored);
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
  if (!seen) throw refusal{404, "not_found", "there is no task " + task_id, "submit it first"};
  if (whole && !is_final(seen->work.progress))
    throw refusal{404, "not_found", "this task has not ended", "GET /status/TASK_ID tells its state"};
  if (whole) return {.body = json::serialize(gym_result(*seen, task_id, {}))};
  json::object made{{"task_id", task_id}, {"status", json::string(gym_status(seen->work))}};
  made["progress"] = nullptr;
  made["estimated_completion"] = nullptr;
  made["queue_position"] = seen->position < 0 ? json::value() : json::value(seen->position);
  made["assigned_device"] = nullptr;
  if (is_final(seen->work.progress)) {
    const auto result = gym_result(*seen, task_id, {});
    made["error_message"] = result.at("error_message");
  }
  return {.body = json::serialize(made)};
}

http_answer gym_health(const service_parts& parts) {
  const auto processed = parts.counts.ended[static_cast<std::size_t>(remote::progress::done)].load();
  return {.body =
              json::serialize(json::object{{"status", "healthy"},
                                           {"timestamp", iso_time(unix_seconds())},
                                           {"gpu_status", json::object{}},
                                           {"queue_status", json::object{{"pending", parts.jobs.queued()},
                                                                         {"processing", parts.jobs.running()},
                                                                         {"completed", processed}}},
                                           {"memory_usage", json::object{}},
                                           {"active_tasks", parts.jobs.running()},
                                           {"total_processed", processed},
                                           {"uptime", seconds_since(parts.started)}})};
}

/// One component of a path with its percent signs decoded; nothing for what is no text of a task or a
/// malformed escape.
std::optional<std::string> component_of(std::string_view path, std::string_view prefix) {
  if (!path.starts_with(prefix)) return std::nullopt;
  const std::string_view raw = path.substr(prefix.size());
  if (raw.empty() || raw.find('/') != std::string_view::npos || raw.size() > 300) return std::nullopt;
  const auto text = boost::urls::make_pct_string_view(raw);
  if (!text) return std::nullopt;
  return text->decode();
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
