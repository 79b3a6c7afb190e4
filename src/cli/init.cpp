// kevo init: a task and a config that run as they are, to be changed into one's own.

#include <cctype>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kevo/error.hpp>

#include "src/base/text/format.hpp"
#include "src/cli/command.hpp"
#include "src/cli/init_model.hpp"
#include "src/cli/init_templates.hpp"

namespace kevo::cli {
namespace {

namespace fs = std::filesystem;

void write(const fs::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  out.flush();
  if (!out)
    throw error(error_code::environment, "cannot write this file", {path.string()},
                "check the permissions of the folder and the free disk space");
}

/// Writes a project; gives its files.
std::vector<project_file> init(const std::string& folder, const std::string& chosen,
                               const std::optional<model_entry>& model) {
  const std::string name = fs::path(folder).filename().string();
  bool plain = !name.empty();
  for (const char c : name)
    plain = plain && (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-');
  if (!plain) {
    throw error(error_code::usage, fmt::format("'{}' is not a valid name for a task", name), {},
                "use only letters, digits, _ and -");
  }
  if (fs::exists(folder)) {
    throw error(error_code::usage, fmt::format("'{}' already exists", folder), {}, "choose another name");
  }
  auto files = project_of(chosen, name);
  for (auto& [file, text] : files) {
    if (model && file == "config.yaml") text = with_model(std::move(text), *model);
  }
  fs::create_directories(folder);
  for (const auto& [file, text] : files) write(fs::path(folder) / file, text);
  return files;
}

/// What is done next with a project.
std::string next_steps(const std::string& folder, const std::string& chosen) {
  // Only tasks for the CPU can be checked without running candidates of the other backends.
  const bool checks = chosen == "cpu" || chosen == "openmp";
  return (checks ? fmt::format("  kevo task check {}/task.yaml\n", folder) : std::string()) +
         fmt::format("  kevo run {}/config.yaml\n", folder);
}

std::string listed(const std::vector<project_file>& files) {
  std::string text;
  for (std::size_t i = 0; i < files.size(); ++i)
    text += (i == 0 ? "" : i + 1 < files.size() ? ", " : " and ") + files[i].name;
  return text;
}

}  // namespace

void add_init(CLI::App& program, invocation& shared) {
  auto* verb =
      program.add_subcommand("init", "Create a new task and a config for it, which run without changes");
  auto folder = std::make_shared<std::string>();
  auto chosen = std::make_shared<std::string>(init_templates().front());
  verb->add_option("name", *folder, "Name of the task, or a path whose last part is the name")->required();
  verb->add_option("--template", *chosen,
                   fmt::format("Kind of project: {} (default: cpu)", fmt::join(init_templates(), ", ")));
  auto wanted = std::make_shared<std::string>();
  auto* with = verb->add_option(
      "--model", *wanted,
      "Language model that the config asks: the address of a server (http://localhost:8000/v1), or the name "
      "of a "
      "model (gpt-..., claude-..., gemini-..., VENDOR/MODEL of OpenRouter, MODEL:TAG of Ollama)");
  add_json_flag(*verb, shared);
  verb->callback([folder, chosen, wanted, with, &shared] {
    const auto model = with->count() > 0 ? std::optional(model_entry_of(*wanted)) : std::nullopt;
    const auto files = init(*folder, *chosen, model);
    if (shared.json) {
      fmt::print("{{\"task\": \"{0}/task.yaml\", \"config\": \"{0}/config.yaml\"}}\n", *folder);
    } else {
      fmt::print("wrote {}/{}; next:\n{}{}", *folder, listed(files),
                 model ? fmt::format("  kevo run --check {}/config.yaml\n", *folder) : "",
                 next_steps(*folder, *chosen));
      if (model && !model->note.empty()) fmt::print("note: {}\n", format::printable(model->note));
    }
  });
}

}  // namespace kevo::cli
