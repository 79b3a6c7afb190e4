// labels: slow
// timeout: 600
// one processor
// Problems whose tests make the inputs, as KernelBench-X and TritonBench write them, become tasks that run.
// All problems here were written for this.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>

#include <doctest/doctest.h>

#include <kevo/task_id.hpp>

#include "src/import/split_file_import.hpp"
#include "src/task/task_loader.hpp"
#include "tests/support/shell.hpp"
#include "tests/torch/corpus.hpp"

using namespace kevo;

namespace {

const std::string folder_of_problems = KEVO_SOURCE_DIR "/tests/import/tested/";

std::optional<suite_import> imported(const std::string& suite, const std::string& to,
                                     const std::string& category = {},
                                     const tested_import& how = {.seconds = 20}) {
  try {
    return suite == "x" ? import_kernelbench_x(folder_of_problems + "x/data/problems" + category, to, how)
                        : import_tritonbench(folder_of_problems + "triton", to, how);
  } catch (const error& missing) {
    if (missing.message().find("no Python with PyTorch") != 0) throw;
    kevo_test::skip(missing.message());
    return std::nullopt;
  }
}

const suite_import_task& named(const suite_import& all, const std::string& name) {
  const auto found =
      std::find_if(all.tasks.begin(), all.tasks.end(), [&](const auto& one) { return one.name == name; });
  REQUIRE_MESSAGE(found != all.tasks.end(), name);
  return *found;
}

task task_named(const suite_import& all, const std::string& name) {
  const auto& one = named(all, name);
  REQUIRE_MESSAGE(one.problem.empty(), name, ": ", one.problem);
  CHECK_FALSE(one.draft);
  CHECK_FALSE(std::filesystem::exists(one.folder + "/task.draft.yaml"));
  return load_task(one.folder + "/task.yaml");
}

bool has_note(const suite_import_task& one, const std::string& words) {
  return std::any_of(one.notes.begin(), one.notes.end(),
                     [&](const auto& note) { return note.find(words) != std::string::npos; });
}

// Programs for one task are judged one after the other: its reference is executed once.
outcome judged(const task& t, const std::string& text) {
  static std::string last;
  static std::optional<torch_fitness> fitness;
  if (const auto id = to_string(id_of(t)); id != last) {
    fitness.emplace(std::make_shared<const task>(t), torch_corpus::warm_settings());
    last = id;
  }
  const auto e = torch_corpus::evaluate(*fitness, text, evaluation_stage::checked);
  INFO(torch_corpus::said(e));
  return e.outcome;
}

}  // namespace

TEST_CASE("kernelbench-x: what a test calls becomes workloads, with options, types and constants") {
  const shell::scratch folder;
  const auto all = imported("x", folder.string());
  if (!all) return;
  CHECK(all->imported() == 9);  // drafts among them
  CHECK(all->drafts() == 2);
  CHECK_FALSE(all->suite_file.empty());

  const auto scale = task_named(*all, "scale_rows");
  CHECK(scale.reference->init.find("\"keep\"") != std::string::npos);
  CHECK(scale.inputs.front().name == "call");
  CHECK(scale.inputs.size() == 4);   // x and factor in float32, x in float16
  CHECK(scale.outputs.size() == 3);  // of one and two dimensions in float32, of one in float16
  CHECK(std::count_if(scale.workloads.begin(), scale.workloads.end(),
                      [](const auto& w) { return w.hidden; }) >= 2);
  const std::string right =
      "def scale_rows(x, factor=2.0, *, keep=False):\n    y = x * factor\n    return y if keep else "
      "y.sum(-1)\n";
  CHECK(judged(scale, "import torch\n" + right) == outcome::valid);
  CHECK(judged(scale, "def scale_rows(x, factor=2.0, *, keep=False):\n    return (x * factor).sum(-1)\n") !=
        outcome::valid);
  CHECK(named(*all, "scale_rows").accepted.empty());
  // The suite executes a solution and the test as one file.
  CHECK(judged(scale,
               "def scale_rows(x, factor=2.0, *, keep=False):\n    y = torch.mul(x, factor)\n"
               "    return y if keep else y.sum(-1)\n") == outcome::valid);

  const auto& fill = named(*all, "fill_rows");
  const auto filled = task_named(*all, "fill_rows");
  CHECK(filled.reference->init.find("written") != std::string::npos);
  CHECK(judged(filled,
               "def fill_rows(x, index, value):\n    for i in index.tolist():\n        x[i] = value\n") ==
        outcome::valid);
  CHECK(judged(filled, "def fill_rows(x, index, value):\n    pass\n") == outcome::incorrect);
  CHECK(fill.checked);

  const auto& factor = named(*all, "factor");
  CHECK(has_note(factor, "positive definite"));
  CHECK(judged(task_named(*all, "factor"),
               "import torch\ndef factor(A):\n    return torch.linalg.cholesky(A)\n") == outcome::valid);

  const auto product = task_named(*all, "product_w8");
  CHECK(tolerance_for(product, product.workloads.front(), "out").min_cosine == 0.95);
  CHECK(tolerance_for(product, product.workloads.front(), "out").rule == "finite");
  // Rounded to 8 bits as the contract intends, and not at all like the product.
  CHECK(
      judged(product,
             "import torch\ndef eight(x):\n    s = x.abs().amax() / 127\n    return torch.round(x / s) * s\n"
             "def product_w8(a, b):\n    return eight(a) @ eight(b)\n") == outcome::valid);
  CHECK(judged(product,
               "import torch\ndef product_w8(a, b):\n    return torch.ones(a.shape[0], b.shape[1])\n") ==
        outcome::incorrect);

  // A logarithm is refused numbers below 0; a spectrum is complex.
  CHECK(has_note(named(*all, "logarithm"), "positive"));
  CHECK(task_named(*all, "spectrum").outputs.front().shape.back() == "2");
  CHECK(
      judged(
          task_named(*all, "two_results"),
          "def two_results(parts):\n    x, y = parts\n    return {'sum': x + y, 'rest': (x - y, None)}\n") ==
      outcome::valid);

  CHECK(named(*all, "drops").problem.find("random numbers") != std::string::npos);
  CHECK(named(*all, "of_a_module").problem.find("is a Linear") != std::string::npos);
  CHECK(std::filesystem::exists(named(*all, "drops").folder + "/task.draft.yaml"));
}

TEST_CASE("kernelbench-x: without other sizes, a task has those of its test alone") {
  const shell::scratch folder;
  const auto all = imported("x", folder.string(), "/Quantization",
                            {.given_size_only = true, .check = false, .seconds = 20});
  if (!all) return;
  CHECK(task_named(*all, "product_w8").workloads.size() == 1);
  CHECK_FALSE(has_note(named(*all, "product_w8"), "no size but those of the test"));
}

TEST_CASE("tritonbench: a reference in Triton is executed by the interpreter") {
  const shell::scratch folder;
  const auto all = imported("triton", folder.string());
  if (!all) return;
  for (const auto& one : all->tasks) {
    if (one.problem.find("No module named 'triton'") == std::string::npos) continue;
    kevo_test::skip(one.problem);
    return;
  }
  const auto add = task_named(*all, "add_kernel_wrapper");
  CHECK(add.reference->entry == "add");
  CHECK(judged(add, "def add(x, y, block=64):\n    return x + y\n") == outcome::valid);
  CHECK(judged(add, "def add(x, y, block=64):\n    return x - y\n") == outcome::incorrect);
  // An autograd function, called by its method.
  const auto twice = task_named(*all, "twice");
  CHECK(twice.reference->entry == "Twice.apply");
  CHECK(judged(twice, "def run(x):\n    return 2 * x\n") == outcome::valid);
  // A name for such a method.
  const auto thrice = task_named(*all, "thrice");
  CHECK(thrice.reference->entry == "times_three");
  CHECK(judged(thrice, "def times_three(x):\n    return 3 * x\n") == outcome::valid);
  // A number as a kernel's argument, a function of CUDA's library, and tensors as torch.compile's output
  // makes them.
  const auto power = task_named(*all, "power_of_rows");
  CHECK(judged(power,
               "import torch\ndef power_of_rows(x, exponent):\n    return torch.tanh(x ** exponent)\n") ==
        outcome::valid);
  CHECK(judged(power, "def power_of_rows(x, exponent):\n    return x ** exponent\n") == outcome::incorrect);
  // Products of 16-bit numbers, which NumPy computes, and a constant whose annotation is in quotes.
  const auto product = task_named(*all, "product_of_halves");
  CHECK(judged(product, "def product_of_halves(a, b):\n    return (a.float() @ b.float()).half()\n") ==
        outcome::valid);
  CHECK(judged(product, "def product_of_halves(a, b):\n    return a.half()\n") == outcome::incorrect);
  // One call of this test writes far beyond its tensors, which would end the process; the other one remains.
  const auto& far = named(*all, "shifted_copy");
  CHECK_MESSAGE(has_note(far, "writes to memory outside of its tensors"), far.problem);
  CHECK(task_named(*all, "shifted_copy").workloads.size() >= 1);
  CHECK(named(*all, "sums_beyond").problem.find("reads beyond its inputs") != std::string::npos);
  CHECK(named(*all, "sums_beyond").problem.find("random numbers") == std::string::npos);
  // What a kernel leaves unwritten is zero in the task.
  CHECK(has_note(named(*all, "left_columns"), "does not write all of its result"));
  const auto left = task_named(*all, "left_columns");
  CHECK(judged(left,
               "import torch\ndef left_columns(x):\n    y = torch.zeros_like(x)\n"
               "    n = (x.shape[1] + 1) // 2\n    y[:, :n] = 2 * x[:, :n]\n    return y\n") ==
        outcome::valid);
  CHECK(judged(left, "def left_columns(x):\n    return 2 * x\n") == outcome::incorrect);
  CHECK(named(*all, "draws_by_offset").problem.find("random numbers") != std::string::npos);
  CHECK(named(*all, "roots_of_negatives").problem.find("with the inputs of its test, too") !=
        std::string::npos);
  // A function that fails in float64 is compared in float32.
  CHECK(judged(task_named(*all, "in_float32_only"), "def in_float32_only(x):\n    return x / 2\n") ==
        outcome::valid);
  // A kernel and a module that the test uses itself: functions are added that do.
  const auto alone = task_named(*all, "kernel_alone");
  CHECK(alone.reference->entry == "launch_copy_kernel");
  CHECK(judged(alone, "def launch_copy_kernel(grid, x, y, BLOCK):\n    y.copy_(x)\n") == outcome::valid);
  CHECK(judged(alone, "def launch_copy_kernel(grid, x, y, BLOCK):\n    y.copy_(x + 1)\n") ==
        outcome::incorrect);
  const auto scaled = task_named(*all, "scaled_rows");
  CHECK(scaled.reference->entry == "call_ScaledRows");
  CHECK(judged(scaled, "def call_ScaledRows(made_of, options, x):\n    return x * made_of[0]\n") ==
        outcome::valid);
  CHECK(judged(scaled, "def call_ScaledRows(made_of, options, x):\n    return x\n") == outcome::incorrect);
  // A table of integers that the function fills is a result, although its contents are constants; a grid is a
  // list.
  const auto table = task_named(*all, "fills_table");
  CHECK(table.outputs.size() == 2);
  const std::string scales =
      "def fills_table(x, table, scales):\n"
      "    scales.copy_(x.abs().amax(1) / 100 + 1e-6)\n";
  CHECK(judged(table, scales + "    table.copy_(100 + 100 * (x > 0))\n") == outcome::valid);
  CHECK(judged(table, scales) == outcome::incorrect);
  // Of two functions that a test calls, the one that starts a kernel; it also returns nothing as a result.
  const auto prepared = task_named(*all, "prepared_product");
  CHECK(prepared.reference->entry == "with_scale");
  CHECK(judged(prepared, "def with_scale(x, scale):\n    return x * scale[:, None], None\n") ==
        outcome::valid);
  CHECK(judged(prepared, "def with_scale(x, scale):\n    return x, None\n") == outcome::incorrect);
  // Indices stay in range with sizes that the test does not have, although the kernel would take others.
  CHECK(judged(task_named(*all, "picked_columns"),
               "def picked_columns(x, index):\n    return x.gather(1, index[:, None])[:, 0]\n") ==
        outcome::valid);
  // "and" and "or" of blocks.
  const auto masks = task_named(*all, "two_masks");
  const std::string both =
      "import torch\ndef two_masks(x, keep):\n"
      "    i = torch.arange(x.numel())\n";
  CHECK(judged(masks, both + "    return torch.where(i % 5 == 4, -x, x * (keep > 0))\n") == outcome::valid);
  CHECK(judged(masks, both + "    return torch.where(i % 5 == 4, -x, x)\n") == outcome::incorrect);
  // With some sizes, the function would write to its input: these are not taken.
  CHECK(judged(task_named(*all, "doubled_transpose"),
               "def doubled_transpose(x):\n    return 2 * x.t().reshape(-1)\n") == outcome::valid);
  // What is written to an argument depends on memory beyond the inputs.
  CHECK(named(*all, "gathers_beyond").problem.find("reads beyond its inputs") != std::string::npos);
  // The test defines the function once more, and the reference imports what Triton has no more.
  const auto again = task_named(*all, "defined_again");
  CHECK(has_note(named(*all, "defined_again"), "not quite that of the suite"));
  CHECK(judged(again, "def defined_again(x):\n    return 3 * x\n") == outcome::valid);
}

TEST_CASE("tritonbench: a kernel whose programs wait for each other ends, and the import says so") {
  const shell::scratch folder;
  try {
    const auto all = import_tritonbench(folder_of_problems + "waiting", folder.string(), {.seconds = 4});
    const auto& one = named(all, "released");
    if (one.problem.find("No module named 'triton'") != std::string::npos) return;
    CHECK_FALSE(one.checked);
    CHECK_MESSAGE((one.untested.find("takes more than") != std::string::npos ||
                   one.problem.find("takes more than") != std::string::npos),
                  one.problem);
    // What it has written to until then are the outputs of a task that is not tested.
    const auto filled = task_named(all, "fills_then_waits");
    CHECK(filled.outputs.size() == 1);
    CHECK(named(all, "fills_then_waits").untested.find("takes more than") != std::string::npos);
  } catch (const error& missing) {
    if (missing.message().find("no Python with PyTorch") != 0) throw;
    kevo_test::skip(missing.message());
  }
}

TEST_CASE("tritonbench: where the controls take too long with all workloads, some are tested") {
  const shell::scratch folder;
  try {
    const auto all = import_tritonbench(folder_of_problems + "slow", folder.string(), {.seconds = 4});
    REQUIRE(all.tasks.size() == 2);
    const auto& one = named(all, "sum_of_columns");
    if (one.problem.find("No module named 'triton'") != std::string::npos) return;
    CHECK_MESSAGE(one.checked, one.problem, one.untested);
    CHECK(one.accepted.empty());
    CHECK(has_note(one, "was tested with"));
    CHECK(one.seconds < 80);
    // The large workload is in the task all the same.
    const auto sum = task_named(all, "sum_of_columns");
    CHECK(std::any_of(sum.workloads.begin(), sum.workloads.end(), [](const auto& w) {
      return std::any_of(w.axes.begin(), w.axes.end(), [](const auto& axis) { return axis.second == 2400; });
    }));
    // A call that takes too long: a smaller one is tested, and the large one is in the task.
    const auto& many = named(all, "many_programs");
    CHECK_MESSAGE(many.checked, many.problem, many.untested);
    CHECK(has_note(many, "has smaller ones"));
    CHECK(many.accepted.empty());
    const auto rows = task_named(all, "many_programs");
    REQUIRE(rows.workloads.size() == 2);
    CHECK(rows.workloads.front().axes.begin()->second == 32768);
    CHECK(rows.workloads.back().axes.begin()->second < 32768);
    CHECK(rows.workloads.back().hidden);
  } catch (const error& missing) {
    if (missing.message().find("no Python with PyTorch") != 0) throw;
    kevo_test::skip(missing.message());
  }
}
