// What a path in a setting is relative to.
#include "src/base/settings/path_setting.hpp"

#include <filesystem>

#include <doctest/doctest.h>

#include "src/base/settings/overrides.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/base/text/text_file.hpp"

using namespace kevo;

namespace {

std::string here(const std::string& name) {
  return (std::filesystem::current_path() / name).string();
}

settings_node with(const std::string& yaml, const std::vector<std::string>& overrides) {
  settings_node tree = parse_yaml(yaml, "configs/a.yaml");
  for (const auto& one : overrides) apply_override(tree, one);
  return tree;
}

}  // namespace

TEST_CASE("a path in a file is relative to the file, one from the command line to the current folder") {
  settings from(with("{task: t.yaml, fitness: {backend: cpu}}", {}));
  CHECK(path_from(from, "task", {}, "configs") == "configs/t.yaml");
  CHECK(path_from(from, "cache", {.def = ""}, "configs").empty());
  CHECK(from.resolved().find("task")->text == "t.yaml");

  settings given(with("{task: t.yaml}", {"task=other/t.yaml"}));
  CHECK(path_from(given, "task", {}, "configs") == here("other/t.yaml"));
  CHECK(given.resolved().find("task")->text == here("other/t.yaml"));  // means the same from any folder

  settings absolute(with("{task: /tasks/t.yaml}", {}));
  CHECK(path_from(absolute, "task", {}, "configs") == "/tasks/t.yaml");

  // The map comes from the command line, the default path in it does not.
  settings tree(with("{}", {"fitness={backend: command}"}));
  settings fitness = tree.child("fitness");
  CHECK(path_from(fitness, "directory", {.def = "."}, "configs") == "configs/");
}

TEST_CASE("every path of a list has a rule of its own") {
  settings from(with("{plugins: [a.so, b.so]}", {"plugins[1]=c.so"}));
  CHECK(paths_from(from, "plugins", {}, "configs") == std::vector<std::string>{"configs/a.so", here("c.so")});
  CHECK(from.resolved().find("plugins")->items[0].text == "a.so");
  CHECK(from.resolved().find("plugins")->items[1].text == here("c.so"));
}

TEST_CASE("a URL is named as one, with the next step") {
  const auto refused = [](const auto& read, const std::string& file) {
    try {
      read();
      FAIL_CHECK("accepted");
    } catch (const error& e) {
      CHECK(e.code() == error_code::input);
      CHECK(e.place().file == file);
      CHECK_MESSAGE(e.message().find("is a URL, and kevo reads files only") != std::string::npos, e.what());
      CHECK(e.hint().find("download it") != std::string::npos);
    }
  };
  const std::string url = "https://host.example/configs/a.yaml";
  refused([&] { load_yaml(url); }, url);
  refused([&] { path_beside("tasks/task.yaml", "file:///seed.cpp"); }, "tasks/task.yaml");
  settings from(with("{task: \"" + url + "\"}", {}));
  refused([&] { path_from(from, "task", {}, "configs"); }, "configs/a.yaml");
  CHECK(path_beside("a/b", "c:d/e") == "a/c:d/e");  // a colon alone makes no URL
}
