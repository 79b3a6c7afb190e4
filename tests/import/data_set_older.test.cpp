// Data sets in the older layout and form of FlashInfer-Bench, written for this.

#include "src/import/data_set_older.hpp"

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/load_task.hpp>

#include "src/import/data_set_import.hpp"
#include "tests/support/shell.hpp"

namespace fs = std::filesystem;
namespace json = boost::json;
using namespace kevo;

namespace {

constexpr const char* older_definition = R"({"name": "row_scale", "type": "scale", "tags": ["status:draft"],
 "axes": {"M": {"type": "var", "parent": "N"}, "N": {"type": "const", "value": 4}},
 "constraints": ["M == int(s) + 1"],
 "inputs": {"A": {"shape": ["M", "N"], "dtype": "float32"}, "s": {"shape": [], "dtype": "float32"}},
 "outputs": {"B": {"shape": ["M", "N"], "dtype": "float32"}, "total": {"shape": ["M"], "dtype": "float32"}},
 "reference": "import torch\n\ndef run(A, s):\n    return {\"total\": A.sum(1), \"B\": A * s}"})";

std::string older_line(const std::string& uuid, const std::string& scalar) {
  return R"({"definition": "row_scale", "solution": "", "workload": {"uuid": ")" + uuid +
         R"(", "axes": {"M": 3}, "inputs": {"A": {"type": "random"}, "s": )" + scalar +
         "}}, \"evaluation\": {}}\n";
}

const std::string older_drawn = R"({"type": "random"})";
const std::string older_number = R"({"type": "scalar", "value": 2.0})";

std::string older_solution(const std::string& name, const std::string& spec, const std::string& sources,
                           const std::string& of = "row_scale") {
  return R"({"name": ")" + name + R"(", "definition": ")" + of + R"(", "author": "me", "spec": {)" + spec +
         R"(}, "sources": )" + sources + "}";
}

const std::string older_source =
    R"([{"path": "main.py", "content": "def run(s, A):\n    return {'B': A * s, 'total': A.sum(1)}\n"}])";

void write_older_set(const shell::scratch& folder, const std::string& lines,
                     const std::string& file = "traces/workloads/scale/row_scale.workload.jsonl") {
  shell::write_file(folder / "set/definitions/scale/row_scale.json", older_definition);
  shell::write_file(folder / ("set/" + file), lines);
}

suite_import imported_older(const shell::scratch& folder) {
  return import_flashinfer((folder / "set").string(), (folder / "tasks").string(), {.check = false});
}

bool any_says(const std::vector<std::string>& notes, const std::string& text) {
  return std::any_of(notes.begin(), notes.end(),
                     [&](const std::string& note) { return note.find(text) != std::string::npos; });
}

}  // namespace

TEST_CASE("older data sets: Definitions, workloads and solutions become tasks in today's form") {
  const shell::scratch folder;
  write_older_set(folder, older_line("a", older_drawn) + older_line("b", older_drawn));
  // Results have no uuids, and are not workloads.
  shell::write_file(
      folder / "set/traces/scale/row_scale.jsonl",
      R"({"definition": "row_scale", "solution": "x", "workload": {"axes": {"M": 9}, "inputs": {}}})");
  shell::write_file(
      folder / "set/solutions/scale/row_scale/named.json",
      older_solution("named", R"("language": "Python", "entry_point": "main.py::run", "build_commands": [])",
                     older_source));
  shell::write_file(folder / "set/solutions/scale/row_scale/bare.json",
                    older_solution("bare", R"("language": "Triton", "entry_point": "go")",
                                   R"([{"path": "k.py", "content": "def go(A, s):\n    return {}\n"}])"));
  shell::write_file(
      folder / "set/solutions/scale/row_scale/parts.json",
      older_solution(
          "parts", R"("language": "Python", "entry_point": "k.py::go")",
          R"([{"path": "k.py", "content": "import l\n"}, {"path": "l.py", "content": "y = 1\n"}])"));
  const auto report = imported_older(folder);
  REQUIRE(report.tasks.size() == 1);
  const auto& made = report.tasks.front();
  CHECK(report.notes.empty());
  CHECK(made.notes.empty());
  CHECK(made.category == "scale");
  CHECK(made.workloads == 2);
  REQUIRE(made.solutions == 3);

  const task t = load_task((folder / "tasks/row_scale/task.json").string());
  CHECK(t.op_type == "scale");
  CHECK(!t.inputs[1].scalar);  // drawn: a tensor with one element
  const std::string reference(t.reference->source.text());
  CHECK_MESSAGE(
      reference.find("_kevo_by_name = run\n\n\ndef run(A, s):\n"
                     "    _kevo_results = _kevo_by_name(A=A, s=s)\n"
                     "    return (_kevo_results[\"B\"], _kevo_results[\"total\"]) if ") != std::string::npos,
      reference);
  const std::string bare = shell::read_file(folder / "tasks/row_scale/solutions/bare.py");
  CHECK_MESSAGE(bare.find("_kevo_by_name = go\n") != std::string::npos, bare);
  CHECK(bare.find("torch.empty") == std::string::npos);  // it is not given its outputs
  CHECK(shell::read_file(folder / "tasks/row_scale/solutions/parts/main.py")
            .find("from sources.k import run as _kevo_solution") != std::string::npos);
  CHECK(shell::read_file(folder / "tasks/row_scale/solutions/parts/sources/k.py")
            .find("_kevo_by_name = go\n") != std::string::npos);
  CHECK(shell::read_file(folder / "tasks/row_scale/solutions/parts/sources/l.py") == "y = 1\n");
}

TEST_CASE("older data sets: workloads have several places, and may give a scalar's value") {
  for (const char* file : {"traces/workloads/scale/row_scale.jsonl", "traces/workloads/row_scale.jsonl",
                           "workloads/scale/row_scale.jsonl"}) {
    const shell::scratch folder;
    write_older_set(folder, older_line("a", older_number) + older_line("b", older_drawn), file);
    const auto report = imported_older(folder);
    CHECK_MESSAGE(report.imported() == 1, file);
    CHECK(report.notes.empty());
    CHECK(any_says(report.tasks.front().notes, "'s' is a scalar: it needs a value"));
    const task t = load_task((folder / "tasks/row_scale/task.json").string());
    CHECK(t.inputs[1].scalar);
    REQUIRE(t.workloads.size() == 1);
    CHECK(t.workloads.front().inputs.at("s").value == 2);
  }
}

TEST_CASE("a file of workloads may have the Definition's name where the Definition's file has another one") {
  const shell::scratch folder;
  shell::write_file(folder / "set/definitions/scale/short.json", older_definition);
  shell::write_file(folder / "set/traces/workloads/scale/row_scale.workload.jsonl",
                    older_line("a", older_drawn));
  shell::write_file(folder / "set/solutions/scale/short/own.json",
                    older_solution("own", R"("language": "Python", "entry_point": "run")", older_source));
  const auto report = imported_older(folder);
  CHECK(report.imported() == 1);
  CHECK(report.notes.empty());
  CHECK(report.tasks.front().solutions == 1);  // by the name, not by the file
}

TEST_CASE("older data sets: what is not imported is named, with the reason and the next step") {
  const shell::scratch folder;
  write_older_set(folder, older_line("a", older_drawn));
  const auto put = [&](const std::string& name, const std::string& spec,
                       const std::string& of = "row_scale") {
    shell::write_file(folder / ("set/solutions/scale/" + name + ".json"),
                      older_solution(name, spec, older_source, of));
  };
  put("cuda", R"("language": "CUDA", "entry_point": "main.py::run", "build_commands": ["nvcc x.cu"])");
  put("built", R"("language": "Python", "entry_point": "main.py::run", "build_commands": ["make"])");
  put("today", R"("language": "python", "entry_point": "main.py::run", "destination_passing_style": true)");
  put("lost", R"("language": "Python", "entry_point": "main.py::run")", "no_such");
  put("file_name", R"("language": "Python", "entry_point": "main.py::run")", "alone");
  std::string alone = older_definition;
  alone.replace(alone.find("row_scale"), 9, "lonely");
  shell::write_file(folder / "set/definitions/scale/alone.json", alone);
  put("lonely", R"("language": "Python", "entry_point": "main.py::run")", "lonely");
  shell::write_file(folder / "set/traces/workloads/other/no_definition.jsonl", older_line("a", older_drawn));
  const auto report = imported_older(folder);
  REQUIRE(report.tasks.size() == 2);
  const auto& without = report.tasks[0];
  CHECK(without.folder.empty());
  CHECK(any_says(without.notes, "alone.json: there are no workloads for this Definition (write them into "));
  CHECK(any_says(without.notes, "workloads/scale/alone.jsonl, one in a line)"));
  CHECK(any_says(without.notes, "1 solution not imported, because the Definition is not: lonely.json"));
  const auto& made = report.tasks[1];
  CHECK(made.solutions == 1);
  CHECK(shell::read_file(folder / "tasks/row_scale/solutions/today.py").find("torch.empty") !=
        std::string::npos);
  CHECK(any_says(made.notes, "solution cuda.json: it is written in 'CUDA', and"));
  CHECK(any_says(made.notes,
                 "solution built.json: it is written in 'Python' with commands that build it, and"));
  CHECK(any_says(made.notes, "with 'binding' and 'destination_passing_style'"));
  REQUIRE(report.notes.size() == 3);
  CHECK(any_says(report.notes,
                 "solutions/scale/lost.json: the data set has no Definition with the name "
                 "'no_such' (add the Definition"));
  CHECK(any_says(report.notes,
                 "solutions/scale/file_name.json: the data set has no Definition with the name "
                 "'alone' (the Definition in the file alone.json has the name 'lonely'"));
  CHECK(any_says(report.notes, "traces/workloads/other/no_definition.jsonl: no Definition has the name"));

  // The rest of the data set does not concern a Definition alone.
  const auto one = import_flashinfer((folder / "set/definitions/scale/row_scale.json").string(),
                                     (folder / "one").string(), {.check = false});
  CHECK(one.imported() == 1);
  CHECK(one.notes.empty());
}

TEST_CASE("a task file in the older form is refused with the command that converts it") {
  const shell::scratch folder;
  shell::write_file(folder / "row_scale.json", older_definition);
  CHECK_THROWS_WITH_AS(load_task((folder / "row_scale.json").string()),
                       doctest::Contains("older form; today the key is 'op_type' (kevo import flashinfer"),
                       error);
}

TEST_CASE("a Definition has the older form if it has 'type' and no 'op_type'") {
  using importing::has_older_form;
  CHECK(has_older_form({{"name", "x"}, {"type", "gemm"}}));
  CHECK(!has_older_form({{"name", "x"}, {"op_type", "gemm"}}));
  CHECK(!has_older_form({{"name", "x"}, {"type", "gemm"}, {"op_type", "gemm"}}));
  CHECK(!has_older_form({{"name", "x"}, {"type", json::object()}}));
}
