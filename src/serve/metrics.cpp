#include "src/serve/metrics.hpp"

#include <iterator>

#include <fmt/format.h>

#include <kevo/evaluation.hpp>

#include "src/remote/protocol.hpp"

namespace kevo::serve {
namespace {

void family(std::string& text, const char* name, const char* kind, const char* help) {
  fmt::format_to(std::back_inserter(text), "# HELP {} {}\n# TYPE {} {}\n", name, help, name, kind);
}

template <class Value>
void single(std::string& text, const char* name, const char* kind, const char* help, Value value) {
  family(text, name, kind, help);
  fmt::format_to(std::back_inserter(text), "{} {}\n", name, value);
}

}  // namespace

std::string prometheus_text(const metrics& counts, std::size_t queued, std::size_t running, double uptime_s) {
  std::string text;
  single(text, "kevo_serve_uptime_seconds", "gauge", "Time since the start of the server.", uptime_s);
  single(text, "kevo_serve_queue_length", "gauge", "Evaluations that wait in the queue.", queued);
  single(text, "kevo_serve_running", "gauge", "Evaluations that are running.", running);
  single(text, "kevo_serve_accepted_total", "counter", "Submissions that became an evaluation.",
         counts.accepted.load());
  single(text, "kevo_serve_known_total", "counter", "Submissions of a program that was known already.",
         counts.known.load());
  family(text, "kevo_serve_ended_total", "counter", "Evaluations that ended, by state.");
  for (const auto state : {remote::progress::done, remote::progress::failed, remote::progress::expired})
    fmt::format_to(std::back_inserter(text), "kevo_serve_ended_total{{state=\"{}\"}} {}\n", to_string(state),
                   counts.ended[static_cast<std::size_t>(state)].load());
  family(text, "kevo_serve_outcomes_total", "counter", "Evaluations that are done, by outcome.");
  for (std::size_t i = 0; i < outcome_names.size(); ++i)
    fmt::format_to(std::back_inserter(text), "kevo_serve_outcomes_total{{outcome=\"{}\"}} {}\n",
                   outcome_names[i], counts.outcomes[i].load());
  family(text, "kevo_serve_answers_total", "counter", "HTTP answers, by the first digit of their status.");
  for (std::size_t i = 2; i < counts.answers.size(); ++i)
    fmt::format_to(std::back_inserter(text), "kevo_serve_answers_total{{status=\"{}xx\"}} {}\n", i,
                   counts.answers[i].load());
  single(text, "kevo_serve_evaluation_seconds_total", "counter", "Time spent in evaluations.",
         static_cast<double>(counts.evaluation_us.load()) / 1e6);
  single(text, "kevo_serve_request_seconds_total", "counter",
         "Time spent in requests, without the time for which they waited.",
         static_cast<double>(counts.request_us.load()) / 1e6);
  single(text, "kevo_serve_open_connections", "gauge", "Open connections of clients.",
         counts.open_connections.load());
  single(text, "kevo_serve_connections_total", "counter", "Connections that were accepted.",
         counts.connections.load());
  single(text, "kevo_serve_connections_refused_total", "counter",
         "Connections that were refused because of the limit.", counts.connections_refused.load());
  single(text, "kevo_serve_slow_clients_total", "counter", "Connections closed at a time limit.",
         counts.slow_clients.load());
  return text;
}

}  // namespace kevo::serve
