#pragma once
// The tasks of a service, and a fitness function for each of those that were used last.

#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>
#include <kevo/task.hpp>

#include "src/remote/protocol.hpp"

namespace kevo::serve {

/// Makes the fitness function of a task. @throws kevo::error (input, environment)
using fitness_maker = std::function<any_fitness(std::shared_ptr<const task>)>;

/// Makes a task of the text of a problem of KernelBench, in a folder that is its own and may be there from an
/// earlier time. @throws kevo::error (input, environment)
using problem_importer =
    std::function<std::shared_ptr<const task>(const std::string& text, const std::string& folder)>;

/// As `kevo import kernelbench` does it, once for a folder. Needs PyTorch.
std::shared_ptr<const task> import_problem(const std::string& text, const std::string& folder);

/// Thread-safe.
class task_catalog {
 public:
  /// @param folder where sent tasks are kept
  task_catalog(fitness_maker make, problem_importer import, bool allow_sent, std::string folder);

  /// Adds all tasks in a folder, at most four levels deep, or one task file. Returns what could not be loaded
  /// and why. @throws kevo::error (input): there is no such folder, or two tasks have one name
  std::vector<std::string> add(const std::string& path);
  struct entry {
    std::string name;
    std::string description;
  };
  /// Without content ids: whoever knows that of a task is taken to have it, hidden workloads included.
  std::vector<entry> list() const;

  /// What stands for the task of a submission in the key of its job. Cheap: nothing is executed.
  /// @throws refusal: 404 (no such task), 409 (another content), 403 (sent tasks are not allowed), 400
  std::string key_of(const remote::submission& what) const;
  /// Content id of its task, hidden workloads included; empty for a problem of KernelBench.
  /// @throws kevo::error (input); refusal as key_of
  std::string id_of_task(const remote::submission& what) const;
  /// The fitness function for it. May take long the first time.
  /// @throws kevo::error; refusal as key_of
  any_fitness fitness_for(const remote::submission& what);

 private:
  std::shared_ptr<const task> task_of(const remote::submission& what) const;

  fitness_maker make_;
  problem_importer import_;
  bool allow_sent_;
  std::string folder_;
  std::map<std::string, std::shared_ptr<const task>> tasks_;
  std::map<std::string, std::string> ids_;
  std::mutex guard_;
  /// By key, the one used last at the front. A fitness function holds processes and memory.
  std::list<std::pair<std::string, any_fitness>> ready_;
};

}  // namespace kevo::serve
