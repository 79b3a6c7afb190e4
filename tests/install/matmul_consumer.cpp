// The shipped matrix product with the CPU fitness function and `tune`: matmul_consumer TASK RUN. The helper
// program that runs candidates is the installed one.
#include <cstdio>
#include <memory>

#include <kevo/archive/top_k.hpp>
#include <kevo/fitness/cpu.hpp>
#include <kevo/load_task.hpp>
#include <kevo/operators/tune.hpp>
#include <kevo/select/uniform.hpp>
#include <kevo/session.hpp>
#include <kevo/stop/evaluations.hpp>

int main(int words, char** word) {
  if (words != 3) return 2;
  const auto task = std::make_shared<const kevo::task>(kevo::load_task(word[1]));
  kevo::session_plan plan;
  plan.folder = word[2];
  plan.parts.task = task;
  plan.parts.select = kevo::uniform{};
  plan.parts.operators = {kevo::tune{}};
  plan.parts.archive = kevo::top_k(10);
  plan.parts.stop = kevo::stop::evaluations{2};
  plan.fitness = kevo::cpu_fitness(task, {.sandbox = kevo::sandbox_mode::best,
                                          .timing = {.short_s = 0.1, .full_s = 0.2, .sustained_s = 0}});
  const kevo::run_outcome ended = kevo::start_session(plan);
  std::printf("%llu evaluations, %llu valid candidates, best %.2fx\n",
              static_cast<unsigned long long>(ended.ledger.evaluations),
              static_cast<unsigned long long>(ended.ledger.valid), ended.best.speedup);
  return ended.ledger.evaluations >= 2 && ended.ledger.valid >= 1 && ended.best_program ? 0 : 1;
}
