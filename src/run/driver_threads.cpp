#include "src/run/driver_threads.hpp"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <kevo/error.hpp>

#include "operators/llm/model_failure.hpp"
#include "src/run/relatives.hpp"
#include "src/run/replay.hpp"

namespace kevo::driver_threads {
namespace {

/// Whether a job failed because it was told to stop.
bool cut_short(const std::stop_token& stop, const error& failure) {
  return stop.stop_requested() && failure.code() == error_code::interrupted;
}

}  // namespace

void vary_one(shared_state& shared, variation_job work) {
  const bool repeatable = shared.engine.operators()[work.op].replayable();
  // Those that an earlier process had begun may be more than there are threads. What asks models is told that
  // the run is ending, so that its cost is booked.
  if (repeatable && (shared.interrupted || shared.stopped))
    return shared.ended.push(withdrawn{work.id, false});
  const std::stop_token stop = (repeatable ? shared.cancel_repeatable : shared.cancel).get_token();
  const auto began = std::chrono::steady_clock::now();
  variation_end end{.id = work.id};
  std::mutex notes;
  const auto guarded = [&shared](const auto& call) {
    const std::scoped_lock lock(shared.guard);
    call();
  };
  begun_turn before;
  if (const auto found = shared.begun.find(work.id); found != shared.begun.end()) before = found->second;
  end.cost = before.cost;
  variation_services services = with_relatives(shared.engine.services(work, guarded), work.request.services);
  services.book = [&](const spending& more) {
    const std::scoped_lock lock(notes);
    end.cost += more;
  };
  services.note = [&](const std::string& text) {
    const std::scoped_lock lock(notes);
    end.transcript += text;
  };
  services.record = [&](const model_call& call) { shared.ended.push(call_end{work.id, call}); };
  services.propose = [&](proposal made) { shared.ended.push(further_end{work.id, std::move(made)}); };
  services.evaluate_until = [&](const program& draft, evaluation_stage wanted) {
    {
      const std::scoped_lock lock(notes);
      if (auto known = take_draft(before.drafts, id_of(draft))) return *std::move(known);
    }
    evaluation result = shared.fitness_function.evaluate({.program = std::make_shared<const program>(draft),
                                                          .wanted = wanted,
                                                          .stop = stop,
                                                          .waiting = shared.waits.listener(work.id)});
    shared.ended.push(draft_end{work.id, draft, result});
    return result;
  };
  services.evaluate = [until = services.evaluate_until](const program& draft) {
    return until(draft, evaluation_stage::timed_full);
  };
  work.request.services = std::make_shared<const variation_services>(std::move(services));
  work.request.stop = stop;
  work.request.ending = shared.last_calls.get_token();
  try {
    end.result = vary_or_fail(shared.engine.operators()[work.op], work.request, work.random);
    if (shared.awaits && shared.awaits(work.id)) return shared.ended.push(withdrawn{work.id, false});
    if (const auto* none = std::get_if<no_proposal>(&end.result);
        none != nullptr && shared.require_models && is_model_failure(none->reason))
      shared.require_models();
  } catch (const error& refused) {
    if (!cut_short(stop, refused)) return shared.ended.push(fault{false, std::current_exception()});
    if (repeatable) return shared.ended.push(withdrawn{work.id, false});
    // The evaluation of its draft was cancelled. What it has spent on models is booked with its end.
    end.result = no_proposal{"cancelled"};
  }
  // A cancelled operator may propose something else than a replay would see. A resume asks it again.
  if (repeatable && stop.stop_requested()) return shared.ended.push(withdrawn{work.id, false});
  end.cost.wall_s += std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  shared.ended.push(std::move(end));
}

void evaluate_one(shared_state& shared, queued_evaluation queued) {
  evaluation_job& work = queued.work;
  const auto too_late = [&] { return shared.interrupted || (shared.stopped && !queued.must_run); };
  const std::stop_token stop = (queued.must_run ? shared.cancel : shared.cancel_repeatable).get_token();
  if (too_late() || stop.stop_requested()) return shared.ended.push(withdrawn{work.id, true});
  bool withdraws = false;
  work.request.stop = stop;
  work.request.waiting = shared.waits.listener(work.id);
  work.request.measuring = [&](bool begins) {
    // A queue at the device would hold up a run that is to end.
    if (begins && too_late()) {
      withdraws = true;
      throw error(error_code::interrupted, "stopped before it was measured");
    }
    begins ? ++shared.measuring : --shared.measuring;
  };
  struct confirming_span {
    std::atomic<std::size_t>& count;
    std::size_t one;
    ~confirming_span() { count -= one; }
  };
  const confirming_span confirming{shared.confirming, queued.confirms ? std::size_t{1} : std::size_t{0}};
  shared.confirming += confirming.one;
  try {
    shared.ended.push(evaluation_end{work.id, shared.fitness_function.evaluate(work.request)});
  } catch (const error& failure) {
    if (withdraws || cut_short(stop, failure)) return shared.ended.push(withdrawn{work.id, true});
    shared.ended.push(fault{true, std::current_exception()});
  } catch (...) {
    if (withdraws) return shared.ended.push(withdrawn{work.id, true});
    shared.ended.push(fault{true, std::current_exception()});
  }
}

}  // namespace kevo::driver_threads
