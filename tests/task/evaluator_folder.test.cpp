#include "src/task/evaluator_folder.hpp"

#include <string>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/load_task.hpp>

#include "tests/support/shell.hpp"

using namespace kevo;

namespace {

const std::string openevolve_config = R"(
max_iterations: 12
random_seed: 7
diff_based_evolution: false
llm: {primary_model: some-model, timeout: 99}
prompt:
  system_message: |
    Make it
    shorter.
  num_top_programs: 4
database: {num_islands: 2, feature_dimensions: [length, depth], feature_bins: 5, migration_rate: 0.2}
evaluator: {timeout: 20, cascade_evaluation: true, cascade_thresholds: [0.1, 2]}
)";

}  // namespace

TEST_CASE("a folder of OpenEvolve's form is a task, with its settings") {
  const shell::scratch folder;
  shell::write_file(folder / "evaluator.py", "def evaluate(path): return {}\n");
  shell::write_file(folder / "initial_program.rs", "// EVOLVE-BLOCK-START\nfn f() {}\n// EVOLVE-BLOCK-END\n");
  shell::write_file(folder / "config.yaml", openevolve_config);
  const auto found = read_evaluator_folder(folder.string() + "/");
  CHECK(found.system == evaluator_system::openevolve);
  CHECK(found.folder == folder.string());
  CHECK(found.program == "initial_program.rs");
  CHECK(found.timeout_s == 20);
  CHECK(found.thresholds == std::vector<double>{0.1, 2});
  CHECK(found.features == std::vector<std::string>{"length", "depth"});
  CHECK(found.bins == 5);
  CHECK(found.islands == 2);
  CHECK(found.migration_rate == 0.2);
  CHECK(found.proposals == 12);
  CHECK(found.seed == 7);
  CHECK(found.top == 4);
  CHECK_FALSE(found.edits);
  const task t = load_task(folder.string());
  CHECK(t.description == "Make it\nshorter.\n");
  REQUIRE(t.seeds.size() == 1);
  CHECK(t.seeds[0].language == "rust");
  CHECK(t.seeds[0].files[0].path == "kernel.rs");
  CHECK(t.outputs.empty());
  CHECK(t.file == folder.string());
}

TEST_CASE("what a folder does not say has OpenEvolve's defaults") {
  const shell::scratch folder;
  shell::write_file(folder / "13/evaluator.py", "");
  shell::write_file(folder / "13/initial_program.xyz", "x = 1\n");
  const auto found = read_evaluator_folder((folder / "13").string());
  CHECK(found.timeout_s == 300);
  CHECK(found.cascade);
  CHECK(found.thresholds == std::vector<double>{0.5, 0.75, 0.9});
  CHECK(found.features == std::vector<std::string>{"complexity", "diversity"});
  const task t = load_task((folder / "13").string());
  CHECK(t.name == (folder / "").parent_path().filename().string() + "_13");
  CHECK(t.seeds[0].language == "xyz");
  CHECK(t.seeds[0].files[0].path == "kernel.xyz");  // evaluators look at it
  CHECK(t.description.find("higher score") != std::string::npos);
  // Another phase's settings, if there are none for all.
  shell::write_file(folder / "13/config_phase_1.yaml", "evaluator: {timeout: 5}\n");
  shell::write_file(folder / "13/config_phase_2.yaml", "evaluator: {timeout: 6}\n");
  CHECK(read_evaluator_folder((folder / "13").string()).timeout_s == 5);
}

TEST_CASE("a folder of ShinkaEvolve's form is a task, too") {
  const shell::scratch folder;
  shell::write_file(folder / "evaluate.py", "");
  shell::write_file(folder / "initial.f90", "! EVOLVE-BLOCK-START\n! EVOLVE-BLOCK-END\n");
  shell::write_file(
      folder / "run_evo.py",
      "job = LocalJobConfig(eval_program_path=\"evaluate.py\", time=\"00:03:10\")\n"
      "search_task_sys_msg = \"\"\"Pack\ncircles.\"\"\"\nx(task_sys_msg=search_task_sys_msg)\n");
  const auto found = read_evaluator_folder(folder.string());
  CHECK(found.system == evaluator_system::shinka);
  CHECK(found.message == "Pack\ncircles.");
  CHECK(found.timeout_s == 190);
  CHECK(load_task(folder.string()).seeds[0].language == "fortran");
  shell::write_file(folder / "shinka.yaml", "evo_config: {task_sys_msg: pack squares}\n");
  CHECK(read_evaluator_folder(folder.string()).message == "pack squares");
}

TEST_CASE("the program to start with may be a folder of files") {
  const shell::scratch folder;
  shell::write_file(folder / "evaluator.py", "");
  shell::write_file(folder / "initial_program/main.py", "import parts.one\n");
  shell::write_file(folder / "initial_program/parts/one.py",
                    "# EVOLVE-BLOCK-START\nx = 1\n# EVOLVE-BLOCK-END\n");
  shell::write_file(folder / "initial_program/__pycache__/one.pyc", "no source");
  shell::write_file(folder / "initial_program/.git/config", "no source");
  CHECK(read_evaluator_folder(folder.string()).program == "initial_program");
  const task t = load_task(folder.string());
  REQUIRE(t.seeds.size() == 1);
  REQUIRE(t.seeds[0].files.size() == 2);
  CHECK(t.seeds[0].language == "python");
  CHECK(t.seeds[0].files[0].path == "main.py");
  CHECK(t.seeds[0].files[1].path == "parts/one.py");
  CHECK(t.seeds[0].files[1].text.find("x = 1") != std::string::npos);
}

TEST_CASE("what is missing in a folder is named") {
  const shell::scratch folder;
  CHECK_THROWS_WITH_AS(load_task(folder.string()), doctest::Contains("holds no evaluator.py"), kevo::error);
  CHECK_THROWS_WITH_AS(read_evaluator_folder(folder.string(), evaluator_system::shinka),
                       doctest::Contains("holds no evaluate.py"), kevo::error);
  CHECK_THROWS_AS(read_evaluator_folder((folder / "nowhere").string()), kevo::error);
  shell::write_file(folder / "evaluator.py", "");
  CHECK_THROWS_WITH_AS(load_task(folder.string()), doctest::Contains("no initial program"), kevo::error);
  shell::write_file(folder / "config.yaml", "a: [\n");
  CHECK_THROWS_AS(read_evaluator_folder(folder.string()), kevo::error);
}
