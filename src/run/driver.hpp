#pragma once
// Drives a search with threads: a pool that varies, a pool that evaluates, one coordinator that decides.

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/model_call.hpp>
#include <kevo/search.hpp>

namespace kevo {

/// What is going on besides the search's own numbers.
struct driver_load {
  std::size_t varying = 0;
  std::size_t evaluating = 0;
  std::size_t measuring = 0;   ///< evaluations, of `evaluating`, that hold their device
  std::size_t confirming = 0;  ///< evaluations, of `evaluating`, that confirm a possible champion
  bool cut_off = false;        ///< a stop rule's time for finishing is over: what runs was asked to end
  /// The process that measures and is waited for at present; nothing if there is none
  std::optional<device_holder> waits_for{};
  double waits_s = 0;  ///< [s] for how long the present wait has lasted
};

/// What a variation had done before its process died, and that need not be done again.
struct begun_turn {
  spending cost;                                            ///< of its recorded calls of models
  std::vector<std::pair<content_id, evaluation>> drafts{};  ///< in the order in which they were evaluated
};

struct driver_settings {
  std::size_t variations = 2;  ///< operators that may work at once
  std::size_t evaluations =
      2;  ///< evaluations that may be out at once (they build in parallel and measure in turn)
  std::function<double()> clock_s;  ///< run time [s]
  /// Told by the threads that evaluate when a wait for another process begins (true) and ends (false); every
  /// beginning has its end. May be empty.
  std::function<void(bool begins)> waiting{};
  std::function<void(bool idle)> between;  ///< called often by the coordinator: commit, housekeeping
  std::function<void(const search&, driver_load)> refresh;  ///< called a few times a second: displays
  std::function<void(ticket, const model_call&, double now_s)> call;  ///< an operator asked a language model
  std::map<ticket, begun_turn> begun;                                 ///< of unfinished variations
  /// Hand out nothing more, let what is out finish; evaluations that have not begun to measure are withdrawn.
  std::stop_token graceful_stop;
  std::stop_token immediate_stop;  ///< also cancel what is out
  /// [s] After a stop rule: time for what is out and can be repeated at no cost, evaluations and variations;
  /// then it is cancelled and withdrawn. Evaluations that have not begun to measure are withdrawn at once.
  double linger_s = 1;
  /// [s] After a stop rule: time for the rest, which is confirmations, the first evaluations of seeds and of
  /// what models made, and turns of models. Then it is cancelled, too: evaluations are withdrawn, turns of
  /// models end without a proposal, so that their cost is booked.
  double finish_s = 120;
  /// Asked by the threads that vary when a turn of a model ended without a program because the model failed:
  /// throws kevo::error where no model can be asked any more. Such a turn stays untold, so that a resume
  /// repeats it. May be empty.
  std::function<void()> require_models{};
  /// Whether a turn waits for a reply that is to come from outside: whatever its operator returned then, it
  /// stays untold, so that a resume repeats it. May be empty.
  std::function<bool(ticket)> awaits{};
  /// Asked by the coordinator: why the session is to end like after `graceful_stop`; empty: it goes on. May
  /// be empty.
  std::function<std::string()> ends{};
  double breath_s = 0.1;  ///< longest time between two refreshes [s]
};

/// Runs until the search stops and nothing is out. `unfinished` are jobs that an earlier process had asked
/// for and never told. Throws the first fault of the machine after everything that was finished has been
/// told; with `immediate_stop`, returns as soon as the cancelled jobs have returned, leaving them untold.
void drive(search& engine, const any_fitness& fitness_function, std::vector<job> unfinished,
           const driver_settings& settings);

}  // namespace kevo
