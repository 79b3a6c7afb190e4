// labels: slow
// one processor
// The exit code of `kevo task check`.

#include <cstddef>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "tests/support/shell.hpp"

namespace json = boost::json;

TEST_CASE("a task that tells right from wrong exits with 0, one that does not with 2") {
  const shell::scratch folder;
  const auto kevo = [&](std::vector<std::string> words) {
    return shell::run(shell::kevo(std::move(words)), folder.string());
  };
  REQUIRE(kevo({"init", "own"}).code == 0);
  const auto sound = kevo({"task", "check", "own/task.yaml", "--json"});
  CHECK_MESSAGE(sound.code == 0, sound.out);
  CHECK(json::parse(sound.out).at("ok").as_bool());
  const auto sources = json::parse(sound.out).at("source_mutants").as_object();
  if (sources.at("not_made").is_null()) {  // this kevo has a parser
    const auto count = [&](const char* key) { return sources.at(key).to_number<std::size_t>(); };
    CHECK(count("made") > 0);
    CHECK(count("made") <= 40);
    CHECK(count("made") == count("not_built") + count("caught") + count("equivalent") +
                               sources.at("surviving").as_array().size());
    CHECK(2 * count("caught") > count("made"));
  }
  const auto without = kevo({"task", "check", "own/task.yaml", "--mutants", "0"});
  CHECK_MESSAGE(without.out.find("no mutants of the seeds were tried: --mutants 0") != std::string::npos,
                without.out);

  std::string task = shell::read_file(folder / "own/task.yaml");
  const std::string tolerance = "max_atol: 1.0e-6";
  task.replace(task.find(tolerance), tolerance.size(), "max_atol: 1.0e+6");
  shell::write_file(folder / "own/wide.yaml", task);
  const auto wide = kevo({"task", "check", "own/wide.yaml", "--json"});
  CHECK(wide.code == 2);
  CHECK(!json::parse(wide.out).at("ok").as_bool());
  CHECK(json::parse(wide.out).at("source_mutants").is_null());
}

TEST_CASE("a task whose reference is neither in C++ nor in Python is told which command tests it") {
  const std::string path = KEVO_SOURCE_DIR "/configs/tasks/cuda_softmax/task.yaml";
  const auto ended = shell::run(shell::kevo({"task", "check", path}), ".");
  CHECK(ended.code != 0);
  CHECK_MESSAGE(
      ended.err.find("runs references in C++ and Python, and this one is in cuda") != std::string::npos,
      ended.err);
  CHECK_MESSAGE(ended.err.find("kevo attack " + path) != std::string::npos, ended.err);
}

TEST_CASE("a task whose programs need flags is checked with those of its config") {
  const shell::scratch folder;
  const auto kevo = [&](std::vector<std::string> words) {
    return shell::run(shell::kevo(std::move(words)), folder.string());
  };
  REQUIRE(kevo({"init", "own", "--template", "openmp"}).code == 0);
  const std::string seed = shell::read_file(folder / "own/seed.cpp");
  shell::write_file(
      folder / "own/seed.cpp",
      seed +
          "\n#include <omp.h>\nextern \"C\" int threads_now() { return omp_get_max_threads(); }\n"
          "const int at_start = threads_now();\n");
  const auto without = kevo({"task", "check", "own/task.yaml"});
  CHECK(without.code == 2);
  CHECK_MESSAGE(without.out.find("a baseline cannot be loaded. If it needs flags") != std::string::npos,
                without.out);
  const auto with = kevo({"task", "check", "own/task.yaml", "--config", "own/config.yaml"});
  CHECK_MESSAGE(with.code == 0, with.out, with.err);
  const auto misspelt = kevo({"task", "check", "own/task.yaml", "--set", "fitness.flgas=[-O2]"});
  CHECK(misspelt.code == 2);
  CHECK_MESSAGE(misspelt.err.find("flgas") != std::string::npos, misspelt.err);
}
