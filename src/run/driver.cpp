#include "src/run/driver.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <variant>

#include "operators/llm/model_failure.hpp"
#include "src/run/present_waits.hpp"
#include "src/run/relatives.hpp"
#include "src/run/replay.hpp"

namespace kevo {
namespace {

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

/// A queue that threads wait on.
template <class T>
class channel {
 public:
  void push(T item) {
    {
      const std::scoped_lock lock(guard_);
      items_.push_back(std::move(item));
    }
    ready_.notify_one();
  }
  /// The next item; nothing once `stop` is requested and the queue is empty.
  std::optional<T> pop(const std::stop_token& stop) {
    std::unique_lock lock(guard_);
    if (!ready_.wait(lock, stop, [this] { return !items_.empty(); })) return std::nullopt;
    return take();
  }
  std::optional<T> pop_for(double seconds) {
    std::unique_lock lock(guard_);
    const auto patience = std::chrono::duration<double>(seconds);
    if (!ready_.wait_for(lock, patience, [this] { return !items_.empty(); })) return std::nullopt;
    return take();
  }

 private:
  T take() {
    T item = std::move(items_.front());
    items_.pop_front();
    return item;
  }
  std::mutex guard_;
  std::condition_variable_any ready_;
  std::deque<T> items_;
};

/// Everything the threads share.
struct shared_state {
  search& engine;
  const any_fitness& fitness_function;
  const std::map<ticket, begun_turn>& begun;
  const std::function<void()>& require_models;
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
  std::atomic<bool> winding_down{false};  ///< interrupted
  std::atomic<bool> stopped{false};       ///< by a stop rule, too
};

/// Whether a job failed because it was told to stop.
bool cut_short(const std::stop_token& stop, const error& failure) {
  return stop.stop_requested() && failure.code() == error_code::interrupted;
}

void vary_one(shared_state& shared, variation_job work) {
  const bool repeatable = shared.engine.operators()[work.op].replayable();
  // Those that an earlier process had begun may be more than there are threads. What asks models is told that
  // the run is ending, so that its cost is booked.
  if (repeatable && (shared.winding_down || shared.stopped))
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
  const auto too_late = [&] { return shared.winding_down || (shared.stopped && !queued.must_run); };
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

/// The coordinator: the only thread that asks and tells.
class coordinator {
 public:
  coordinator(shared_state& shared, const driver_settings& settings) : shared_(shared), settings_(settings) {}

  void run(std::vector<job> unfinished) {
    for (job& left : unfinished) dispatch(std::move(left));
    bool open = true;
    while (open || load_.varying + load_.evaluating > 0) {
      heed_interrupts();
      heed_limits();
      if (open && !fault_) open = hand_out();
      if (fault_) {
        open = false;
        shared_.last_calls.request_stop();
      }
      between(false);
      if (open || load_.varying + load_.evaluating > 0) take_in();
    }
    between(true);
    refresh(true);
    if (fault_ && !settings_.immediate_stop.stop_requested()) std::rethrow_exception(fault_);
  }

 private:
  /// A failing disk ends the run, but what is out is still taken in.
  void between(bool idle) {
    if (!settings_.between) return;
    try {
      settings_.between(idle);
    } catch (const error&) {
      if (!fault_) fault_ = std::current_exception();
    }
  }

  void heed_interrupts() {
    if (settings_.graceful_stop.stop_requested() || settings_.immediate_stop.stop_requested()) {
      const std::scoped_lock lock(shared_.guard);
      shared_.engine.stop("interrupted", settings_.clock_s(), false);
      shared_.winding_down = true;
      shared_.last_calls.request_stop();
    }
    if (settings_.immediate_stop.stop_requested()) cancel_all();
  }

  void cancel_all() {
    shared_.cancel_repeatable.request_stop();
    shared_.cancel.request_stop();
  }

  /// A stop rule's times for finishing. After an interrupt the user decides.
  void heed_limits() {
    if (!stopped_at_ || shared_.winding_down || load_.cut_off) return;
    const double since_s =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - *stopped_at_).count();
    if (since_s >= settings_.linger_s) shared_.cancel_repeatable.request_stop();
    if (since_s < settings_.finish_s) return;
    load_.cut_off = true;
    refresh(true);  // while it can be told what is cancelled
    cancel_all();
    const std::scoped_lock lock(shared_.guard);
    shared_.engine.stop({}, settings_.clock_s(), false);  // it has stopped: no more confirmations
  }

  /// Asks until nothing is to be had; false once the search has stopped for good.
  bool hand_out() {
    while (true) {
      const capacity free{.vary = load_.varying < settings_.variations,
                          .evaluate = load_.evaluating < settings_.evaluations};
      job next = [&] {
        const std::scoped_lock lock(shared_.guard);
        return shared_.engine.ask(free, settings_.clock_s());
      }();
      if (shared_.engine.stopped()) {
        shared_.stopped = true;
        if (!stopped_at_) stopped_at_ = std::chrono::steady_clock::now();
        shared_.last_calls.request_stop();
      }
      if (std::holds_alternative<wait_job>(next)) return true;
      if (std::holds_alternative<stop_job>(next)) return false;
      dispatch(std::move(next));
    }
  }

  void dispatch(job work) {
    if (auto* vary = std::get_if<variation_job>(&work)) {
      ++load_.varying;
      // What is not computed again from request and stream alone is shown what a replay can show it, too.
      if (const std::scoped_lock lock(shared_.guard);
          !vary->request.services && !shared_.engine.operators()[vary->op].replayable())
        vary->request.services = settled_relatives(shared_.engine, *vary);
      shared_.to_vary.push(std::move(*vary));
    } else if (auto* evaluate = std::get_if<evaluation_job>(&work)) {
      ++load_.evaluating;
      const auto& row = shared_.engine.population().row(evaluate->candidate);
      // A seed, or what a model or a program was paid or waited for.
      const bool not_repeatable =
          row.made_by == seed_operator || !shared_.engine.operators()[row.made_by].replayable();
      const bool confirms = evaluate->request.wanted == evaluation_stage::confirmed;
      const bool must_run = confirms || (not_repeatable && !row.evaluated);
      shared_.to_evaluate.push({std::move(*evaluate), must_run, confirms});
    }
  }

  /// Waits for an ending and tells it, and all others that are there.
  void take_in() {
    auto end = shared_.ended.pop_for(0.005);
    if (!end) {
      between(true);
      refresh(false);
      end = shared_.ended.pop_for(settings_.breath_s);
    }
    for (; end; end = shared_.ended.pop_for(0)) {
      const std::scoped_lock lock(shared_.guard);
      std::visit([this](auto& what) { tell(what); }, *end);
    }
    refresh(false);
  }

  void tell(variation_end& end) {
    --load_.varying;
    shared_.engine.tell(end.id, std::move(end.result), end.cost, std::move(end.transcript),
                        settings_.clock_s());
  }
  void tell(evaluation_end& end) {
    --load_.evaluating;
    shared_.engine.tell(end.id, std::move(end.result), settings_.clock_s());
  }
  void tell(draft_end& end) {
    shared_.engine.tell_draft(end.id, end.draft, std::move(end.result), settings_.clock_s());
  }
  void tell(further_end& end) {
    shared_.engine.tell_further(end.id, std::move(end.made), settings_.clock_s());
  }
  void tell(call_end& end) {
    if (settings_.call) settings_.call(end.id, end.call, settings_.clock_s());
  }
  void tell(fault& end) {
    --(end.evaluates ? load_.evaluating : load_.varying);
    if (!fault_) fault_ = end.what;
  }

  /// It stays asked and untold: whoever resumes the run does it.
  void tell(withdrawn& end) {
    --(end.evaluates ? load_.evaluating : load_.varying);
    shared_.engine.withdraw(end.id);
  }

  void refresh(bool at_once) {
    // By the clock on the wall: the run time may stand still.
    const auto now = std::chrono::steady_clock::now();
    const auto breath = std::chrono::duration<double>(settings_.breath_s);
    if (!settings_.refresh || (!at_once && refreshed_ && now - *refreshed_ < breath)) return;
    refreshed_ = now;
    const std::scoped_lock lock(shared_.guard);
    driver_load load = load_;
    load.measuring = std::min<std::size_t>(shared_.measuring, load.evaluating);
    load.confirming = std::min<std::size_t>(shared_.confirming, load.evaluating);
    if (const auto wait = shared_.waits.first()) {
      load.waits_for = wait->holder;
      load.waits_s = std::chrono::duration<double>(now - wait->since).count();
    }
    settings_.refresh(shared_.engine, load);
  }

  shared_state& shared_;
  const driver_settings& settings_;
  driver_load load_;
  std::exception_ptr fault_;
  std::optional<std::chrono::steady_clock::time_point> refreshed_;
  std::optional<std::chrono::steady_clock::time_point> stopped_at_;  ///< when the search was seen stopped
};

}  // namespace

void drive(search& engine, const any_fitness& fitness_function, std::vector<job> unfinished,
           const driver_settings& settings) {
  shared_state shared{.engine = engine,
                      .fitness_function = fitness_function,
                      .begun = settings.begun,
                      .require_models = settings.require_models,
                      .waits = present_waits(settings.waiting)};
  std::vector<std::jthread> threads;
  for (std::size_t i = 0; i < settings.variations; ++i) {
    threads.emplace_back([&shared](const std::stop_token& stop) {
      while (auto work = shared.to_vary.pop(stop)) vary_one(shared, std::move(*work));
    });
  }
  for (std::size_t i = 0; i < settings.evaluations; ++i) {
    threads.emplace_back([&shared](const std::stop_token& stop) {
      while (auto work = shared.to_evaluate.pop(stop)) evaluate_one(shared, std::move(*work));
    });
  }
  try {
    coordinator(shared, settings).run(std::move(unfinished));
  } catch (...) {
    shared.last_calls.request_stop();
    shared.cancel_repeatable.request_stop();  // before the threads are joined
    shared.cancel.request_stop();
    throw;
  }
}

}  // namespace kevo
