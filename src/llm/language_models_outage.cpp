// Models that do not answer: who is told, what is waited for, and when a run cannot go on.
#include <algorithm>
#include <mutex>

#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/time/seconds_since.hpp"
#include "src/base/time/wait_unless_stopped.hpp"
#include "src/llm/language_models.hpp"

namespace kevo {
namespace {

using clock = std::chrono::steady_clock;
constexpr std::chrono::seconds between_warnings{60};
constexpr double longest_pause_s = 5;  ///< [s] between two calls of a server that cannot be reached

/// Whether a try says that a server is there and at work, though it may have refused this request.
bool answered(reply_status status) {
  switch (status) {
    case reply_status::ok:
    case reply_status::truncated:
    case reply_status::empty:
    case reply_status::refused:
    case reply_status::malformed:
    case reply_status::rate_limited:
    case reply_status::rejected:
      return true;
    default:
      return false;
  }
}

bool silent(reply_status status) {
  return status == reply_status::disconnected || status == reply_status::timed_out ||
         status == reply_status::server_error;
}

}  // namespace

/// Takes note of one try; the caller holds the lock.
void language_models::hear(std::size_t model, const chat_reply& tried) {
  const std::string& name = settings_.models[model].name;
  if (answered(tried.status)) {
    silent_since_.reset();
    // A wrong model name, say: each turn would fail, and the reason would be known at the end alone.
    const bool first = !warned_[model] || clock::now() - *warned_[model] >= between_warnings;
    if (tried.status != reply_status::rejected) {
      served_[model] = true;
    } else if (!served_[model] && first) {
      warned_[model] = clock::now();
      warnings_.push_back(
          fmt::format("the server of the language model '{}' rejects the request: {}", name, tried.detail));
    }
    return;
  }
  if (tried.status == reply_status::unauthorized)
    warnings_.push_back(
        fmt::format("the server of the language model '{}' refuses the key: {}", name, tried.detail));
  if (!silent(tried.status)) return;
  if (!silent_since_) silent_since_ = clock::now();
  if (tried.status == reply_status::server_error && !tried.unreachable) return;  // it may be this request
  if (warned_[model] && clock::now() - *warned_[model] < between_warnings) return;
  warned_[model] = clock::now();
  const std::string then =
      settings_.patience_s > 0
          ? fmt::format("; it is asked again, and if no model answers within {:g} s, the run ends",
                        settings_.patience_s)
          : std::string();
  warnings_.push_back(fmt::format("the language model '{}' does not answer: {}{}", name, tried.detail, then));
}

/// Whether no model has answered for too long; the caller holds the lock.
bool language_models::out_of_patience() const {
  return settings_.patience_s > 0 && silent_since_ && seconds_since(*silent_since_) >= settings_.patience_s;
}

/// A model that never took a request is misconfigured; one that did may refuse some prompts alone.
bool language_models::rejects_everything(std::size_t model) const {
  constexpr int of_a_new_model = 3;
  constexpr int of_a_known_model = 10;
  return !refused_[model].empty() ||
         rejections_[model].in_a_row >= (served_[model] ? of_a_known_model : of_a_new_model);
}

/// Waits before a server that could not be reached is asked again; false if it is not to be asked.
bool language_models::wait_for_server(const chat_reply& failed, const std::stop_token& stop) {
  if (!failed.unreachable || !(settings_.patience_s > 0) || stop.stop_requested()) return false;
  std::unique_lock lock(guard_);
  // While other models answer, this one costs its turn, and theirs go on.
  if (!silent_since_ || out_of_patience()) return false;
  const double left_s = settings_.patience_s - seconds_since(*silent_since_);
  const double pause_s = std::min({longest_pause_s, settings_.patience_s / 20, left_s});
  lock.unlock();
  return wait_unless_stopped(std::max(pause_s, 0.01), stop);
}

/// Decides after a call whether any model can still be asked.
void language_models::conclude(const call_origin& origin, const chat_reply& reply) {
  const std::scoped_lock lock(guard_);
  if (origin.operator_name != "embeddings") {
    int& in_a_row = rejections_[origin.model].in_a_row;
    if (reply.status == reply_status::rejected) {
      ++in_a_row;
    } else if (answered(reply.status)) {
      in_a_row = 0;
    }
  }
  if (!outage_.empty()) return;
  bool all_reject = reply.status == reply_status::rejected || reply.status == reply_status::unauthorized;
  for (std::size_t i = 0; i < rejections_.size(); ++i)
    all_reject = all_reject && (!rejections_[i].asked || rejects_everything(i));
  const std::string& name = settings_.models[origin.model].name;
  if (reply.status == reply_status::unauthorized && reply.last_model)
    outage_ = fmt::format("no language model accepts its key; '{}': {}", name, reply.detail);
  else if (all_reject && reply.status == reply_status::rejected)
    outage_ = fmt::format("no language model accepts a request; '{}': {}", name, reply.detail);
  else if (silent(reply.status) && out_of_patience())
    outage_ = fmt::format("no language model has answered for {:g} s; '{}': {}", settings_.patience_s, name,
                          reply.detail);
}

void language_models::require_answers() const {
  const std::scoped_lock lock(guard_);
  if (outage_.empty()) return;
  throw error(
      error_code::environment, outage_, {.key = "llm.models"},
      "start the server, or correct what it refuses (`--set llm.models[0].url=URL` names another server), "
      "then continue with `kevo resume RUN`; all evaluations and paid replies are kept");
}

std::vector<std::string> language_models::take_warnings() {
  const std::scoped_lock lock(guard_);
  return std::exchange(warnings_, {});
}

}  // namespace kevo
