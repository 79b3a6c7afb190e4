#pragma once
// KernelGYM's HTTP interface, so that its clients work with this server: POST /evaluate, /evaluate/batch and
// /workflow/submit, GET /status/{task_id}, /results/{task_id} and /health. What of its fields kevo has no
// counterpart for is named in the answer (`metadata.kevo_ignored`).

#include <memory>
#include <string>

#include "src/serve/http_server.hpp"
#include "src/serve/routes.hpp"

namespace kevo::serve {

/// Answers a request to one of these paths, now or later; false if it is to another path.
/// @throws refusal, in KernelGYM's cases with its status codes
bool handle_kernelgym(const service_parts& parts, const http_call& call, const std::string& tenant,
                      const std::shared_ptr<http_exchange>& back);

}  // namespace kevo::serve
