#pragma once
// The simplest driver of a search: it runs one job at a time on one thread.

#include <memory>
#include <string>
#include <utility>
#include <variant>

#include <kevo/evaluate.hpp>
#include <kevo/search.hpp>

namespace kevo {

/// Runs a search on the calling thread until it stops, one job at a time. `clock_s()` returns the run time
/// [s], which must not decrease. Exceptions of operators and of the fitness function pass through.
template <class Clock>
void run_to_end(search& engine, const any_fitness& fitness_function, Clock clock_s) {
  while (true) {
    job next = engine.ask({}, clock_s());
    if (auto* vary = std::get_if<variation_job>(&next)) {
      const auto alone = [](const auto& call) { call(); };
      spending cost;
      std::string transcript;
      variation_services services = engine.services(*vary, alone);
      services.book = [&cost](const spending& more) { cost += more; };
      services.note = [&transcript](const std::string& text) { transcript += text; };
      services.evaluate_until = [&](const program& draft, evaluation_stage wanted) {
        evaluation result =
            fitness_function.evaluate({.program = std::make_shared<const program>(draft), .wanted = wanted});
        engine.tell_draft(vary->id, draft, result, clock_s());
        return result;
      };
      services.propose = [&](proposal further) {
        engine.tell_further(vary->id, std::move(further), clock_s());
      };
      services.evaluate = [until = services.evaluate_until](const program& draft) {
        return until(draft, evaluation_stage::timed_full);
      };
      vary->request.services = std::make_shared<const variation_services>(std::move(services));
      const double began_s = clock_s();
      variation_result result = engine.operators()[vary->op].vary(vary->request, vary->random);
      cost.wall_s += clock_s() - began_s;
      engine.tell(vary->id, std::move(result), cost, std::move(transcript), clock_s());
    } else if (auto* evaluate = std::get_if<evaluation_job>(&next)) {
      engine.tell(evaluate->id, fitness_function.evaluate(evaluate->request), clock_s());
    } else {
      return;
    }
  }
}

}  // namespace kevo
