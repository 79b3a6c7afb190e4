#include "src/serve/views.hpp"

#include <algorithm>
#include <charconv>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "src/base/time/unix_seconds.hpp"

namespace kevo::serve {

std::string ticket_json(const ticket_view& seen) {
  const bool begun = seen.work.begun_unix_s > 0 && seen.work.progress != remote::progress::queued;
  const std::string& result = seen.owner.knows_task ? seen.work.result : seen.work.public_result;
  // The stored texts are JSON already.
  return fmt::format(
      R"({{"id":"{}","status":"{}","position":{},"age_s":{},"evaluation":{},"error":{}}})", seen.owner.id,
      to_string(seen.work.progress), seen.position < 0 ? "null" : std::to_string(seen.position),
      begun ? fmt::format("{:.3f}", std::max(0.0, unix_seconds() - seen.work.begun_unix_s)) : "null",
      seen.work.progress == remote::progress::done ? result : "null",
      seen.work.error.empty() ? "null" : seen.work.error);
}

http_answer ticket_answer(const ticket_view& seen) {
  return {.status = is_final(seen.work.progress) ? 200U : 202U, .body = ticket_json(seen)};
}

http_answer refusal_answer(const refusal& no) {
  namespace json = boost::json;
  http_answer made{
      .status = no.status,
      .body = json::serialize(json::object{
          {"error", json::object{{"code", no.code},
                                 {"message", no.message},
                                 {"hint", no.hint.empty() ? json::value() : json::value(no.hint)}}}})};
  if (no.status == 401) made.headers.emplace_back("WWW-Authenticate", "Bearer");
  if (no.retry_after_s > 0) made.headers.emplace_back("Retry-After", fmt::format("{:.0f}", no.retry_after_s));
  return made;
}

std::string query_value(std::string_view query, std::string_view name) {
  while (!query.empty()) {
    const auto end = std::min(query.find('&'), query.size());
    const std::string_view pair = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    const auto mark = pair.find('=');
    if (pair.substr(0, mark) == name)
      return mark == std::string_view::npos ? std::string() : std::string(pair.substr(mark + 1));
  }
  return {};
}

double wait_of(std::string_view query) {
  const std::string text = query_value(query, "wait");
  if (text.empty()) return 0;
  double seconds = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (failed != std::errc() || end != text.data() + text.size() || !(seconds >= 0))
    throw refusal{400, "usage", "wait must be a number of seconds", "for example ?wait=20"};
  constexpr double longest_wait_s = 60;
  return std::min(seconds, longest_wait_s);
}

}  // namespace kevo::serve
