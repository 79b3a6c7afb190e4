#include "src/serve/routes.hpp"

#include <string_view>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/content_id.hpp>
#include <kevo/error.hpp>
#include <kevo/version.hpp>

#include "src/base/json/exact_parse.hpp"
#include "src/base/sqlite/sqlite.hpp"
#include "src/base/time/seconds_since.hpp"
#include "src/remote/protocol.hpp"
#include "src/serve/deferred_answer.hpp"
#include "src/serve/kernelgym.hpp"
#include "src/serve/refusal.hpp"
#include "src/serve/views.hpp"

namespace kevo::serve {
namespace {

namespace json = boost::json;
using exchange = std::shared_ptr<http_exchange>;

remote::submission read_submission(std::string_view body) {
  try {
    return remote::submission_from_json(body);
  } catch (const error& wrong) {
    throw refusal{400, "input", wrong.what(), "docs/serve.md and GET /openapi.json describe the fields"};
  }
}

void post_evaluation(const service_parts& parts, const http_call& call, const std::string& tenant,
                     const exchange& back) {
  const double wait_s = wait_of(call.query);
  const auto what = read_submission(call.body);
  const ticket_view seen = parts.jobs.submit(tenant, what, parts.tasks.key_of(what));
  if (wait_s <= 0 || is_final(seen.work.progress)) return back->answer(ticket_answer(seen));
  answer_when_ended(parts.jobs, seen.work.key, wait_s, back,
                    [&jobs = parts.jobs, tenant, id = seen.owner.id, back] {
                      if (const auto now = jobs.find(tenant, id)) back->answer(ticket_answer(*now));
                    });
}

void get_evaluation(const service_parts& parts, const http_call& call, const std::string& tenant,
                    const std::string& id, const exchange& back) {
  const double wait_s = wait_of(call.query);
  const auto seen = parse_content_id(id) ? parts.jobs.find(tenant, id) : std::nullopt;
  if (!seen)
    throw refusal{404, "not_found", "there is no evaluation with this id",
                  "give the id that the server returned for the submission"};
  if (wait_s <= 0 || is_final(seen->work.progress)) return back->answer(ticket_answer(*seen));
  answer_when_ended(parts.jobs, seen->work.key, wait_s, back, [&jobs = parts.jobs, tenant, id, back] {
    if (const auto now = jobs.find(tenant, id)) back->answer(ticket_answer(*now));
  });
}

/// {"evaluations": [SUBMISSION, ...]} becomes {"evaluations": [TICKET or {"error"}, ...]} in the same order.
void post_batch(const service_parts& parts, const http_call& call, const std::string& tenant,
                const exchange& back) {
  constexpr std::size_t most_in_batch = 1000;
  json::value document;
  try {
    document = parse_json_exactly(call.body, true);
  } catch (const error& wrong) {
    throw refusal{400, "input", wrong.what()};
  }
  const auto* list = document.is_object() ? document.get_object().if_contains("evaluations") : nullptr;
  if (list == nullptr || !list->is_array() || list->get_array().empty())
    throw refusal{400, "input", "evaluations: expected a list of submissions, at least one"};
  if (list->get_array().size() > most_in_batch)
    throw refusal{413, "too_large", "a batch has at most 1000 submissions", "send several batches"};
  std::string text = R"({"evaluations":[)";
  for (const auto& one : list->get_array()) {
    if (text.back() != '[') text += ',';
    try {
      const auto what = read_submission(json::serialize(one));
      text += ticket_json(parts.jobs.submit(tenant, what, parts.tasks.key_of(what)));
    } catch (const refusal& no) {
      text += refusal_answer(no).body;
    }
  }
  back->answer({.body = text + "]}"});
}

void get_events(const service_parts& parts, const std::string& tenant, const exchange& back) {
  back->begin_stream("text/event-stream");
  const auto number = parts.jobs.listen(tenant, [back](const std::string& kind, const std::string& id) {
    back->send(fmt::format("event: {}\ndata: {{\"id\":\"{}\",\"status\":\"{}\"}}\n\n", kind, id, kind));
  });
  back->when_over([&jobs = parts.jobs, number] { jobs.unlisten(number); });
}

http_answer task_list(const service_parts& parts) {
  json::array all;
  for (const auto& one : parts.tasks.list())
    all.push_back(json::object{{"name", one.name}, {"description", one.description}});
  return {.body = json::serialize(json::object{{"tasks", std::move(all)}})};
}

http_answer health(const service_parts& parts) {
  return {.body = fmt::format(R"({{"status":"ok","version":"{}.{}.{}","queued":{},"running":{}}})",
                              KEVO_VERSION_MAJOR, KEVO_VERSION_MINOR, KEVO_VERSION_PATCH, parts.jobs.queued(),
                              parts.jobs.running())};
}

/// Whether a path is `prefix` and one component more, which becomes `rest`.
bool below(std::string_view path, std::string_view prefix, std::string& rest) {
  if (!path.starts_with(prefix)) return false;
  rest = std::string(path.substr(prefix.size()));
  return !rest.empty() && rest.find('/') == std::string::npos;
}

/// The methods of a path that exists, but not with this one, as the header Allow lists them; otherwise empty.
std::string other_methods_of(std::string_view path, std::string_view method) {
  std::string methods;
  std::string rest;
  for (const auto& each : all_routes()) {
    const auto brace = each.path.find('{');
    const bool same = brace == std::string::npos
                          ? path == each.path
                          : below(path, std::string_view(each.path).substr(0, brace), rest);
    if (!same) continue;
    if (each.method == method) return {};
    methods += (methods.empty() ? "" : ", ") + each.method;
  }
  return methods;
}

/// The answer to a method that a path does not have. HTTP demands that it names those that the path has (RFC
/// 9110, 15.5.6).
http_answer wrong_method(const std::string& method, std::string allowed) {
  http_answer answer =
      refusal_answer({405, "usage", "the method " + method + " is not allowed for this path"});
  answer.headers.emplace_back("Allow", std::move(allowed));
  return answer;
}

void dispatch(const service_parts& parts, const http_call& call, const exchange& back) {
  const std::string what = call.method + " " + call.path;
  // What everybody may see says nothing of anybody's work.
  if (what == "GET /healthz") return back->answer(health(parts));
  if (what == "GET /openapi.json") return back->answer({.body = std::string(openapi_text())});
  const std::string tenant = parts.who.tenant_of(call.authorization);
  std::string id;
  if (what == "GET /metrics")
    return back->answer({.body = prometheus_text(parts.counts, parts.jobs.queued(), parts.jobs.running(),
                                                 seconds_since(parts.started)),
                         .content_type = "text/plain; version=0.0.4"});
  if (what == "GET /v1/tasks") return back->answer(task_list(parts));
  if (what == "POST /v1/evaluations") return post_evaluation(parts, call, tenant, back);
  if (what == "POST /v1/batches") return post_batch(parts, call, tenant, back);
  if (what == "GET /v1/events") return get_events(parts, tenant, back);
  if (call.method == "GET" && below(call.path, "/v1/evaluations/", id))
    return get_evaluation(parts, call, tenant, id, back);
  if (handle_kernelgym(parts, call, tenant, back)) return;
  if (std::string allowed = other_methods_of(call.path, call.method); !allowed.empty())
    return back->answer(wrong_method(call.method, std::move(allowed)));
  throw refusal{404, "not_found", "this path does not exist", "GET /openapi.json lists all paths"};
}

}  // namespace

const std::vector<route>& all_routes() {
  static const std::vector<route> all = {
      {"GET", "/healthz"},           {"GET", "/openapi.json"},     {"GET", "/metrics"},
      {"GET", "/v1/tasks"},          {"POST", "/v1/evaluations"},  {"GET", "/v1/evaluations/{id}"},
      {"POST", "/v1/batches"},       {"GET", "/v1/events"},        {"POST", "/evaluate"},
      {"POST", "/evaluate/batch"},   {"POST", "/workflow/submit"}, {"GET", "/status/{task_id}"},
      {"GET", "/results/{task_id}"}, {"GET", "/health"},
  };
  return all;
}

std::optional<http_answer> gate_request(const service_parts& parts, const http_call& head, bool with_body) {
  try {
    const bool everybodys = head.path == "/healthz" || head.path == "/openapi.json";
    if (!everybodys) parts.who.admit(parts.who.tenant_of(head.authorization));
    if (with_body && (everybodys || head.method != "POST"))
      throw refusal{413, "too_large",
                    "a request with the method " + head.method + " to this path must not have a body"};
    return std::nullopt;
  } catch (const refusal& no) {
    return refusal_answer(no);
  }
}

void handle_request(const service_parts& parts, const http_call& call, const exchange& back) {
  const auto began = std::chrono::steady_clock::now();
  try {
    dispatch(parts, call, back);
  } catch (const refusal& no) {
    back->answer(refusal_answer(no));
  } catch (const error& wrong) {
    const bool theirs = exit_code(wrong.code()) == 2;
    back->answer(refusal_answer({theirs ? 400U : 503U, to_string(wrong.code()), wrong.what()}));
  } catch (const sqlite::failure& unrecorded) {  // a full disk, for instance; nothing was accepted
    back->answer(
        refusal_answer({503,
                        "environment",
                        std::string("the record of the service cannot be written: ") + unrecorded.what(),
                        {},
                        5}));
  } catch (const std::exception& wrong) {
    back->answer(refusal_answer({500, "internal", wrong.what()}));
  }
  parts.counts.request_us += static_cast<std::uint64_t>(seconds_since(began) * 1e6);
}

}  // namespace kevo::serve
