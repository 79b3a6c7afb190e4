#include "src/serve/task_catalog.hpp"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/load_task.hpp>
#include <kevo/task_id.hpp>

#include "src/base/settings/json.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/import/kernelbench.hpp"
#include "src/serve/refusal.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"

namespace kevo::serve {
namespace fs = std::filesystem;
namespace {

constexpr int deepest_folder = 4;
constexpr std::size_t most_ready = 8;

bool looks_like_task(const fs::path& file) {
  const auto ending = file.extension();
  if (ending == ".json") return true;
  if (ending != ".yaml" && ending != ".yml") return false;
  // Beside tasks there are configs, which have none of these keys.
  std::ifstream in(file);
  std::string line;
  while (std::getline(in, line)) {
    if (line.starts_with("reference:") || line.starts_with("workloads:") || line.starts_with("seeds:"))
      return true;
  }
  return false;
}

std::string hash_of_sent(const remote::submission& what) {
  content_hasher hash;
  hash.text("kevo sent task 1").text(what.task_file).text(what.kernelbench);
  for (const auto& [name, text] : what.task_files) hash.text(name).text(text);
  return kevo::to_string(hash.finish());
}

/// A task from texts, without a file on this machine.
task decode_sent(const remote::submission& what) {
  const std::string& text = what.task_files.at(what.task_file);
  const bool json = fs::path(what.task_file).extension() == ".json";
  const settings_node root = json ? parse_json(text, what.task_file) : parse_yaml(text, what.task_file);
  const source_reader read = [&what](const std::string& path, const std::string& language,
                                     const error_place& named) {
    const auto found = what.task_files.find(path);
    if (found == what.task_files.end())
      throw error(error_code::input, "the file '" + path + "' was not sent", named);
    return program_of(language.empty() ? language_of(path) : language, found->second);
  };
  return decode_task(root, read);
}

}  // namespace

std::shared_ptr<const task> import_problem(const std::string& text, const std::string& folder) {
  const fs::path made = fs::path("task") / "problem" / "task.yaml";
  if (!fs::exists(folder / made)) {
    // Under another name until it is whole: the server may be killed, or another thread may do the same.
    static std::atomic<int> number{0};
    const fs::path draft = folder + fmt::format(".{}.{}", ::getpid(), ++number);
    std::error_code failed;
    fs::create_directories(draft, failed);
    const fs::path file = draft / "problem.py";
    if (!(std::ofstream(file) << text).flush())
      throw error(error_code::environment, "cannot write a problem of KernelBench", {file.string()});
    const auto results =
        import_kernelbench({.from = file.string(), .to = (draft / "task").string(), .check = false});
    if (results.empty() || results.front().file.empty())
      throw error(error_code::input,
                  "the reference could not be imported: " +
                      (results.empty() ? std::string("it defines no get_inputs") : results.front().problem));
    fs::rename(draft, folder, failed);
    if (failed && !fs::exists(folder / made))
      throw error(error_code::environment, "cannot keep a problem of KernelBench: " + failed.message(),
                  {folder});
  }
  return std::make_shared<const task>(load_task((folder / made).string()));
}

task_catalog::task_catalog(fitness_maker make, problem_importer import, bool allow_sent, std::string folder)
    : make_(std::move(make)),
      import_(std::move(import)),
      allow_sent_(allow_sent),
      folder_(std::move(folder)) {}

std::vector<std::string> task_catalog::add(const std::string& path) {
  std::vector<std::string> problems;
  std::vector<fs::path> files;
  std::error_code failed;
  if (fs::is_regular_file(path, failed)) {
    files.emplace_back(path);
  } else if (fs::is_directory(path, failed)) {
    for (auto each = fs::recursive_directory_iterator(path); each != fs::recursive_directory_iterator();
         ++each) {
      if (each->is_directory() && each.depth() >= deepest_folder - 1) each.disable_recursion_pending();
      if (each->is_regular_file() && looks_like_task(each->path())) files.push_back(each->path());
    }
  } else {
    throw error(error_code::input, "there is no file or folder '" + path + "'", {},
                "name a task file, or a folder of tasks");
  }
  std::sort(files.begin(), files.end());
  for (const auto& file : files) {
    try {
      auto loaded = std::make_shared<const task>(load_task(file.string()));
      const std::string id = kevo::to_string(id_of(*loaded));
      if (const auto known = ids_.find(loaded->name); known != ids_.end()) {
        if (known->second == id) continue;
        throw error(error_code::input, "another task has the name '" + loaded->name + "'", {file.string()},
                    "rename one of them");
      }
      ids_[loaded->name] = id;
      tasks_[loaded->name] = std::move(loaded);
    } catch (const error& wrong) {
      problems.emplace_back(wrong.what());
    }
  }
  return problems;
}

std::vector<task_catalog::entry> task_catalog::list() const {
  std::vector<entry> all;
  for (const auto& [name, one] : tasks_) all.push_back({name, one->description});
  return all;
}

std::string task_catalog::key_of(const remote::submission& what) const {
  if (!what.task.empty()) {
    const auto found = ids_.find(what.task);
    if (found == ids_.end())
      throw refusal{404, "not_found", "this server has no task '" + what.task + "'",
                    "GET /v1/tasks lists its tasks"};
    if (!what.task_id.empty() && what.task_id != found->second)
      throw refusal{409, "conflict",
                    "the task '" + what.task +
                        "' of this server differs from the task of the request, which has the content id " +
                        what.task_id,
                    "give the server the same task files, or send the task with the request"};
    return found->second;
  }
  if (!allow_sent_)
    throw refusal{403, "forbidden", "this server does not take tasks from requests",
                  "name one of its tasks, or start it with --allow-tasks"};
  return "sent " + hash_of_sent(what);
}

std::string task_catalog::id_of_task(const remote::submission& what) const {
  if (!what.kernelbench.empty()) return {};
  return what.task.empty() ? kevo::to_string(id_of(decode_sent(what))) : key_of(what);
}

std::shared_ptr<const task> task_catalog::task_of(const remote::submission& what) const {
  if (!what.task.empty()) return tasks_.at(what.task);
  if (!what.kernelbench.empty())
    return import_(what.kernelbench, (fs::path(folder_) / "kernelbench" / hash_of_sent(what)).string());
  auto made = std::make_shared<const task>(decode_sent(what));
  if (!what.task_id.empty() && what.task_id != kevo::to_string(id_of(*made)))
    throw error(error_code::input,
                "the task that was sent does not have the content id that the request gives");
  return made;
}

any_fitness task_catalog::fitness_for(const remote::submission& what) {
  const std::string key = key_of(what);
  {
    const std::scoped_lock lock(guard_);
    for (auto each = ready_.begin(); each != ready_.end(); ++each) {
      if (each->first != key) continue;
      ready_.splice(ready_.begin(), ready_, each);
      return ready_.front().second;
    }
  }
  any_fitness made = make_(task_of(what));
  const std::scoped_lock lock(guard_);
  ready_.emplace_front(key, made);
  if (ready_.size() > most_ready) ready_.pop_back();
  return made;
}

}  // namespace kevo::serve
