#pragma once
// What the routes share: answers as JSON, queries of addresses.

#include <string>
#include <string_view>

#include "src/serve/broker.hpp"
#include "src/serve/http_server.hpp"
#include "src/serve/refusal.hpp"

namespace kevo::serve {

/// {"id", "status", "stage", "position", "age_s", "evaluation", "error"}; what does not exist is null.
std::string ticket_json(const ticket_view& seen);

/// 200 for what has ended, 202 for what is under way.
http_answer ticket_answer(const ticket_view& seen);

http_answer refusal_answer(const refusal& no);

/// The value of NAME in "a=1&NAME=2"; empty if it is not there.
std::string query_value(std::string_view query, std::string_view name);

/// [s] that a query's `wait` asks for: 0 to 60. @throws refusal (400) unless it is a number
double wait_of(std::string_view query);

}  // namespace kevo::serve
