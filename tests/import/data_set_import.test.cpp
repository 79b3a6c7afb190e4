// Small data sets in the formats of FlashInfer-Bench and SOL-ExecBench, written for this.

#include "src/import/data_set_import.hpp"

#include <algorithm>
#include <filesystem>
#include <memory>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/expression.hpp>
#include <kevo/load_task.hpp>
#include <kevo/task_extents.hpp>

#include "src/import/data_set_check.hpp"
#include "src/import/reduced_workload.hpp"
#include "src/suite/suite_plan.hpp"
#include "tests/support/shell.hpp"

namespace fs = std::filesystem;
using namespace kevo;

namespace {

constexpr const char* definition = R"({"name": "row_scale", "op_type": "scale", "description": null,
 "axes": {"M": {"type": "var", "description": null}, "N": {"type": "const", "value": 4}},
 "custom_inputs_entrypoint": null,
 "inputs": {"A": {"shape": ["M", "N"], "dtype": "float32"}, "s": {"shape": null, "dtype": "float32"},
            "index": {"shape": ["M"], "dtype": "int32", "description": null}},
 "outputs": {"B": {"shape": ["M", "N"], "dtype": "float32"}},
 "reference": "import torch\n\ndef run(A, s, index):\n    return A * s\n"})";

/// A safetensors file with the tensor "index": `count` int32 zeros.
std::string safetensors(int count) {
  std::string header = "{\"index\":{\"dtype\":\"I32\",\"shape\":[" + std::to_string(count) +
                       "],\"data_offsets\":[0," + std::to_string(4 * count) + "]}}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::string text;
  for (unsigned i = 0; i < 8; ++i) text += static_cast<char>((header.size() >> (8U * i)) & 0xffU);
  return text + header + std::string(static_cast<std::size_t>(4 * count), '\0');
}

std::string workload_line(const std::string& uuid, const std::string& index, const std::string& more = {}) {
  return R"({"uuid": ")" + uuid +
         R"(", "axes": {"M": 3}, "inputs": {"A": {"type": "random"}, "s": {"type": "scalar", "value": 2.0}, "index": )" +
         index + "}" + more + "}";
}
std::string trace(const std::string& workload_text) {
  return R"({"definition": "row_scale", "solution": null, "workload": )" + workload_text +
         R"(, "evaluation": null})" + "\n";
}
std::string solution(const std::string& name, const std::string& spec, const std::string& sources) {
  return R"({"name": ")" + name + R"(", "definition": "row_scale", "author": "me", "spec": )" + spec +
         R"(, "sources": )" + sources + "}";
}

// References are not executed here (data_set_check.test.cpp).
suite_import imported_flashinfer(const std::string& path, const std::string& output) {
  return import_flashinfer(path, output, {.check = false});
}
suite_import imported_sol(const std::string& path, const std::string& output) {
  return import_sol(path, output, {.check = false});
}

bool says(const std::vector<std::string>& notes, const std::string& text) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("flashinfer: definitions, workloads with contents, and solutions become folders of tasks") {
  const shell::scratch folder;
  const std::string file =
      R"({"type": "safetensors", "path": "blob/workloads/w.safetensors", "tensor_key": "index"})";
  shell::write_file(folder / "set/definitions/scale/row_scale.json", definition);
  shell::write_file(folder / "set/blob/workloads/w.safetensors", safetensors(3));
  shell::write_file(folder / "secret", "not yours");
  shell::write_file(
      folder / "set/workloads/scale/row_scale.jsonl",
      trace(workload_line("random", R"({"type": "random"})",
                          R"(, "tolerance": {"max_atol": 0.5, "max_rtol": 0.25})")) +
          trace(workload_line("stored", file)) + trace(workload_line("custom", R"({"type": "custom"})")) +
          trace(workload_line("outside",
                              R"({"type": "safetensors", "path": "../secret", "tensor_key": "index"})")) +
          trace(workload_line("lost",
                              R"({"type": "safetensors", "path": "blob/none", "tensor_key": "index"})")));
  shell::write_file(
      folder / "set/solutions/me/scale/row_scale/triton.json",
      solution("fast", R"({"language": "triton", "target_hardware": ["cuda"], "entry_point": "a.py::scale"})",
               R"([{"path": "a.py", "content": "def scale(A, s, index, B):\n    B.copy_(A * s)\n"}])"));
  shell::write_file(
      folder / "set/solutions/me/scale/row_scale/cuda.json",
      solution("hard", R"({"language": "tilelang", "target_hardware": ["cuda"], "entry_point": "a.py::run"})",
               R"([{"path": "a.py", "content": "x"}])"));
  shell::write_file(
      folder / "set/solutions/me/scale/row_scale/cpp.json",
      solution("built", R"({"language": "cpp", "target_hardware": ["cpu"], "entry_point": "a.cpp::run"})",
               R"([{"path": "a.cpp", "content": "x"}])"));
  const auto report = imported_flashinfer((folder / "set").string(), (folder / "tasks").string());
  REQUIRE(report.tasks.size() == 1);
  const auto& made = report.tasks.front();
  CHECK(made.name == "row_scale");
  CHECK(made.workloads == 2);
  CHECK(made.solutions == 2);
  CHECK(says(made.notes, "names no function that makes inputs"));
  CHECK(says(made.notes, "outside the data set"));
  CHECK(says(made.notes, "no file 'blob/none'"));
  CHECK(says(made.notes, "'tilelang'"));

  const task t = load_task((folder / "tasks/row_scale/task.json").string());
  CHECK(t.name == "row_scale");
  CHECK(t.reference->language == "python");
  REQUIRE(t.workloads.size() == 2);
  CHECK(tolerance_for(t, t.workloads[0], "B").max_atol == 0.5);
  CHECK(tolerance_for(t, t.workloads[1], "B").max_atol == 1e-2);  // theirs by default
  CHECK(t.workloads[1].inputs.at("index").contents->bytes.size() == 12);
  CHECK(t.workloads[1].inputs.at("s").value == 2);

  const std::string text = shell::read_file(folder / "tasks/row_scale/solutions/fast.py");
  for (const char* line : {"def scale(A, s, index, B):", "_kevo_solution = scale", "def run(A, s, index):",
                           "    B = torch.empty((A.shape[0], 4, ), dtype=torch.float32, device=A.device)",
                           "    _kevo_solution(A, s, index, B)", "    return B"})
    CHECK_MESSAGE(text.find(line) != std::string::npos, line << "\n" << text);

  CHECK(shell::read_file(report.suite_file).find("solutions/NAME.py") == std::string::npos);
  const suite_plan suite = load_suite(report.suite_file);
  REQUIRE(suite.fitness.find("backend") != nullptr);
  CHECK(suite.fitness.find("backend")->text == "torch");
  CHECK(suite.fitness.find("device")->text == "cpu");
  REQUIRE(suite.tasks.size() == 1);
  CHECK(suite.tasks.front().name == "row_scale");
  CHECK(suite.tasks.front().category == "scale");
  REQUIRE(suite.tasks.front().solutions.size() == 2);
  CHECK(suite.tasks.front().solutions[0].name == "built");  // a folder
  CHECK(load_program(suite.tasks.front().solutions[0].file).files[1].path == "sources/a.cpp");
  CHECK(suite.tasks.front().solutions[1].name == "fast");

  // Again, after the data set has changed: what is gone is gone.
  fs::remove_all(folder / "set/solutions");
  CHECK(imported_flashinfer((folder / "set").string(), (folder / "tasks").string()).tasks.front().solutions ==
        0);
  CHECK(!fs::exists(folder / "tasks/row_scale/solutions"));
  // A Definition alone finds the rest of its data set.
  CHECK(imported_flashinfer((folder / "set/definitions/scale/row_scale.json").string(),
                            (folder / "one").string())
            .tasks.front()
            .workloads == 2);
}

TEST_CASE("a Definition that cannot be imported says why, and the others are imported") {
  const shell::scratch folder;
  shell::write_file(folder / "set/definitions/row_scale.json", definition);
  shell::write_file(folder / "set/definitions/broken.json", "{\"name\": \"broken\",\n oops}");
  shell::write_file(folder / "set/definitions/lonely.json", R"({"name": "lonely"})");
  shell::write_file(folder / "set/workloads/row_scale.jsonl",
                    workload_line("w", R"({"type": "random"})") + "\n");
  const auto report = imported_flashinfer((folder / "set").string(), (folder / "tasks").string());
  REQUIRE(report.tasks.size() == 3);
  CHECK(report.imported() == 1);
  CHECK(says(report.tasks[0].notes, "broken.json:2"));
  CHECK(says(report.tasks[1].notes, "no workloads"));
  CHECK(report.tasks[2].workloads == 1);
  CHECK(!fs::exists(folder / "tasks/broken"));

  shell::write_file(folder / "mine/important.txt", "mine");
  CHECK_THROWS_WITH_AS(imported_flashinfer((folder / "set").string(), (folder / "mine").string()),
                       doctest::Contains("not from an import"), error);
  CHECK_THROWS_WITH_AS(imported_flashinfer((folder / "mine").string(), (folder / "out").string()),
                       doctest::Contains("no definitions"), error);
}

TEST_CASE(
    "sol: a computed axis becomes an expression, if kevo has its operators; two problems of one name get two "
    "folders") {
  const shell::scratch folder;
  const auto put = [&](const std::string& where, const std::string& expression) {
    std::string text = definition;
    text.replace(text.find("\"N\": {"), 0,
                 "\"half\": {\"type\": \"expr\", \"expression\": \"" + expression + "\"}, ");
    text.replace(text.rfind("[\"M\", \"N\"]"), 10, "[\"M\", \"half\"]");
    shell::write_file(folder / (where + "/definition.json"), text);
    shell::write_file(folder / (where + "/workload.jsonl"),
                      workload_line("a", R"({"type": "random"})") + "\n");
  };
  put("data/one", "N // 2 + M % 2");
  put("data/two", "N // 2");
  put("data/wrong", "N / 2");
  const auto report = imported_sol((folder / "data").string(), (folder / "tasks").string());
  REQUIRE(report.tasks.size() == 3);
  CHECK(report.imported() == 2);
  CHECK(says(report.tasks[2].notes, "'half' is computed by 'N / 2'"));
  const task t = load_task((folder / "tasks/row_scale/task.json").string());
  CHECK(extents(t.outputs[0], axis_values(t, t.workloads[0])) == std::vector<std::int64_t>{3, 3});
  CHECK(load_task((folder / "tasks/row_scale_2/task.json").string()).name == "row_scale");
}

TEST_CASE("sol: problems in folders, nulls, tolerances per workload and lists of languages") {
  const shell::scratch folder;
  shell::write_file(folder / "data/L1/row_scale/definition.json", definition);
  shell::write_file(
      folder / "data/L1/row_scale/workload.jsonl",
      workload_line(
          "a", R"({"type": "random"})",
          R"(, "tolerance": {"max_atol": 0.1, "max_rtol": 0.1, "required_matched_ratio": 0.9, "max_error_cap": null})") +
          "\n" + workload_line("b", R"({"type": "random"})") + "\n");
  shell::write_file(
      folder / "data/L1/row_scale/solution_python.json",
      solution(
          "plain",
          R"({"languages": ["pytorch"], "target_hardware": ["LOCAL"], "entry_point": "k.py::go", "destination_passing_style": false})",
          R"([{"path": "k.py", "content": "def go(A, s, index):\n    return A * s\n"}])"));
  shell::write_file(folder / "data/L1/row_scale/solution_parts.json",
                    solution("parts", R"({"languages": ["triton"], "entry_point": "k.py::run"})",
                             R"([{"path": "k.py", "content": "x"}, {"path": "l.py", "content": "y"}])"));
  shell::write_file(folder / "data/L1/row_scale/solution_other.json",
                    R"({"name": "other", "definition": "column_scale"})");
  const auto report = imported_sol((folder / "data").string(), (folder / "tasks").string());
  REQUIRE(report.imported() == 1);
  const auto& made = report.tasks.front();
  CHECK(made.workloads == 2);
  CHECK(says(made.notes,
             "solution solution_other.json: it names the Definition 'column_scale', not 'row_scale'"));
  CHECK(says(made.notes, "1 workloads accept a share"));
  CHECK(made.solutions == 2);
  CHECK(shell::read_file(folder / "tasks/row_scale/solutions/parts/main.py")
            .find("from sources.k import run as _kevo_solution") != std::string::npos);
  const task t = load_task((folder / "tasks/row_scale/task.json").string());
  CHECK(tolerance_for(t, t.workloads[0], "B").required_matched_ratio == 0.9);
  CHECK(tolerance_for(t, t.workloads[1], "B").required_matched_ratio == 1);
  CHECK(shell::read_file(folder / "tasks/row_scale/solutions/plain.py").find("\nrun = go\n") !=
        std::string::npos);
  CHECK_THROWS_AS(imported_sol((folder / "tasks/row_scale/solutions").string(), (folder / "x").string()),
                  error);
}

TEST_CASE("sol: a function of the reference makes inputs, and is told the computed axes, too") {
  const shell::scratch folder;
  std::string text = definition;
  text.replace(text.find("\"custom_inputs_entrypoint\": null"), 32,
               "\"custom_inputs_entrypoint\": \"make_inputs\"");
  text.replace(text.find("\"N\": {"), 0, "\"half\": {\"type\": \"expr\", \"expression\": \"N // 2\"}, ");
  text.replace(text.find("def run"), 0, "def make_inputs(axes_and_scalars, device):\\n    return {}\\n\\n");
  shell::write_file(folder / "data/definition.json", text);
  shell::write_file(folder / "data/workload.jsonl", workload_line("a", R"({"type": "custom"})") + "\n");
  const auto report = imported_sol((folder / "data").string(), (folder / "tasks").string());
  REQUIRE(report.imported() == 1);
  const task t = load_task((folder / "tasks/row_scale/task.json").string());
  CHECK(t.workloads.front().inputs.at("index").kind == "custom");
  CHECK(t.reference->init.find("kevo_make_inputs") != std::string::npos);
  const auto reference = std::string(t.reference->source.text());
  CHECK_MESSAGE(reference.find("axes[\"half\"] = eval(\"N // 2\", {}, axes)") != std::string::npos,
                reference);
  CHECK(reference.find("return make_inputs(axes, device)") != std::string::npos);

  text.replace(text.find("\"make_inputs\""), 13, "\"makes_none\"");
  shell::write_file(folder / "data/definition.json", text);
  const auto without = imported_sol((folder / "data").string(), (folder / "tasks").string());
  CHECK(without.imported() == 0);
}

TEST_CASE("sol: typed checks become tolerances of outputs, and explicit generators those of kevo") {
  const shell::scratch folder;
  shell::write_file(folder / "data/definition.json",
                    R"({"schema_version": "sol_execbench.definition.v1", "name": "typed", "op_type": "loss",
 "axes": {"B": {"type": "var"}, "C": {"type": "var"}},
 "inputs": {"x": {"shape": ["B", "C"], "dtype": "float32"}, "w": {"shape": ["1", "C"], "dtype": "float32"},
            "label": {"shape": ["B"], "dtype": "int64"}},
 "outputs": {"loss": {"shape": ["B"], "dtype": "float32"}, "best": {"shape": ["B"], "dtype": "int64"}},
 "reference": "import torch\n\ndef run(x, w, label):\n    return (x * w).sum(1), label\n"})");
  const auto line = [](const std::string& uuid, const std::string& label, const std::string& check) {
    return R"({"schema_version": "sol_execbench.workload.v2", "uuid": ")" + uuid +
           R"(", "axes": {"B": 3, "C": 5}, "inputs": {"x": {"type": "generated", "generator": {"type": "normal",
 "mean": 1.5, "std": 0.25}}, "w": {"type": "generated", "generator": {"type": "uniform", "low": 0.0, "high": 2.0}},
 "label": )" +
           label + R"(}, "checks": [{"type": "numeric", "mode": "elementwise", "output": "loss",
 "max_atol": 0.125, "max_error_cap": null, "denominator_epsilon": 1e-12, "required_matched_ratio": 1.0}, )" +
           check + "]}";
  };
  const std::string labels =
      R"({"type": "generated", "generator": {"type": "integer", "low": 0, "high": "C"}})";
  std::string all;
  for (const auto& one :
       {line("good", labels, R"({"type": "exact", "output": "best"})"),
        line("distance", labels, R"({"type": "code_distance", "mode": "value", "output": "best"})"),
        line("norm", labels, R"({"type": "numeric", "mode": "normalized_max", "output": "best"})"),
        line("joint", labels, R"({"type": "topk_routing", "ids_output": "best", "weights_output": "loss"})"),
        line("twice", labels, R"({"type": "exact", "output": "loss"})"),
        line("constant", R"({"type": "generated", "generator": {"type": "constant", "value": 1}})",
             R"({"type": "exact", "output": "best"})")}) {
    std::string in_one_line = one;
    std::replace(in_one_line.begin(), in_one_line.end(), '\n', ' ');
    all += in_one_line + '\n';
  }
  shell::write_file(folder / "data/workload.jsonl", all);
  const auto report = imported_sol((folder / "data").string(), (folder / "tasks").string());
  REQUIRE(report.tasks.size() == 1);
  const auto& notes = report.tasks.front().notes;
  CHECK(says(notes, "the output 'best' is compared by 'code_distance'"));
  CHECK(says(notes, "the output 'best' is compared by 'normalized_max'"));
  CHECK(says(notes, "a check of the type 'topk_routing' concerns several outputs"));
  CHECK(says(notes, "the output 'loss' has two checks"));
  CHECK(says(notes, "the input 'label' is drawn by the generator 'constant'"));
  REQUIRE(report.imported() == 1);
  const task t = load_task((folder / "tasks/typed/task.json").string());
  REQUIRE(t.workloads.size() == 1);
  const auto& w = t.workloads.front();
  CHECK(tolerance_for(t, w, "loss").max_atol == 0.125);
  CHECK(tolerance_for(t, w, "loss").max_rtol == 0.01);
  CHECK(tolerance_for(t, w, "best").rule == "exact");
  CHECK(w.generate.at("x").a == 1.5);
  CHECK(w.generate.at("x").b == 0.25);
  CHECK(w.generate.at("w").kind == "uniform");
  CHECK(w.generate.at("label").kind == "integers");
  CHECK(resolved(w.generate.at("label"), axis_values(t, w)).b == 4);  // theirs is without the upper bound
}

TEST_CASE("a workload is reduced for a test, but for contents from files and constraints") {
  task t;
  t.axes = {{"rows", std::nullopt, ""}, {"columns", std::nullopt, ""}, {"same", std::nullopt, ""}};
  t.inputs = {{"x", {"rows", "columns"}, false, "float32", {}, ""},
              {"z", {"same"}, false, "float32", {}, ""}};
  t.outputs = {{"y", {"rows"}, false, "float32", {}, ""}};
  workload w;
  w.axes = {{"rows", 1000}, {"columns", 4096}, {"same", 20}};
  const auto small = importing::reduced_workload(t, w, 1e5);
  CHECK(small.axes.at("rows") * small.axes.at("columns") <= 1e5);
  CHECK(small.axes.at("rows") >= 8);
  CHECK(small.axes.at("columns") >= 8);
  CHECK(small.axes.at("same") == 20);  // does not matter
  CHECK(importing::reduced_workload(t, w, 1e9).axes == w.axes);
  CHECK(importing::reduced_workload(t, w, 1).axes.at("rows") >= 8);

  t.constraints = {expression::parse("columns == 4096")};
  CHECK(importing::reduced_workload(t, w, 1e5).axes.at("columns") == 4096);

  w.inputs["z"].kind = "file";
  w.inputs["z"].contents = std::make_shared<const tensor_contents>();
  CHECK(importing::reduced_workload(t, w, 1e5).axes == w.axes);
}
