// labels: slow
// timeout: 300
// one processor
// Files in KernelBench's format become tasks: what may vary, what was guessed, which tolerance tells right
// from wrong.
#include "src/import/kernelbench.hpp"

#include <algorithm>
#include <optional>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "src/task/task_loader.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

namespace {

std::optional<std::vector<kevo::imported_task>> imported(const kevo::kernelbench_import& what) {
  try {
    return kevo::import_kernelbench(what);
  } catch (const kevo::error& missing) {
    if (missing.message().find("no Python with PyTorch") != 0) throw;
    kevo_test::skip(missing.message());
    return std::nullopt;
  }
}

const kevo::imported_task& named(const std::vector<kevo::imported_task>& all, const std::string& name) {
  const auto found = std::find_if(all.begin(), all.end(), [&](const auto& one) { return one.name == name; });
  REQUIRE_MESSAGE(found != all.end(), name);
  return *found;
}

}  // namespace

TEST_CASE("a folder of KernelBench becomes tasks that load") {
  const shell::scratch folder;
  const auto all =
      imported({.from = KEVO_SOURCE_DIR "/tests/import/kernelbench", .to = folder.string(), .seconds = 30});
  if (!all) return;
  REQUIRE(all->size() == 11);

  const auto& matmul = named(*all, "level1_1_matmul");
  REQUIRE_MESSAGE(matmul.problem.empty(), matmul.problem);
  CHECK(matmul.varies.size() == 3);
  CHECK(matmul.guessed.empty());
  const auto t = kevo::load_task(matmul.file);
  CHECK(t.reference->entry == "Model");
  CHECK(t.tags == std::vector<std::string>{"problem:1_Matmul.py"});
  CHECK(t.baselines.front().name == "eager");
  CHECK(t.inputs[0].shape[1] == t.inputs[1].shape[0]);
  CHECK(t.outputs[0].shape == std::vector<std::string>{t.inputs[0].shape[0], t.inputs[1].shape[1]});
  CHECK(std::count_if(t.workloads.begin(), t.workloads.end(), [](const auto& w) { return w.hidden; }) == 3);

  const auto& softmax = named(*all, "level1_2_softmax");
  CHECK(softmax.given_tolerance == 1e-4);
  CHECK_MESSAGE(softmax.tolerance < 1e-4, "the tolerance was not tightened");
  CHECK(softmax.accepted.empty());

  const auto& conv = named(*all, "level1_3_conv");
  REQUIRE_MESSAGE(conv.problem.empty(), conv.problem);
  CHECK(conv.made == std::vector<std::string>{"x"});
  CHECK(conv.guessed.empty());
  const auto c = kevo::load_task(conv.file);
  CHECK(c.reference->init.find("stride") != std::string::npos);
  CHECK(c.outputs[0].shape[2] == "(n1 - 3) / 2 + 1");
  CHECK(c.inputs[1].scalar);

  // Taken apart into its steps, a recurrent layer would take longer than there is time for.
  const auto& recurrence = named(*all, "level1_7_long_recurrence");
  REQUIRE_MESSAGE(recurrence.problem.empty(), recurrence.problem);
  CHECK(recurrence.checked);
  CHECK(recurrence.seconds < 30);
  CHECK(recurrence.varies.size() == 2);
  const auto r = kevo::load_task(recurrence.file);
  const auto& x = r.inputs[0].shape;
  CHECK(r.outputs[0].shape == std::vector<std::string>{x[0], x[1], "16"});
  CHECK(r.outputs[1].shape == std::vector<std::string>{"1", x[1], "16"});

  // Near 0 its sums have larger rounding errors than KernelBench accepts; a lower precision has larger ones
  // still.
  const auto& sums = named(*all, "level1_5_long_sums");
  REQUIRE_MESSAGE(sums.problem.empty(), sums.problem);
  CHECK(sums.tolerance == 1e-4);
  CHECK(sums.tolerance * sums.widened ==
        doctest::Approx(0.0079).epsilon(0.1));  // 4 * 2^-24 * 32768, rounded up
  CHECK(sums.accepted.empty());
  CHECK(kevo::load_task(sums.file).tolerances.at("").max_atol == doctest::Approx(0.0079).epsilon(0.1));
  CHECK(matmul.widened == 1);

  // 2 GiB of inputs and 9 TFLOP: shapes are found without, the tolerance at small sizes.
  const auto& triangular = named(*all, "level1_6_triangular");
  REQUIRE_MESSAGE(triangular.problem.empty(), triangular.problem);
  CHECK(triangular.made == std::vector<std::string>{"A"});
  CHECK(triangular.lost.empty());
  CHECK(triangular.checked);
  CHECK_MESSAGE(triangular.tested_with.find("n0 = ") == 0, triangular.tested_with);
  CHECK(triangular.varies.size() == 1);  // the file has one number for all extents
  const auto large = kevo::load_task(triangular.file);
  CHECK(large.workloads.front().axes.at("n0") == 16384);
  const auto of_product = [](const kevo::workload& w) {
    const auto n = w.axes.at("n0");
    return 3 * n * n;
  };
  for (const auto& w : large.workloads)  // several sets of its data must fit on a device
    CHECK((!w.hidden || 2 * of_product(w) <= of_product(large.workloads.front())));
  CHECK(triangular.widened > 1);  // the sums are longer than those of the test

  // The file itself makes inputs that are more than drawn numbers, at other sizes too.
  const auto& targets = named(*all, "level1_11_targets");
  REQUIRE_MESSAGE(targets.problem.empty(), targets.problem);
  CHECK(targets.made == std::vector<std::string>{"predictions", "targets"});
  CHECK(targets.checked);
  CHECK(targets.varies.size() == 2);
  const auto own = kevo::load_task(targets.file);
  for (const auto& w : own.workloads) CHECK(w.inputs.at("targets").kind == "custom");
  CHECK(own.inputs[0].shape[0] == own.inputs[1].shape[0]);

  // At the size that is tried first, its rounding errors are larger than at any other.
  const auto& few_rows = named(*all, "level1_8_few_rows");
  REQUIRE_MESSAGE(few_rows.problem.empty(), few_rows.problem);
  CHECK(few_rows.checked);
  CHECK_MESSAGE(few_rows.tested_with.find("n0 = 2048:") == 0, few_rows.tested_with);
  CHECK(few_rows.untested.empty());

  // Hidden workloads have other numbers of rows, and not much more elements.
  const auto& long_row = named(*all, "level1_10_longrow");
  REQUIRE_MESSAGE(long_row.problem.empty(), long_row.problem);
  CHECK(long_row.varies.size() == 2);
  const auto rows = kevo::load_task(long_row.file);
  REQUIRE(rows.workloads.size() > 2);
  const auto elements = [](const kevo::workload& w) { return w.axes.at("n0") * w.axes.at("n1"); };
  for (const auto& w : rows.workloads) {
    CHECK(2 * elements(w) <= 3 * elements(rows.workloads.front()));
    CHECK((!w.hidden || w.axes.at("n0") > 1));
  }

  // No tolerance tells right from wrong here: it stays as it is, and the import names what it accepts.
  const auto& rounding = named(*all, "level1_9_rounding_alone");
  REQUIRE_MESSAGE(rounding.problem.empty(), rounding.problem);
  CHECK(rounding.tolerance == 1e-4);
  CHECK(std::count(rounding.accepted.begin(), rounding.accepted.end(), "zeros") == 1);

  const auto& dropout = named(*all, "level1_4_dropout");
  CHECK(dropout.file.empty());
  CHECK_MESSAGE(dropout.problem.find("random") != std::string::npos, dropout.problem);
}

TEST_CASE("where the time ends early, the import says so and the batch may still vary") {
  const shell::scratch folder;
  const auto all = imported({.from = KEVO_SOURCE_DIR "/tests/import/kernelbench/level1/1_Matmul.py",
                             .to = folder.string(),
                             .check = false,
                             .seconds = 1e-6});
  if (!all) return;
  REQUIRE_MESSAGE(all->front().problem.empty(), all->front().problem);
  CHECK(all->front().late);
  CHECK_FALSE(kevo::load_task(all->front().file).workloads.empty());
}

TEST_CASE("without other sizes, a task has the workload of its file alone") {
  const shell::scratch folder;
  const auto all = imported({.from = KEVO_SOURCE_DIR "/tests/import/kernelbench/level1/1_Matmul.py",
                             .to = folder.string(),
                             .check = false,
                             .given_size_only = true});
  if (!all) return;
  REQUIRE_MESSAGE(all->front().problem.empty(), all->front().problem);
  CHECK(all->front().varies.empty());
  const auto t = kevo::load_task(all->front().file);
  REQUIRE(t.workloads.size() == 1);
  CHECK(t.workloads.front().uuid == "given");
}

TEST_CASE("a path without problems is an error of the user") {
  CHECK_THROWS_AS(static_cast<void>(kevo::import_kernelbench({.from = "/no/such/folder", .to = "/tmp"})),
                  kevo::error);
}

TEST_CASE("a problem whose result does not depend on its inputs is left out, with the reason") {
  const shell::scratch folder;
  const auto all = imported(
      {.from = KEVO_SOURCE_DIR "/tests/import/kernelbench_fixed", .to = folder.string(), .seconds = 30});
  if (!all) return;
  REQUIRE(all->size() == 1);
  CHECK_MESSAGE(all->front().problem.find("the result does not depend on the inputs") != std::string::npos,
                all->front().problem);
  CHECK(all->front().file.empty());
}

TEST_CASE("contents and sizes for which the reference itself is not accepted are left out, with the reason") {
  const shell::scratch folder;
  const auto all = imported(
      {.from = KEVO_SOURCE_DIR "/tests/import/kernelbench_mended", .to = folder.string(), .seconds = 30});
  if (!all) return;
  // Rows that are all alike are not among its contents.
  const auto& product = named(*all, "level1_1_running_product");
  REQUIRE_MESSAGE(product.problem.empty(), product.problem);
  CHECK(product.all_made);
  CHECK(product.made == std::vector<std::string>{"x"});
  CHECK(product.checked);
  CHECK(product.varies.size() == 2);
  CHECK(product.dropped.empty());
  for (const auto& w : kevo::load_task(product.file).workloads) CHECK(w.inputs.at("x").kind == "custom");

  const auto& rough = named(*all, "level1_2_rough_at_odd_rows");
  REQUIRE_MESSAGE(rough.problem.empty(), rough.problem);
  CHECK_FALSE(rough.all_made);
  CHECK(rough.checked);
  REQUIRE(rough.dropped.size() == 2);
  CHECK_MESSAGE(rough.dropped.front().find("n0 = 5") == 0, rough.dropped.front());
  CHECK_MESSAGE(rough.dropped.front().find("wrong result") != std::string::npos, rough.dropped.front());
  const auto t = kevo::load_task(rough.file);
  REQUIRE(t.workloads.size() == 2);
  for (const auto& w : t.workloads) CHECK(w.axes.at("n0") % 2 == 0);
}
