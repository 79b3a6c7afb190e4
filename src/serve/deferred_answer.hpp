#pragma once
// Answers that come when an evaluation ends.

#include <exception>
#include <functional>
#include <memory>
#include <string>
#include <utility>

#include "src/serve/broker.hpp"
#include "src/serve/http_server.hpp"
#include "src/serve/views.hpp"

namespace kevo::serve {

/// `answer` as a function that does not throw: where it fails (a record that cannot be read, for instance),
/// the client is told, because whoever calls it later, a timer or the thread that ended an evaluation, has
/// nobody to tell.
inline std::function<void()> answer_without_throwing(std::shared_ptr<http_exchange> back,
                                                     std::function<void()> answer) {
  return [back = std::move(back), answer = std::move(answer)] {
    try {
      answer();
    } catch (const std::exception& failed) {
      back->answer(refusal_answer({503, "environment", failed.what(), "ask again", 5}));
    }
  };
}

/// Calls `how` when the job has ended or the time is over, whichever is first; never if the client has
/// gone. `how` gives `back` its answer; if it throws, the answer is 503.
inline void answer_when_ended(broker& jobs, const std::string& key, double wait_s,
                              const std::shared_ptr<http_exchange>& back, std::function<void()> how) {
  const auto answer = answer_without_throwing(back, std::move(how));
  back->after(wait_s, answer);
  const std::uint64_t number = jobs.when_ended(key, answer);
  back->when_over([&jobs, key, number] { jobs.forget(key, number); });
}

}  // namespace kevo::serve
