// one processor
// timeout: 600
// A program of PyTorch as a bundle: one file of Python, which is timed against the program of the run.

#include <string>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/torch/python_server.hpp"
#include "src/export/bundle/bundle.hpp"
#include "tests/export/bundle/run_of.hpp"
#include "tests/support/has_pytorch.hpp"
#include "tests/support/shell.hpp"

using namespace kevo_test;  // NOLINT(google-build-using-namespace)

namespace {

const std::string layer_task = KEVO_SOURCE_DIR "/tests/torch/tasks/layer.yaml";

kevo::program layer_program() {
  auto text = shell::read_file(KEVO_SOURCE_DIR "/tests/torch/tasks/layer.py");
  return kevo::single_file_program("python", "kernel.py", text);
}

}  // namespace

TEST_CASE("a program of PyTorch as a bundle is one file, which takes the time of the run's program") {
  if (!has_pytorch()) return;
  const run_of run({layer_program()}, layer_task);
  const auto made =
      kevo::export_bundle(run.record, run.task, run.folder / "bundle",
                          {.sandbox = kevo::sandbox_mode::best, .timing = kevo::bundle_timing::told});
  CHECK(made.name == "kevo_layer");
  REQUIRE(made.time_ratio);
  // The same program: other work on the machine widens the interval, and moves it by little.
  CHECK(made.time_ratio->range.low < 1.1);
  CHECK(made.time_ratio->range.high > 0.9);
  const auto readme = shell::read_file(run.folder / "bundle/README.md");
  CHECK(readme.find("from kevo_layer import kevo_layer") != std::string::npos);
  CHECK(readme.find("of the time of the program that the run measured") != std::string::npos);
  const auto tools = kevo::torch::find_torch({}, false);
  const auto used = shell::run(
      {"/usr/bin/env", "PYTHONDONTWRITEBYTECODE=1", "PYTHONPATH=" + tools.packages, tools.python, "-c",
       "import torch\nfrom kevo_layer import kevo_layer\n"
       "print(tuple(kevo_layer(128, outputs=96)(torch.zeros(5, 128)).shape))"},
      run.folder / "bundle");
  CHECK(used.out.find("(5, 96)") != std::string::npos);
}

TEST_CASE("a bundle of PyTorch takes no name that the program uses, and one file") {
  const run_of run({layer_program(), {"python", {{"a.py", "x = 1\n"}, {"b.py", "y = 1\n"}}}}, layer_task);
  const auto off = kevo::bundle_timing::off;
  CHECK_THROWS_AS(kevo::export_bundle(run.record, run.task, run.folder / "named",
                                      {.candidate = 0, .name = "Model", .timing = off}),
                  kevo::error);
  CHECK_THROWS_AS(
      kevo::export_bundle(run.record, run.task, run.folder / "two", {.candidate = 1, .timing = off}),
      kevo::error);
  kevo::export_bundle(run.record, run.task, run.folder / "plain", {.candidate = 0, .timing = off});
  const auto text = shell::read_file(run.folder / "plain/kevo_layer.py");
  CHECK(text.starts_with(shell::read_file(KEVO_SOURCE_DIR "/tests/torch/tasks/layer.py")));
}
