#include "src/serve/evaluator.hpp"

#include <chrono>
#include <optional>

#include <boost/json.hpp>

#include <kevo/error.hpp>

#include "src/base/json/evaluation_json.hpp"
#include "src/base/time/seconds_since.hpp"
#include "src/base/time/unix_seconds.hpp"
#include "src/base/time/wait_unless_stopped.hpp"
#include "src/serve/refusal.hpp"

namespace kevo::serve {
namespace {

std::string error_text(const std::string& code, const std::string& message) {
  return boost::json::serialize(boost::json::object{{"code", code}, {"message", message}});
}

}  // namespace

evaluator::evaluator(broker& jobs, judge judges, metrics& counts, std::size_t at_once,
                     std::function<void(const std::string&)> log)
    : jobs_(jobs), judge_(std::move(judges)), counts_(counts), log_(std::move(log)) {
  for (std::size_t i = 0; i < at_once; ++i)
    threads_.emplace_back([this](const std::stop_token& stop) { work(stop); });
}

evaluator::~evaluator() {
  for (auto& each : threads_) each.request_stop();
}

void evaluator::work(const std::stop_token& stop) {
  while (!stop.stop_requested()) {
    std::optional<job> one;
    try {
      one = jobs_.take(stop);
      if (!one) return;
    } catch (const std::exception& unrecorded) {
      log_(std::string("the record of the service cannot be written: ") + unrecorded.what());
      wait_unless_stopped(1, stop);
      continue;
    }
    if (!is_final(one->progress)) evaluate(*one, stop);
    end(*one, stop);
  }
}

// A full disk or a record that somebody else has locked ends neither the server nor the result: it is written
// when that is possible. A server that is stopped meanwhile makes the evaluation again after its next start.
void evaluator::end(const job& one, const std::stop_token& stop) {
  for (;;) {
    try {
      return is_final(one.progress) ? jobs_.end(one) : jobs_.put_back(one.key);
    } catch (const std::exception& unrecorded) {
      log_("the record of the service cannot be written, so that evaluation " + one.key +
           " waits: " + unrecorded.what());
      if (!wait_unless_stopped(1, stop)) return;
    }
  }
}

void evaluator::evaluate(job& one, const std::stop_token& stop) {
  one.progress = remote::progress::failed;
  const auto began = std::chrono::steady_clock::now();
  try {
    const judged said = judge_(remote::submission_from_json(one.payload), stop);
    if (said.made) {
      one.result = to_json(*said.made);
      one.public_result = to_json(*said.made, {.hidden_details = false});
      one.progress = remote::progress::done;
      if (said.age_s > 0) one.begun_unix_s = unix_seconds() - said.age_s;
      ++counts_.outcomes[static_cast<std::size_t>(said.made->outcome)];
    } else {
      one.error = error_text(said.error_code, said.error);
    }
  } catch (const error& failed) {
    if (failed.code() == error_code::interrupted && stop.stop_requested()) {
      one.progress = remote::progress::running;  // as if it had not begun
      return;
    }
    one.error = error_text(to_string(failed.code()), failed.what());
  } catch (const refusal& no) {  // the tasks of the server are others than when this was submitted
    one.error = error_text("input", no.message);
  } catch (const std::exception& failed) {
    one.error = error_text("environment", failed.what());
  }
  counts_.evaluation_us += static_cast<std::uint64_t>(seconds_since(began) * 1e6);
  if (!one.error.empty()) log_("evaluation " + one.key + " failed: " + one.error);
}

}  // namespace kevo::serve
