// labels: slow
// timeout: 300
// one processor
// The shipped Triton tasks as functions of PyTorch (torch.yaml beside each task.yaml): PyTorch's own
// operation is valid, and so is the bundle of a Triton program. On the CPU, with small sizes in the place of
// those that are timed.
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/export/bundle/bundle.hpp"
#include "tests/export/bundle/run_of.hpp"
#include "tests/support/has_pytorch.hpp"
#include "tests/support/shell.hpp"

using namespace kevo_test;  // NOLINT(google-build-using-namespace)

namespace {

struct small_task {
  std::string name;
  std::string timed, small;  // axes of the workload that is timed
};

const std::vector<small_task> all = {
    {"triton_softmax", "{M: 16384, N: 8192}", "{M: 32, N: 256}"},
    {"triton_rmsnorm", "{M: 16384, N: 8192}", "{M: 32, N: 256}"},
    {"triton_attention", "{heads: 16, S: 4096}", "{heads: 2, S: 128}"},
    {"triton_grouped_conv", "{N: 32, H: 56, W: 56, G: 16}", "{N: 1, H: 12, W: 12, G: 2}"},
    {"triton_matmul_bf16", "{M: 4096, N: 4096, K: 4096}", "{M: 128, N: 96, K: 64}"},
    {"triton_matmul_int8", "{M: 4096, N: 4096, K: 4096}", "{M: 128, N: 96, K: 64}"}};

// The path of a copy with the small workload.
std::string small_copy(const shell::scratch& folder, const small_task& which) {
  const auto copy = folder / which.name;
  std::filesystem::copy(KEVO_SOURCE_DIR "/configs/tasks/" + which.name, copy);
  auto text = shell::read_file(copy / "torch.yaml");
  const auto at = text.find(which.timed);
  REQUIRE(at != std::string::npos);
  shell::write_file(copy / "torch.yaml", text.replace(at, which.timed.size(), which.small));
  return (copy / "torch.yaml").string();
}

// Evaluates on the CPU; "" if the program is valid.
std::string fault_of(const std::string& task, const std::string& program, const std::string& folder) {
  const auto done =
      shell::run(shell::kevo({"eval", task, program, "--json", "--set", "fitness.timing.short=0.02", "--set",
                              "fitness.timing.full=0.02", "--set", "fitness.timing.sustained=0.02"}),
                 folder);
  return done.code == 0 && done.out.find("\"outcome\":\"valid\"") != std::string::npos ? ""
                                                                                       : done.out + done.err;
}

}  // namespace

TEST_CASE("PyTorch's own operation is valid for the problem of each Triton task") {
  if (!has_pytorch()) return;
  const shell::scratch folder;
  for (const auto& one : all) {
    const auto task = small_copy(folder, one);
    CHECK_MESSAGE(fault_of(task, (folder / (one.name + "/eager.py")).string(), folder.string()) == "",
                  one.name);
  }
}

TEST_CASE("the bundle of a Triton program is a program of PyTorch for the same problem") {
  if (!has_pytorch()) return;
  const shell::scratch folder;
  const auto task = small_copy(folder, all.front());
  const std::string file = KEVO_SOURCE_DIR "/configs/tasks/triton_softmax/task.yaml";
  const run_of run({kevo::load_task(file).seeds.front()}, file);
  kevo::export_bundle(run.record, run.task, (folder / "bundle").string(), {.candidate = 0});
  const auto program = (folder / "bundle/triton_softmax.py").string();
  CHECK(fault_of(task, program, folder.string()) == "");
  // A wrong one is not.
  auto text = shell::read_file(program);
  const std::string quotient = "e / tl.sum(e, 0)";
  const auto at = text.find(quotient);
  REQUIRE(at != std::string::npos);
  shell::write_file(folder / "wrong.py", text.replace(at, quotient.size(), "e / tl.max(e, 0)"));
  CHECK(fault_of(task, (folder / "wrong.py").string(), folder.string()).find("\"outcome\":\"incorrect\"") !=
        std::string::npos);
}
