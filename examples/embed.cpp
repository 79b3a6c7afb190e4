// A run embedded in a program of your own: load a task, choose the parts, drive the search, read the best.
// The candidates are C++ kernels, built and run in the sandbox and timed against the task's baseline.

#include <chrono>
#include <cstdio>
#include <memory>

#include <kevo/kevo.hpp>

#include "fitness/cpu/cpu_fitness.hpp"
#include "operators/tune/tune.hpp"
#include "src/task/task_loader.hpp"

int main(int count, char** words) {
  const auto task = std::make_shared<const kevo::task>(
      kevo::load_task(count > 1 ? words[1] : "configs/tasks/softmax/task.yaml"));

  kevo::search_parts parts;
  parts.select = kevo::power_law{};
  parts.operators = {kevo::tune{}};
  parts.portfolio = kevo::uniform_portfolio{};
  parts.archive = kevo::top_k(10);
  parts.stop = kevo::stop::any_of{{kevo::stop::evaluations{6}, kevo::stop::seconds{60}}};

  kevo::search search(std::move(parts), {.seed = 1});
  for (const kevo::program& seed : task->seeds) search.add_seed(seed, 0);
  const auto began = std::chrono::steady_clock::now();
  const auto clock_s = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  kevo::run_to_end(search, kevo::cpu_fitness(task, {.timing = {.short_s = 0.2, .full_s = 0.5}}), clock_s);

  const auto best = search.snapshot(search.best().id);
  std::printf("%.2fx over the baseline\n%s", search.best().speedup,
              std::string(best.program->text()).c_str());
  return search.best().speedup > 0 ? 0 : 1;
}
