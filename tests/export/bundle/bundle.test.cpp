// A program in C++ as a bundle: it builds, agrees with the reference, and is found wrong if it is; what
// cannot become a bundle is refused.

#include "src/export/bundle/bundle.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "src/task/task_loader.hpp"
#include "tests/export/bundle/run_of.hpp"
#include "tests/support/shell.hpp"

using namespace kevo_test;  // NOLINT(google-build-using-namespace)

namespace {

const std::string wrong_product =
    "#include <cstdint>\nextern \"C\" void run(const float*, const float*, float* C, int64_t M, int64_t N, "
    "int64_t) "
    "{\n  for (int64_t i = 0; i < M * N; ++i) C[i] = 0;\n}\n";

shell::result in(const std::string& folder, const std::vector<std::string>& words) {
  std::vector<std::string> all = {"/usr/bin/env"};
  all.insert(all.end(), words.begin(), words.end());
  return shell::run(all, folder);
}

// The exit code of the bundle's test; -1 if it does not build.
int test_of(const std::string& folder) {
  const auto built = in(folder, {"c++", "-std=c++20", "-O1", "-Wall", "-Wextra", "-Werror", "-Iinclude",
                                 "src/matmul.cpp", "test/matmul_test.cpp", "-o", "program"});
  INFO(built.err);
  CHECK(built.code == 0);
  return built.code == 0 ? in(folder, {"./program"}).code : -1;
}

}  // namespace

TEST_CASE("a program in C++ becomes a folder that builds, and whose test knows right from wrong") {
  const run_of run({kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/matmul/task.yaml").seeds.front(),
                    kevo::single_file_program("cpp", "kernel.cpp", wrong_product)});
  const auto right = kevo::export_bundle(run.record, run.task, run.folder / "right", {.candidate = 0});
  CHECK(right.name == "matmul");
  CHECK(right.remarks.empty());
  CHECK_FALSE(right.as_measured);
  CHECK(test_of(run.folder / "right") == 0);
  kevo::export_bundle(run.record, run.task, run.folder / "wrong", {.candidate = 1});
  CHECK(test_of(run.folder / "wrong") == 1);

  const auto card = boost::json::parse(shell::read_file(run.folder / "right/card.json")).as_object();
  CHECK(card.at("speedup_high").as_double() == 2.1);
  CHECK(card.at("lineage").as_array().size() == 1);
  const auto page = shell::read_file(run.folder / "right/README.md");
  CHECK(page.find("2 times as fast as seed [1.9, 2.1]") != std::string::npos);
  CHECK(shell::read_file(run.folder / "right/CMakeLists.txt").find("\"-O2\"") != std::string::npos);
}

TEST_CASE("the options that a program in C++ chooses stand behind those of the run") {
  const auto seed = kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/matmul/task.yaml").seeds.front();
  const run_of run({kevo::single_file_program(
      "cpp", "kernel.cpp", "// kevo: build {unroll: on, optimize: 1 {1, 2}}\n" + std::string(seed.text()))});
  kevo::export_bundle(run.record, run.task, run.folder / "chosen");
  CHECK(shell::read_file(run.folder / "chosen/CMakeLists.txt").find("\"-O2 -O1 -funroll-loops\"") !=
        std::string::npos);
}

TEST_CASE("what cannot become a bundle is refused") {
  const run_of run({kevo::single_file_program("python", "model.py", "pass\n")});
  CHECK_THROWS_WITH_AS(kevo::export_bundle(run.record, run.task, run.folder / "a"),
                       doctest::Contains("not in python"), kevo::error);
  CHECK_THROWS_WITH_AS(kevo::export_bundle(run.record, run.task, run.folder / "a", {.candidate = 7}),
                       doctest::Contains("no candidate 7"), kevo::error);
  shell::write_file(run.folder / "full/file", "x");
  CHECK_THROWS_WITH_AS(kevo::export_bundle(run.record, run.task, run.folder / "full"),
                       doctest::Contains("must be empty"), kevo::error);
  CHECK_FALSE(std::filesystem::exists(run.folder / "a"));
}
