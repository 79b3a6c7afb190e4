// A run embedded in a program of your own: load a task, choose the parts, start a session, read the best. The
// candidates are C++ kernels, built and run in the sandbox and timed against the task's baseline.

#include <cstdio>
#include <filesystem>
#include <memory>
#include <string>

#include <kevo/fitness/cpu.hpp>
#include <kevo/kevo.hpp>
#include <kevo/load_task.hpp>
#include <kevo/operators/tune.hpp>
#include <kevo/session.hpp>

int main(int count, char** words) {
  const auto task = std::make_shared<const kevo::task>(
      kevo::load_task(count > 1 ? words[1] : "configs/tasks/softmax/task.yaml"));

  kevo::session_plan plan;
  plan.folder = count > 2 ? words[2] : "runs/example_embed";
  if (count <= 2) std::filesystem::remove_all(plan.folder);
  plan.parts.task = task;
  plan.parts.select = kevo::power_law{};
  plan.parts.operators = {kevo::tune{}};
  plan.parts.archive = kevo::top_k(10);
  plan.parts.stop = kevo::stop::any_of{{kevo::stop::evaluations{6}, kevo::stop::seconds{60}}};
  plan.fitness = kevo::cpu_fitness(task, {.timing = {.short_s = 0.2, .full_s = 0.5}});

  const kevo::run_outcome ended = kevo::start_session(plan);
  if (!ended.best_program) return 1;
  std::printf("%.2fx over the baseline\n%s", ended.best.speedup,
              std::string(ended.best_program->text()).c_str());
  return ended.best.speedup > 0 ? 0 : 1;
}
