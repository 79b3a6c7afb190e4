// serial
// labels: slow
// timeout: 1200
// The bundles of all shipped tasks in C++ take the time of the objects that a run measures, and each is
// linked beside the program that it was made of.

#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/export/bundle/bundle.hpp"
#include "src/task/task_loader.hpp"
#include "tests/export/bundle/run_of.hpp"
#include "tests/support/shell.hpp"

using namespace kevo_test;  // NOLINT(google-build-using-namespace)

// Names of its own, because the tests of a folder are compiled together.
namespace shipped_tasks {
namespace {

bool builds(const std::string& folder) {
  const auto configured = shell::run({"/usr/bin/env", "cmake", "-S", ".", "-B", "build"}, folder);
  INFO(configured.err);
  REQUIRE(configured.code == 0);
  const auto built = shell::run({"/usr/bin/env", "cmake", "--build", "build"}, folder);
  INFO(built.out << built.err);
  CHECK(built.code == 0);
  return built.code == 0;
}

}  // namespace

TEST_CASE("bundles of the shipped tasks take the time of the run's objects and are linked beside them") {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(KEVO_SOURCE_DIR "/configs/tasks"))
    names.push_back(entry.path().filename().string());
  std::size_t tried = 0;
  for (const auto& name : names) {
    CAPTURE(name);
    const auto file = KEVO_SOURCE_DIR "/configs/tasks/" + name + "/task.yaml";
    if (!std::filesystem::exists(file)) continue;
    const auto task = kevo::load_task(file);
    if (task.seeds.empty() || task.seeds.back().language != "cpp") continue;
    ++tried;
    const run_of run({task.seeds.back()}, file);
    // Refused if another time is shown.
    const auto made = kevo::export_bundle(run.record, run.task, run.folder / "bundle");
    REQUIRE(made.time_ratio);
    MESSAGE(name << ": " << made.time_ratio->value << " [" << made.time_ratio->range.low << ", "
                 << made.time_ratio->range.high << "]");

    const auto user = run.folder / "user";
    for (const auto& source : task.seeds.back().files)
      shell::write_file(user + '/' + source.path, source.text);
    shell::write_file(user + "/main.cpp",
                      "#include \"" + task.seeds.back().files.front().path + "\"\n#include <kevo_" +
                          task.name +
                          ".hpp>\nint main() {\n  return reinterpret_cast<void*>(&run) == "
                          "reinterpret_cast<void*>(&kevo_" +
                          task.name + "::run);\n}\n");
    shell::write_file(user + "/CMakeLists.txt",
                      "cmake_minimum_required(VERSION 3.18)\nproject(user LANGUAGES CXX)\n"
                      "add_subdirectory(../bundle bundle)\nadd_executable(" +
                          task.name + " main.cpp)\ntarget_compile_features(" + task.name +
                          " PRIVATE cxx_std_20)\ntarget_link_libraries(" + task.name + " PRIVATE kevo_" +
                          task.name + ")\n");
    if (builds(user)) CHECK(shell::run({user + "/build/" + task.name}, user).code == 0);
  }
  CHECK(tried >= 9);
}

}  // namespace shipped_tasks
