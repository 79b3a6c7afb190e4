#pragma once
// The service's own interface over HTTP: which method and path does what. docs/serve.md describes it,
// src/serve/openapi.json states it for programs.

#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/serve/broker.hpp"
#include "src/serve/http_server.hpp"
#include "src/serve/metrics.hpp"
#include "src/serve/task_catalog.hpp"
#include "src/serve/tenants.hpp"

namespace kevo::serve {

/// What the routes use. Everything must outlive the server.
struct service_parts {
  broker& jobs;
  task_catalog& tasks;
  tenants& who;
  metrics& counts;
  std::chrono::steady_clock::time_point started = std::chrono::steady_clock::now();
};

/// A method and a path; "{id}" stands for one component.
struct route {
  std::string method;
  std::string path;
};

/// All routes, KernelGYM's included, for the test that compares them with the description.
const std::vector<route>& all_routes();

/// Refuses who may not ask, before the body is read: a missing or wrong token, too many requests, a body
/// where none belongs. Never throws.
std::optional<http_answer> gate_request(const service_parts& parts, const http_call& head, bool with_body);

/// Answers a request that was let in, now or later. Never throws.
void handle_request(const service_parts& parts, const http_call& call,
                    const std::shared_ptr<http_exchange>& back);

/// The OpenAPI description of the service, as JSON.
std::string_view openapi_text();

}  // namespace kevo::serve
