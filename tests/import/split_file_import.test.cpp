// Problems in two parts, as TritonBench and KernelBench-X write them; the ones here were written for this.

#include "src/import/split_file_import.hpp"

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "src/base/settings/yaml.hpp"
#include "tests/support/shell.hpp"

using namespace kevo;
using importing::entry_of;
using importing::split_at_hashes;

namespace {

const std::string line(146, '#');
const tested_import drafts = {.drafts = true};

std::string problem(const std::string& name) {
  return "import torch\n\ndef helper(x):\n    return x\n\ndef " + name +
         "(x, y):\n    return helper(x) + y\n\n" + line + "\n\nimport torch\n\ndef test_" + name +
         "():\n    results = {}\n    x = torch.randn(4, device='cuda')\n" +
         "    results[\"test_case_1\"] = " + name + "(x, x)\n    results[\"test_case_2\"] = " + name +
         "(x, y=x)\n    return results\n\ntest_results = test_" + name + "()\n";
}

}  // namespace

TEST_CASE("a file is split at its line of hashes; the entry is what the test calls") {
  const auto file = split_at_hashes(problem("add_twice"));
  REQUIRE(file);
  CHECK(file->reference.find("def add_twice") != std::string::npos);
  CHECK(file->reference.find('#') == std::string::npos);
  CHECK(file->test.find("test_results = test_add_twice()") != std::string::npos);
  CHECK(file->functions == std::vector<std::string>{"helper", "add_twice"});
  CHECK(file->test_function == "test_add_twice");
  CHECK(file->cases == 2);
  CHECK(entry_of(*file, "add_twice") == "add_twice");
  CHECK(entry_of(*file, "another_stem") == "add_twice");  // helper is not called by the test
  CHECK_FALSE(split_at_hashes("def f():\n    pass\n"));
  CHECK_FALSE(split_at_hashes("a\n" + line + "\nb\n" + line + "\nc\n"));
  CHECK_FALSE(split_at_hashes("a\n" + std::string(80, '#') + "\nb\n"));
  CHECK(split_at_hashes("a\n" + line + "\nb\n" + std::string(103, '#') + "\nc\n")->test ==
        "b\n" + std::string(103, '#') + "\nc\n");
  CHECK(split_at_hashes("a\r\n" + line + "\r\nb\r\n"));
  CHECK(entry_of(*split_at_hashes("def f():\n  pass\n" + line + "\nprint(g(1), x.f(2))\n"), "h").empty());
}

TEST_CASE("kernelbench-x: a draft for each problem, with its category, difficulty and contract") {
  const shell::scratch folder;
  shell::write_file(folder / "data/kernelbenchx/Math/add_twice.py", problem("add_twice"));
  shell::write_file(folder / "data/kernelbenchx/Quantization/matmul_w8.py", problem("matmul_w8"));
  shell::write_file(folder / "data/kernelbenchx/Math/broken.py", "def broken():\n    pass\n");
  shell::write_file(
      folder / "data/kernelbenchx_v1.json",
      R"([{"name": "add_twice", "description": "Adds: \"twice\".", "difficulty": 2, "file": "Math/add_twice.py"},
                        {"name": "matmul_w8", "difficulty": "", "file": "Quantization/matmul_w8.py",
                         "precision_thresholds": {"cosine_sim": 0.95, "l1_relative": 0.05, "rmse": 0.1}}])");
  const auto report =
      import_kernelbench_x((folder / "data/kernelbenchx/").string(), (folder / "tasks").string(), drafts);
  REQUIRE(report.tasks.size() == 3);
  CHECK(report.imported() == 2);
  CHECK(report.suite_file.empty());
  CHECK(report.tasks[0].draft);
  CHECK(report.tasks[0].cases == 2);
  CHECK(report.tasks[1].notes.front().find("exactly one line of '#'") != std::string::npos);
  CHECK(report.tasks[2].notes.front().find("cosine_sim") != std::string::npos);
  const auto text = shell::read_file(std::filesystem::path(report.tasks[2].folder) / "task.draft.yaml");
  for (const char* part : {"rule: finite", "min_cosine: 0.95", "max_relative_l1: 0.05", "max_rmse: 0.1"})
    CHECK_MESSAGE(text.find(part) != std::string::npos, text);

  const auto draft = load_yaml((folder / "tasks/add_twice/task.draft.yaml").string());
  CHECK(draft.find("op_type")->text == "Math");
  CHECK(draft.find("description")->text == "Adds: \"twice\".");
  CHECK(draft.find("tags")->items.at(1).text == "level:2");
  CHECK(draft.find("reference")->find("entry")->text == "add_twice");
  CHECK(draft.find("reference")->find("form")->text == "function");
  const auto facts = boost::json::parse(shell::read_file(folder / "tasks/matmul_w8/problem.json"));
  CHECK(facts.at("given").at("precision_thresholds").at("rmse").as_double() == 0.1);
  CHECK(shell::read_file(folder / "tasks/add_twice/reference.py").find("def add_twice") != std::string::npos);
}

TEST_CASE("kernelbench-x: from its repository, from the folder of its data, and from one category") {
  const shell::scratch folder;
  shell::write_file(folder / "data/kernelbenchx/Math/add_twice.py", problem("add_twice"));
  shell::write_file(folder / "data/kernelbenchx/Fusion/other.py", problem("other"));
  shell::write_file(folder / "setup.py", "pass\n");
  shell::write_file(folder / "data/kernelbenchx_v1.json",
                    R"([{"file": "Math/add_twice.py", "difficulty": 2}, {"file": "Fusion/other.py"}])");
  for (const char* from : {"", "data", "data/kernelbenchx/Math/"}) {
    const bool all = std::string(from).find("Math") == std::string::npos;
    const shell::scratch tasks;
    const auto report = import_kernelbench_x((folder / from).string(), (tasks / "made").string(), drafts);
    REQUIRE_MESSAGE(report.tasks.size() == (all ? 2 : 1), from);
    CHECK(report.imported() == report.tasks.size());
    const auto& math = report.tasks.back();
    CHECK(math.category == "Math");
    CHECK(math.notes.empty());  // the list has it
    const auto draft = load_yaml((tasks / "made/add_twice/task.draft.yaml").string());
    CHECK(draft.find("tags")->items.at(1).text == "level:2");
  }
}

TEST_CASE("tritonbench: problems of one folder, described by the list beside it") {
  const shell::scratch folder;
  shell::write_file(folder / "TritonBench_T_v1/add_twice.py", problem("add_twice"));
  shell::write_file(folder / "TritonBench_T_v1/other.py", problem("kernel"));
  shell::write_file(folder / "TritonBench_T_v1.jsonl", R"([{"file": "add_twice.py", "difficulty": "4"}])");
  const auto report =
      import_tritonbench((folder / "TritonBench_T_v1").string(), (folder / "tasks").string(), drafts);
  CHECK(report.imported() == 2);
  CHECK(report.tasks[0].notes.empty());
  CHECK(report.tasks[1].notes.front().find("does not have it") != std::string::npos);
  CHECK(load_yaml((folder / "tasks/add_twice/task.draft.yaml").string()).find("tags")->items.at(1).text ==
        "level:4");
  shell::write_file(folder / "TritonBench_T_v1.jsonl", "[oops");
  CHECK_THROWS_WITH_AS(
      import_tritonbench((folder / "TritonBench_T_v1").string(), (folder / "tasks").string(), drafts),
      doctest::Contains("TritonBench_T_v1.jsonl"), error);
  CHECK_THROWS_AS(
      import_tritonbench((folder / "tasks/add_twice/none").string(), (folder / "x").string(), drafts), error);
}
