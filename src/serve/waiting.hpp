#pragma once
// Answers that come when an evaluation ends.

#include <functional>
#include <memory>
#include <string>

#include "src/serve/broker.hpp"
#include "src/serve/http_server.hpp"

namespace kevo::serve {

/// Calls `answer` when the job has ended or the time is over, whichever is first; never if the client has
/// gone. `answer` gives `back` its answer.
inline void answer_when_ended(broker& jobs, const std::string& key, double wait_s,
                              const std::shared_ptr<http_exchange>& back,
                              const std::function<void()>& answer) {
  back->after(wait_s, answer);
  const std::uint64_t number = jobs.when_ended(key, answer);
  back->when_over([&jobs, key, number] { jobs.forget(key, number); });
}

}  // namespace kevo::serve
