#pragma once
// The threads of a driver: each takes one job, lets an operator or the fitness function work on it, and
// passes on how it ended. They never touch the search without its guard.

#include <atomic>
#include <cstddef>
#include <exception>
#include <functional>
#include <map>
#include <mutex>
#include <stop_token>
#include <string>
#include <variant>

#include <kevo/evaluate.hpp>
#include <kevo/search.hpp>

#include "src/run/channel.hpp"
#include "src/run/driver.hpp"
#include "src/run/present_waits.hpp"

namespace kevo::driver_threads {

struct variation_end {
  ticket id = 0;
  variation_result result;
  spending cost;
  std::string transcript;
};
struct evaluation_end {
  ticket id = 0;
  evaluation result;
};
struct draft_end {
  ticket id = 0;
  program draft;
  evaluation result;
};
struct further_end {
  ticket id = 0;
  proposal made;
};
struct call_end {
  ticket id = 0;
  model_call call;
};
struct fault {
  bool evaluates = false;
  std::exception_ptr what;
};
/// A job that a stop came before or that it cut short.
struct withdrawn {
  ticket id = 0;
  bool evaluates = false;
};
using ending =
    std::variant<variation_end, evaluation_end, draft_end, further_end, call_end, fault, withdrawn>;

/// What the pool is given to evaluate.
struct queued_evaluation {
  evaluation_job work;
  bool must_run =
      false;  ///< also after a stop rule: a confirmation, or the first of a seed or of what a model made
  bool confirms = false;
};

/// Everything the threads share.
struct shared_state {
  search& engine;
  const any_fitness& fitness_function;
  const std::map<ticket, begun_turn>& begun;
  const std::function<void()>& require_models;
  const std::function<bool(ticket)>& awaits;
  present_waits waits;
  std::mutex guard;  ///< of the search
  channel<variation_job> to_vary;
  channel<queued_evaluation> to_evaluate;
  channel<ending> ended;
  std::stop_source cancel;             ///< what cannot be repeated for nothing
  std::stop_source cancel_repeatable;  ///< the rest
  std::stop_source last_calls;         ///< begin nothing new that costs money
  std::atomic<std::size_t> measuring{0};
  std::atomic<std::size_t> confirming{0};
  std::atomic<bool> interrupted{false};
  std::atomic<bool> stopped{false};  ///< by a stop rule, too
};

/// Runs the operator of a variation, and passes on its proposals, costs and end.
void vary_one(shared_state& shared, variation_job work);
/// Evaluates a candidate, unless a stop came before, and passes on the result.
void evaluate_one(shared_state& shared, queued_evaluation queued);

}  // namespace kevo::driver_threads
