// labels: slow
// timeout: 300
// one processor
// The tolerances of data sets in the formats of FlashInfer-Bench and SOL-ExecBench are tested when they are
// imported. All definitions here were written for this.
#include <algorithm>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/load_task.hpp>

#include "src/import/data_set_import.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

using namespace kevo;

namespace {

struct checked_problem {
  std::string name;
  std::string run;        ///< lines of the reference behind "import torch", with \n written out
  std::string more;       ///< further keys of the definition
  std::string workloads;  ///< lines
};

// A is [M, N] and so is B.
std::string problem_definition(const checked_problem& p) {
  return R"({"name": ")" + p.name +
         R"(", "op_type": "elementwise", "axes": {"M": {"type": "var"}, "N": {"type": "var"}},)" +
         R"( "inputs": {"A": {"shape": ["M", "N"], "dtype": "float32"}},)" +
         R"( "outputs": {"B": {"shape": ["M", "N"], "dtype": "float32"}}, )" + p.more +
         R"("reference": "import torch\n\n)" + p.run + R"("})";
}

std::string problem_workload(int rows, int columns, const std::string& type, const std::string& more = {}) {
  return R"({"uuid": ")" + std::to_string(rows) + "x" + std::to_string(columns) + type +
         R"(", "axes": {"M": )" + std::to_string(rows) + R"(, "N": )" + std::to_string(columns) +
         R"(}, "inputs": {"A": {"type": ")" + type + "\"}}" + more + "}\n";
}

const std::vector<checked_problem>& problems() {
  static const std::vector<checked_problem> all = {
      // 0.01 accepts zeros.
      {"small_numbers", R"(def run(A):\n    return 1e-3 * torch.tanh(A)\n)", "",
       problem_workload(40, 30, "random")},
      // Too many elements for a processor to be called with often.
      {"large", R"(def run(A):\n    return torch.softmax(A, dim=1)\n)", "",
       problem_workload(65536, 4096, "random") + problem_workload(4, 9, "random")},
      // A tenth of the elements may be wrong.
      {"shares", R"(def run(A):\n    return torch.exp(A)\n)", "",
       problem_workload(
           64, 50, "random",
           R"(, "tolerance": {"max_atol": 1e-4, "max_rtol": 1e-4, "required_matched_ratio": 0.85})")},
      // What is left of rounding: no tolerance tells right from wrong.
      {"rounding_alone",
       R"(def run(A):\n    return (A - A.mean(1, keepdim=True)).mean(1, keepdim=True).expand(A.shape).contiguous()\n)",
       "", problem_workload(40, 300, "random")},
      {"missing_module", R"(import no_such_module\n\ndef run(A):\n    return A\n)", "",
       problem_workload(4, 8, "random")},
      // It computes with gradients, and kevo calls references without.
      {"gradients",
       R"(def run(A):\n    x = A.clone().requires_grad_()\n    torch.tanh(x).sum().backward()\n    return x.grad\n)",
       "", problem_workload(20, 30, "random")},
      {"made",
       R"(def make(axes_and_scalars, device):\n    shape = axes_and_scalars['M'], axes_and_scalars['N']\n    return {'A': torch.softmax(torch.randn(shape, device=device), -1)}\n\ndef run(A):\n    return torch.cumsum(A, dim=1)\n)",
       R"("custom_inputs_entrypoint": "make", )", problem_workload(30, 20, "custom")},
      {"same_each_time",
       R"(def make(axes_and_scalars, device):\n    return {'A': torch.ones(axes_and_scalars['M'], axes_and_scalars['N'])}\n\ndef run(A):\n    return 2 * A\n)",
       R"("custom_inputs_entrypoint": "make", )", problem_workload(3, 5, "custom")}};
  return all;
}

std::optional<suite_import> imported_set(const std::filesystem::path& folder) {
  for (const auto& one : problems()) {
    shell::write_file(folder / ("set/" + one.name + "/definition.json"), problem_definition(one));
    shell::write_file(folder / ("set/" + one.name + "/workload.jsonl"), one.workloads);
  }
  auto report = import_sol((folder / "set").string(), (folder / "tasks").string(), {.jobs = 2});
  if (report.untested.find("no Python with PyTorch") != 0) return report;
  kevo_test::skip(report.untested);
  return std::nullopt;
}

bool notes_say(const std::vector<std::string>& notes, const std::string& text) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("tolerances of a data set are tested with wrong outputs, narrowed where they can be, and flagged") {
  const shell::scratch folder;
  const auto report = imported_set(std::filesystem::path(folder.string()));
  if (!report) return;
  CHECK(report->imported() == problems().size());
  const auto named = [&](const std::string& name) -> const suite_import_task& {
    const auto found = std::find_if(report->tasks.begin(), report->tasks.end(),
                                    [&](const auto& one) { return one.name == name; });
    REQUIRE(found != report->tasks.end());
    return *found;
  };
  const auto loaded = [&](const std::string& name) { return load_task(named(name).folder + "/task.json"); };
  const auto rule_of = [](const task& t) { return tolerance_for(t, t.workloads.front(), "B"); };

  const auto& small = named("small_numbers");
  REQUIRE_MESSAGE(small.checked, small.untested);
  CHECK(std::count(small.accepted.begin(), small.accepted.end(), "zeros") == 0);
  CHECK(notes_say(small.notes, "accepts wrong outputs (zeros"));
  CHECK(rule_of(loaded("small_numbers")).max_atol < 1e-3);
  CHECK(small.tested_with.empty());

  const auto& large = named("large");
  REQUIRE_MESSAGE(large.checked, large.untested);
  CHECK_MESSAGE(large.tested_with.find("M = ") != std::string::npos, large.tested_with);
  CHECK(loaded("large").workloads.front().axes.at("M") == 65536);  // the task keeps the suite's sizes

  const auto& shares = named("shares");
  REQUIRE_MESSAGE(shares.checked, shares.untested);
  CHECK(notes_say(shares.notes, "in 0.85 of the elements"));
  CHECK(rule_of(loaded("shares")).required_matched_ratio == 1);
  CHECK(rule_of(loaded("shares")).max_atol == 1e-4);
  CHECK(shares.accepted.empty());

  const auto& rounding = named("rounding_alone");
  REQUIRE_MESSAGE(rounding.checked, rounding.untested);
  CHECK(std::count(rounding.accepted.begin(), rounding.accepted.end(), "zeros") == 1);

  const auto& missing = named("missing_module");
  CHECK_FALSE(missing.checked);
  CHECK_MESSAGE(missing.untested.find("no_such_module") != std::string::npos, missing.untested);
  CHECK(loaded("missing_module").workloads.size() == 1);  // written all the same

  const auto& gradients = named("gradients");
  CHECK_MESSAGE(gradients.checked, gradients.untested);

  const auto& made = named("made");
  REQUIRE_MESSAGE(made.checked, made.untested);
  CHECK(made.accepted.empty());

  const auto& same = named("same_each_time");
  CHECK_FALSE(same.checked);
  CHECK_MESSAGE(same.untested.find("the same inputs each time") != std::string::npos, same.untested);
}
