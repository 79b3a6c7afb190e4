#pragma once
// Programs of PyTorch with the verdicts that they must get: tests/torch/attacks and tests/torch/honest. The
// comment lines at the top of a file name its task and the outcomes that are right for it, and say why.
// KEVO_EXHIBITS=part,of,names tries those alone.

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/fitness/torch.hpp>

#include "fitness/sandbox/sandbox.hpp"
#include "fitness/torch/python_server.hpp"
#include "src/task/source_file.hpp"
#include "src/task/task_loader.hpp"
#include "tests/support/skip.hpp"

namespace torch_corpus {

struct exhibit {
  std::string name;
  std::string text;
  std::string task;
  std::string twin;  // an honest program that does the same, where there is one
  std::vector<kevo::outcome> verdicts;
};

inline std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

inline exhibit read_exhibit(const std::filesystem::path& file) {
  exhibit result;
  result.name = file.stem().string();
  std::ifstream stream(file);
  std::ostringstream all;
  all << stream.rdbuf();
  result.text = all.str();
  bool because = false;
  std::istringstream lines(result.text);
  for (std::string line; std::getline(lines, line) && line.rfind("# ", 0) == 0;) {
    const auto value = [&](const std::string& key) {
      const std::string start = "# " + key + ": ";
      return line.rfind(start, 0) == 0 ? line.substr(start.size()) : std::string();
    };
    if (const auto v = value("task"); !v.empty()) result.task = v;
    if (const auto v = value("twin"); !v.empty()) result.twin = v;
    for (const auto& name : split(value("verdict"), '|')) {
      const auto outcome = kevo::parse_outcome(name);
      REQUIRE_MESSAGE(outcome, file.string(), ": no outcome is called '", name, "'");
      result.verdicts.push_back(*outcome);
    }
    because |= !value("because").empty();
  }
  REQUIRE_MESSAGE((because && !result.task.empty() && !result.verdicts.empty()), file.string(),
                  ": a line 'task', 'verdict' or 'because' is missing");
  return result;
}

inline std::vector<exhibit> exhibits_in(const std::string& folder) {
  std::vector<exhibit> exhibits;
  for (const auto& file : std::filesystem::directory_iterator(KEVO_SOURCE_DIR "/tests/torch/" + folder))
    exhibits.push_back(read_exhibit(file.path()));
  if (const char* wanted = std::getenv("KEVO_EXHIBITS")) {
    std::erase_if(exhibits, [parts = split(wanted, ',')](const exhibit& e) {
      return std::none_of(parts.begin(), parts.end(),
                          [&](const std::string& part) { return e.name.find(part) != std::string::npos; });
    });
  }
  std::sort(exhibits.begin(), exhibits.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  return exhibits;
}

/// How many programs the folder has, whether KEVO_EXHIBITS names them or not.
inline std::size_t files_in(const std::string& folder) {
  const std::filesystem::recursive_directory_iterator all(KEVO_SOURCE_DIR "/tests/torch/" + folder);
  return static_cast<std::size_t>(
      std::count_if(begin(all), end(all), [](const auto& entry) { return entry.is_regular_file(); }));
}

inline kevo::torch_settings quick_settings() {
  kevo::torch_settings settings;
  settings.limits.call_s = 1;
  settings.limits.first_call_s = 3;
  settings.limits.load_s = 20;
  settings.limits.memory_bytes = 2ULL << 30U;
  settings.timing.short_pairs = 3;
  settings.timing.short_s = 0.05;
  settings.pool_s = 0.3;
  settings.pool_bytes = 16U << 20U;
  return settings;
}

/// The same, with one process for the whole test program that has imported PyTorch.
/// @throws kevo::error (environment) without PyTorch
inline kevo::torch_settings warm_settings() {
  auto settings = quick_settings();
  static const auto server = std::make_shared<kevo::torch::python_server>(
      kevo::torch::find_torch(settings.python, kevo::contains(settings.sandbox)), settings.sandbox,
      settings.helper);
  settings.server = server;
  return settings;
}

/// Evaluates programs on one of the tasks; nothing where this machine has no PyTorch, after it has said so.
inline std::optional<kevo::torch_fitness> fitness_for(
    const std::string& name, const std::optional<kevo::torch_settings>& settings = {}) {
  const auto t = kevo::load_task(KEVO_SOURCE_DIR "/tests/torch/tasks/" + name + ".yaml");
  try {
    return kevo::torch_fitness(std::make_shared<const kevo::task>(t), settings ? *settings : warm_settings());
  } catch (const kevo::error& missing) {
    if (missing.code() != kevo::error_code::environment ||
        missing.message().find("no Python with PyTorch") != 0)
      throw;
    kevo_test::skip(missing.message());
    return std::nullopt;
  }
}

inline kevo::evaluation evaluate(kevo::torch_fitness& fitness, const std::string& text,
                                 kevo::evaluation_stage wanted = kevo::evaluation_stage::timed_short) {
  return fitness.evaluate({.program = std::make_shared<const kevo::program>(kevo::program_of("python", text)),
                           .wanted = wanted,
                           .fresh = true});
}

inline std::string said(const kevo::evaluation& e) {
  std::string text = std::string(kevo::to_string(e.outcome)) + ": " + e.feedback;
  for (const auto& reason : e.reasons) text += "; " + reason;
  return text;
}

}  // namespace torch_corpus
