// one processor
// A program in C++ as a bundle: it builds, agrees with the reference, and is found wrong if it is; it is as
// fast as the run says, or refused; and it is linked beside other code with the same names.

#include "src/export/bundle/bundle.hpp"

#include <filesystem>
#include <string>

#include <boost/json.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/machine/cores.hpp"
#include "src/task/task_loader.hpp"
#include "tests/export/bundle/run_of.hpp"
#include "tests/support/shell.hpp"

using namespace kevo_test;  // NOLINT(google-build-using-namespace)

// Names of its own, because the tests of a folder are compiled together.
namespace bundles_of_cpp {
namespace {

const std::string task_file = KEVO_SOURCE_DIR "/tests/export/bundle/polynomial/task.yaml";

kevo::program kernel_of(const std::string& text) {
  return kevo::single_file_program("cpp", "kernel.cpp", "#include <cstdint>\n" + text);
}

const std::string wrong_values =
    "extern \"C\" void run(const float*, float* y, int64_t N) {\n"
    "  for (int64_t i = 0; i < N; ++i) y[i] = 0;\n}\n";

// Knows by a file beside it that it is in a bundle, and works twice there.
const std::string slower_outside =
    "extern \"C\" void run(const float* x, float* y, int64_t N) {\n"
    "#if __has_include(\"../include/kevo_polynomial.hpp\")\n  const int times = 2;\n#else\n  const int times "
    "= 1;\n"
    "#endif\n  for (int again = 0; again < times; ++again)\n    for (int64_t i = 0; i < N; ++i) {\n"
    "      volatile float* to = y + i;\n      float value = 0;\n"
    "      for (int k = 0; k < 40; ++k) value = value * x[i] + 1;\n      *to = value;\n    }\n}\n";

// Names that other files have, too, in all the ways in which the linker sees them.
const std::string common_names =
    "#include <string>\n#include <vector>\n"
    "int calls = 0;\nstd::vector<float> scratch;\nthread_local std::string words;\n"
    "inline int& counter() {\n  static int n = 0;\n  return n;\n}\n"
    "struct helper {\n  virtual ~helper() = default;\n  virtual float one() { return 1; }\n};\n"
    "float polynomial(float x, helper& h) {\n  float value = 0;\n"
    "  for (int k = 0; k < 40; ++k) value = value * x + h.one();\n  return value;\n}\n"
    "extern \"C\" void run(const float* x, float* y, int64_t N) {\n"
    "  helper h;\n  ++calls;\n  ++counter();\n  scratch.resize(8);\n  words = \"x\";\n"
    "  for (int64_t i = 0; i < N; ++i) y[i] = polynomial(x[i], h);\n}\n";

const std::string user_of_both =
    "#include \"original.cpp\"\n#include <kevo_polynomial.hpp>\n"
    "int main() {\n  const float x = 1;\n  float mine = 0, theirs = 0;\n"
    "  run(&x, &mine, 1);\n  kevo_polynomial::run(&x, &theirs, 1);\n"
    "  return mine == 40 && theirs == 40 && calls == 1 && counter() == 1 ? 0 : 1;\n}\n";

shell::result in(const std::string& folder, const std::vector<std::string>& words) {
  std::vector<std::string> all = {"/usr/bin/env"};
  all.insert(all.end(), words.begin(), words.end());
  return shell::run(all, folder);
}

void build(const std::string& folder, const std::vector<std::string>& more = {}) {
  std::vector<std::string> words = {"cmake", "-S",    ".",
                                    "-B",    "build", "-DCMAKE_CXX_FLAGS=-Wall -Wextra -Werror"};
  words.insert(words.end(), more.begin(), more.end());
  const auto configured = in(folder, words);
  REQUIRE_MESSAGE(configured.code == 0, configured.err);
  const auto built = in(folder, {"cmake", "--build", "build"});
  REQUIRE_MESSAGE(built.code == 0, built.out, built.err);
}

kevo::bundle_options untimed(kevo::candidate_id id) {
  return {.candidate = id, .timing = kevo::bundle_timing::off};
}

kevo::program seed() {
  return kevo::load_task(task_file).seeds.front();
}

}  // namespace

TEST_CASE("a program in C++ becomes a folder that builds, and whose test knows right from wrong") {
  const run_of run({seed(), kernel_of(wrong_values)}, task_file);
  const auto right = kevo::export_bundle(run.record, run.task, run.folder / "right", untimed(0));
  CHECK(right.name == "kevo_polynomial");
  CHECK(right.remarks.empty());
  CHECK_FALSE(right.as_measured);
  CHECK_FALSE(right.time_ratio);
  build(run.folder / "right");
  CHECK(in(run.folder / "right", {"build/kevo_polynomial_test"}).code == 0);
  kevo::export_bundle(run.record, run.task, run.folder / "wrong", untimed(1));
  build(run.folder / "wrong");
  CHECK(in(run.folder / "wrong", {"build/kevo_polynomial_test"}).code == 1);
  CHECK_THROWS_WITH_AS(kevo::export_bundle(run.record, run.task, run.folder / "timed", {.candidate = 1}),
                       doctest::Contains("fails on workload"), kevo::error);

  const auto card = boost::json::parse(shell::read_file(run.folder / "right/card.json")).as_object();
  CHECK(card.at("speedup_high").as_double() == 2.1);
  CHECK(card.at("lineage").as_array().size() == 1);
  CHECK(card.at("time_ratio").is_null());
  const auto page = shell::read_file(run.folder / "right/README.md");
  CHECK(page.find("2 times as fast as seed [1.9, 2.1]") != std::string::npos);
  CHECK(shell::read_file(run.folder / "right/CMakeLists.txt")
            .find("\"-std=gnu++20 -O2 -Wno-builtin-macro-redefined") != std::string::npos);
}

TEST_CASE("the test of the speed passes, fails or is skipped by what the run says") {
  const run_of other({seed()}, task_file);
  kevo::export_bundle(other.record, other.task, other.folder / "bundle", untimed(0));
  build(other.folder / "bundle");
  const auto skipped = in(other.folder / "bundle", {"build/kevo_polynomial_test", "--speed"});
  CHECK(skipped.code == 77);
  CHECK(skipped.out.find("the run measured on some processor") != std::string::npos);

  const auto code_of = [](double speedup) {
    const run_of run({seed()}, task_file, {speedup, {0.9 * speedup, 1.1 * speedup}, kevo::device_name()});
    kevo::export_bundle(run.record, run.task, run.folder / "bundle", untimed(0));
    build(run.folder / "bundle");
    return in(run.folder / "bundle", {"build/kevo_polynomial_test", "--speed"}).code;
  };
  CHECK(code_of(1) == 0);  // the program is the baseline
  CHECK(code_of(2) == 1);
}

TEST_CASE("a bundle is timed against the run's object, and refused if it is slower") {
  const run_of run({seed(), kernel_of(slower_outside)}, task_file);
  const auto equal = kevo::export_bundle(run.record, run.task, run.folder / "equal",
                                         {.candidate = 0, .timing = kevo::bundle_timing::told});
  REQUIRE(equal.time_ratio);
  CHECK(equal.time_ratio->value > 0.8);
  CHECK(equal.time_ratio->value < 1.25);
  CHECK(shell::read_file(run.folder / "equal/README.md").find("Built as a user builds it") !=
        std::string::npos);
  CHECK_THROWS_WITH_AS(kevo::export_bundle(run.record, run.task, run.folder / "slower", {.candidate = 1}),
                       doctest::Contains("it should be within [0.97, 1.03]"), kevo::error);
  CHECK_FALSE(std::filesystem::exists(run.folder / "slower"));
}

TEST_CASE("a bundle is linked beside code with the same names") {
  const run_of run({kernel_of(common_names)}, task_file);
  kevo::export_bundle(run.record, run.task, run.folder / "bundle", untimed(0));
  const auto folder = run.folder / "user";
  shell::write_file(folder + "/original.cpp", std::string(kernel_of(common_names).text()));
  shell::write_file(folder + "/main.cpp", user_of_both);
  shell::write_file(folder + "/CMakeLists.txt",
                    "cmake_minimum_required(VERSION 3.18)\nproject(user LANGUAGES CXX)\n"
                    "add_subdirectory(../bundle bundle)\nadd_executable(polynomial main.cpp)\n"
                    "target_link_libraries(polynomial PRIVATE kevo_polynomial)\n"
                    "target_compile_features(polynomial PRIVATE cxx_std_20)\n");
  build(folder);
  CHECK(in(folder, {"build/polynomial"}).code == 0);
}

TEST_CASE("without objcopy a bundle still builds") {
  const run_of run({seed()}, task_file);
  kevo::export_bundle(run.record, run.task, run.folder / "bundle", untimed(0));
  build(run.folder / "bundle", {"-DCMAKE_OBJCOPY="});
  CHECK(in(run.folder / "bundle", {"build/kevo_polynomial_test"}).code == 0);
}

TEST_CASE("the options that a program in C++ chooses stand behind those of the run") {
  const run_of run({kevo::single_file_program(
                       "cpp", "kernel.cpp",
                       "// kevo: build {unroll: on, optimize: 1 {1, 2}}\n" + std::string(seed().text()))},
                   task_file);
  kevo::export_bundle(run.record, run.task, run.folder / "chosen", untimed(0));
  const auto text = shell::read_file(run.folder / "chosen/CMakeLists.txt");
  CHECK(text.find("\"-std=gnu++20 -O2 -Wno-builtin-macro-redefined") != std::string::npos);
  CHECK(text.find("\"kernel.cpp\" 0 \"-O1;-funroll-loops\"") != std::string::npos);
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

}  // namespace bundles_of_cpp
