#include "src/export/export.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <map>
#include <set>
#include <sstream>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/expression.hpp>

#include "src/base/tensor_file/tensor_file.hpp"
#include "src/task/task_loader.hpp"
#include "tests/journal/random_run.hpp"

using namespace kevo_test;  // NOLINT(google-build-using-namespace)
namespace json = boost::json;
namespace files = std::filesystem;

namespace {

kevo::task matmul() {
  return kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/matmul/task.yaml");
}

/// A run on `t`: candidate 0 is a seed, 1 its valid child, 2 and 3 invalid children, 4 never evaluated.
struct small_run {
  scratch_folder folder;
  kevo::task task = matmul();
  kevo::journal record = kevo::journal::create(folder / "run", example_header());
  std::uint64_t sequence = 0;
  kevo::ticket job = 0;

  small_run() {
    const std::string odd_text = "void run();  // \"quoted\", comma\n";
    add(0, kevo::single_file_program("cpp", "kernel.cpp", odd_text));
    tell(0, evaluated(kevo::outcome::valid, 1.0), kevo::archive_status::new_cell);
    add(1, kevo::program{"cpp", {{"kernel.cpp", "int x;\n"}, {"empty.hpp", ""}}}, {0},
        "BM 32 -> 64, \"unroll\"\nmore");
    tell(1, evaluated(kevo::outcome::valid, 2.0), kevo::archive_status::improved);
    tell(1, evaluated(kevo::outcome::valid, 4.0), kevo::archive_status::improved);
    add(2, kevo::single_file_program("cpp", "kernel.cpp", "int y;\n"), {1}, "fails \xff hidden");
    auto wrong = evaluated(kevo::outcome::incorrect, 9.0);
    for (auto& w : wrong.workloads) w.outcome = w.hidden ? kevo::outcome::incorrect : kevo::outcome::valid;
    wrong.feedback = "a hidden workload failed \xfe";
    tell(2, wrong, kevo::archive_status::rejected);
    add(3, kevo::single_file_program("cpp", "kernel.cpp", "int z\n"), {0, 1}, "does not build");
    auto broken = evaluated(kevo::outcome::build_failed, 0);
    broken.workloads.clear();
    tell(3, broken, kevo::archive_status::rejected);
    add(4, kevo::single_file_program("cpp", "kernel.cpp", "int w;\n"), {1}, "");
    kevo::variation_asked last{++job, {{1}, {}, kevo::memory_scope::both, false}, 1};
    emit(last);
    kevo::variation_told nothing{};
    nothing.job = job;
    nothing.summary = "nothing to exchange";
    emit(nothing);
    record.commit();
  }

  void emit(decltype(kevo::event::payload) what) {
    record.consume({++sequence, 0.5 * static_cast<double>(sequence), std::move(what)});
  }
  void add(kevo::candidate_id id, kevo::program p, std::vector<kevo::candidate_id> parents = {},
           std::string summary = {}) {
    const auto shared = std::make_shared<const kevo::program>(std::move(p));
    record.store().put_program(kevo::id_of(*shared), shared);
    if (parents.empty()) return emit(kevo::seeded{id, kevo::id_of(*shared)});
    emit(kevo::variation_asked{++job, {parents, {0}, kevo::memory_scope::both, false}, 0});
    kevo::variation_told told{};
    told.job = job;
    told.program = kevo::id_of(*shared);
    told.candidate = id;
    told.summary = std::move(summary);
    told.cost = {0.25, 0, 0.5, 10, 20};
    emit(told);
  }
  kevo::evaluation evaluated(kevo::outcome o, double speedup) const {
    kevo::evaluation e;
    e.outcome = o;
    e.speedup = e.score = o == kevo::outcome::valid ? speedup : 0;
    e.speedup_interval = {e.speedup * 0.9, e.speedup * 1.1};
    e.stage = kevo::evaluation_stage::timed_full;
    e.baseline = "seed";
    e.device = "some CPU";
    e.backend = "cpu";
    e.protocol = "1";
    e.measures = {{"code_bytes", 100 * speedup}};
    e.context = {{"compiler", "g++ 12"}};
    for (const auto& w : task.workloads) {
      kevo::workload_result r;
      r.uuid = w.uuid;
      r.axes = w.axes;
      r.hidden = w.hidden;
      r.outcome = o;
      if (!w.hidden && speedup > 0) {
        r.baseline_ns = 8e6;
        r.time_ns = 8e6 / speedup;
        r.speedup = speedup;
        r.samples = {{r.time_ns, r.baseline_ns}};
      }
      e.workloads.push_back(std::move(r));
    }
    return e;
  }
  void tell(kevo::candidate_id id, kevo::evaluation e, kevo::archive_status status) {
    emit(kevo::evaluation_told{++job,
                               id,
                               kevo::evaluation_stage::timed_full,
                               std::make_shared<const kevo::evaluation>(std::move(e)),
                               {status, 0.5}});
  }
};

/// A reader of RFC 4180, written apart from the writer.
std::vector<std::vector<std::string>> read_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows(1, {""});
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    std::string& field = rows.back().back();
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += c, ++i;
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      rows.back().emplace_back();
    } else if (!quoted && c == '\r') {
      continue;
    } else if (!quoted && c == '\n') {
      rows.push_back({""});
    } else {
      field += c;
    }
  }
  rows.pop_back();
  return rows;
}

std::vector<json::object> read_lines(const std::string& text) {
  std::vector<json::object> all;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) all.push_back(json::parse(line).as_object());
  return all;
}
std::string read_file(const files::path& path) {
  std::ifstream in(path);
  return {std::istreambuf_iterator<char>(in), {}};
}
json::object read_json(const files::path& path) {
  return json::parse(read_file(path)).as_object();
}
std::string text(const json::value& v) {
  return std::string(v.as_string());
}

}  // namespace

TEST_CASE("csv: one row a candidate, nothing for what does not exist") {
  small_run run;
  std::ostringstream out;
  CHECK(kevo::export_csv(run.record, out) == 5);
  const auto rows = read_csv(out.str());
  REQUIRE(rows.size() == 6);
  std::map<std::string, std::size_t> column;
  for (std::size_t i = 0; i < rows[0].size(); ++i) column[rows[0][i]] = i;
  for (const auto& row : rows) CHECK(row.size() == rows[0].size());
  CHECK(rows[2][column["speedup"]] == "4");
  CHECK(rows[2][column["evaluations"]] == "2");
  CHECK(rows[2][column["operator"]] == "tune");
  CHECK(rows[2][column["summary"]] == "BM 32 -> 64, \"unroll\"\nmore");
  CHECK(rows[2][column["measure_code_bytes"]] == "400");
  CHECK(rows[2][column["vary_s"]] == "0.25");
  CHECK(rows[4][column["parents"]] == "0 1");
  CHECK(rows[4][column["outcome"]] == "build_failed");
  CHECK(rows[4][column["speedup"]].empty());
  CHECK(rows[5][column["outcome"]].empty());
  CHECK(rows[5][column["evaluations"]] == "0");
  CHECK(rows[3][column["summary"]] == "fails \xef\xbf\xbd hidden");
}

TEST_CASE(
    "csv: a text that a spreadsheet would calculate is a text, and control characters are spelled out") {
  small_run run;
  const char* summaries[] = {"=HYPERLINK(\"x\")", "+1", "-1", "@sum", "\t=1", "\x1b[2Jgone"};
  kevo::candidate_id id = 5;
  for (const char* summary : summaries)
    run.add(
        id++,
        kevo::single_file_program("cpp", "kernel.cpp", std::string("int ") + summary[1] + ";\n" + summary),
        {1}, summary);
  run.record.commit();
  std::ostringstream out;
  kevo::export_csv(run.record, out);
  const auto rows = read_csv(out.str());
  const auto column =
      static_cast<std::size_t>(std::find(rows[0].begin(), rows[0].end(), "summary") - rows[0].begin());
  CHECK(rows[6][column] == "'=HYPERLINK(\"x\")");
  CHECK(rows[7][column] == "'+1");
  CHECK(rows[8][column] == "'-1");
  CHECK(rows[9][column] == "'@sum");
  CHECK(rows[10][column] == "'\t=1");
  CHECK(rows[11][column] == "\\x1b[2Jgone");
}

TEST_CASE("jsonl: everything of a candidate in one object") {
  small_run run;
  std::ostringstream out;
  CHECK(kevo::export_jsonl(run.record, out) == 5);
  const auto lines = read_lines(out.str());
  REQUIRE(lines.size() == 5);
  const auto& child = lines[1];
  CHECK(child.at("parents") == json::value(json::array{0}));
  CHECK(child.at("files").as_array().size() == 2);
  CHECK(text(child.at("files").at(0).at("text")) == "int x;\n");
  CHECK(text(child.at("program")).size() == 32);
  const auto& evaluations = child.at("evaluations").as_array();
  REQUIRE(evaluations.size() == 2);
  CHECK(evaluations[0].at("speedup").to_number<double>() == 2.0);
  CHECK(evaluations[1].at("speedup").to_number<double>() == 4.0);
  CHECK(evaluations[1].at("workloads").at(0).at("pairs").as_array().size() == 1);
  CHECK(text(evaluations[1].at("archive").at("status")) == "improved");
  CHECK(lines[4].at("evaluations").as_array().empty());
}

TEST_CASE("steps: what a trainer learns from, without the future of the parents") {
  small_run run;
  run.tell(0, run.evaluated(kevo::outcome::valid, 8.0),
           kevo::archive_status::improved);  // after all children
  run.record.commit();
  std::ostringstream out;
  CHECK(kevo::export_steps(run.record, out) == 5);
  const auto lines = read_lines(out.str());
  const auto& first = lines[0];
  CHECK(text(first.at("operator")) == "tune");
  CHECK(text(first.at("ended")) == "candidate");
  CHECK(first.at("parents").at(0).at("result").at("speedup").to_number<double>() == 1.0);
  CHECK(first.at("reward").at("parent_speedup").to_number<double>() == 1.0);
  CHECK(first.at("reward").at("speedup_over_parent").to_number<double>() == 4.0);
  CHECK(text(first.at("reward").at("archive_status")) == "improved");
  CHECK(text(first.at("child").at("files").at(0).at("text")) == "int x;\n");
  CHECK(first.at("cost").at("tokens_out") == 20);
  const auto& wrong = lines[1];
  CHECK(wrong.at("reward").at("valid") == false);
  CHECK(wrong.at("reward").at("speedup_over_parent").to_number<double>() == 0.0);
  CHECK(lines[3].at("reward").at("evaluated") == false);
  CHECK(lines[4].at("child").is_null());
  CHECK(text(lines[4].at("ended")) == "nothing");
}

TEST_CASE("flashinfer: the fields, words and rules of their schema") {
  small_run run;
  const files::path root = run.folder / "set";
  const auto summary = kevo::export_flashinfer(run.record, run.task, root.string());
  CHECK(summary.solutions == 4);

  const auto definition = read_json(root / "definitions/gemm/matmul.json");
  CHECK(text(definition.at("name")) == "matmul");
  CHECK(text(definition.at("op_type")) == "gemm");
  CHECK(text(definition.at("axes").at("M").at("type")) == "var");
  CHECK(definition.at("inputs").at("A").at("shape") == json::value({"M", "K"}));
  CHECK(text(definition.at("outputs").at("C").at("dtype")) == "float32");
  CHECK(text(definition.at("reference")).rfind("def run(", 0) == 0);
  for (const auto& c : definition.at("constraints").as_array()) CHECK_FALSE(text(c).empty());

  std::set<std::string> visible;
  for (const auto& w : run.task.workloads) {
    if (!w.hidden) visible.insert(w.uuid);
  }
  const auto workloads = read_lines(read_file(root / "workloads/gemm/matmul.jsonl"));
  CHECK(workloads.size() == visible.size());
  for (const auto& w : workloads) {
    CHECK(w.at("solution").is_null());
    CHECK(w.at("evaluation").is_null());
    CHECK(visible.contains(text(w.at("workload").at("uuid"))));
    CHECK(w.at("workload").at("axes").as_object().size() == 3);
    CHECK(text(w.at("workload").at("inputs").at("A").at("type")) == "random");
  }

  std::map<std::string, json::object> solutions;
  for (const auto& entry : files::recursive_directory_iterator(root / "solutions")) {
    if (!entry.is_regular_file()) continue;
    auto s = read_json(entry.path());
    CHECK(text(s.at("definition")) == "matmul");
    CHECK(text(s.at("spec").at("language")) == "cpp");
    CHECK(s.at("spec").at("target_hardware") == json::value(json::array{"cpu"}));
    CHECK(s.at("spec").at("destination_passing_style") == true);
    CHECK(text(s.at("spec").at("entry_point")) == "kernel.cpp::run");
    for (const auto& f : s.at("sources").as_array()) CHECK_FALSE(text(f.at("content")).empty());
    solutions[text(s.at("name"))] = s;
  }
  CHECK(solutions.size() == 4);

  const auto traces = read_lines(read_file(root / "traces/gemm/matmul.jsonl"));
  CHECK(traces.size() == summary.traces);
  std::map<std::string, std::map<std::string, int>> statuses;
  for (const auto& t : traces) {
    CHECK(solutions.contains(text(t.at("solution"))));
    CHECK(visible.contains(text(t.at("workload").at("uuid"))));
    const auto& e = t.at("evaluation").as_object();
    const auto status = text(e.at("status"));
    ++statuses[text(t.at("solution"))][status];
    CHECK(e.contains("correctness") == (status == "PASSED" || status == "INCORRECT_NUMERICAL"));
    CHECK(e.contains("performance") == (status == "PASSED"));
    CHECK(text(e.at("environment").at("hardware")) == "some CPU");
    CHECK(text(e.at("timestamp")).substr(0, 2) == "20");
  }
  const int each = static_cast<int>(visible.size());
  CHECK(statuses["example_1"]["PASSED"] == each);
  CHECK(statuses["example_2"]["INCORRECT_NUMERICAL"] ==
        each);  // fast where it is seen, wrong where it is hidden
  CHECK(statuses["example_2"]["PASSED"] == 0);
  CHECK(statuses["example_3"]["COMPILE_ERROR"] == each);
  for (const auto& t : traces) {
    if (text(t.at("solution")) != "example_1") continue;
    CHECK(t.at("evaluation").at("performance").at("latency_ms").to_number<double>() == doctest::Approx(2.0));
    CHECK(t.at("evaluation").at("performance").at("speedup_factor").to_number<double>() == 4.0);
  }

  kevo::flashinfer_options best;
  best.top = 1;
  CHECK(kevo::export_flashinfer(run.record, run.task, (run.folder / "best"), best).solutions == 1);
  CHECK(files::exists(files::path(run.folder / "best") / "solutions/kevo/gemm/matmul/example_1.json"));
  if (const char* keep = std::getenv("KEVO_KEEP_FLASHINFER")) {
    files::copy(root, keep,
                files::copy_options::recursive);  // to be read by their own classes, see docs/export.md
  }
}

TEST_CASE("flashinfer: what their schema has no word for is an error that says so") {
  small_run run;
  auto odd = run.task;
  odd.inputs[0].dtype = "float64";
  CHECK_THROWS_WITH_AS(kevo::export_flashinfer(run.record, odd, run.folder / "set"),
                       doctest::Contains("float64"), kevo::error);
  run.add(5, kevo::single_file_program("fortran", "kernel.f90", "end\n"), {0}, "");
  run.tell(5, run.evaluated(kevo::outcome::valid, 1), kevo::archive_status::rejected);
  run.record.commit();
  CHECK_THROWS_WITH_AS(kevo::export_flashinfer(run.record, run.task, run.folder / "set"),
                       doctest::Contains("fortran"), kevo::error);
  std::ofstream(run.folder / "file").close();
  try {
    kevo::export_flashinfer(run.record, run.task, run.folder / "file");
    FAIL("wrote into a file");
  } catch (const kevo::error& e) {
    CHECK(e.code() == kevo::error_code::environment);
  }
}

TEST_CASE(
    "flashinfer: constraints in Python's words, native references as comments, sizes that are constant") {
  small_run run;
  auto t = run.task;
  t.constraints.clear();
  t.constraints.push_back(kevo::expression::parse("M >= 1 && N % 4 == 0 || !(K != 7)"));
  t.constraints.push_back(kevo::expression::parse("M / 2 > 0"));
  t.constraints.push_back(kevo::expression::parse("M > 1 ? 1 : 0"));
  t.extra["constraints"] = "len == indptr[-1].item()";
  t.axes[2].value = 64;
  kevo::export_flashinfer(run.record, t, run.folder / "set");
  const auto definition = read_json(files::path(run.folder / "set") / "definitions/gemm/matmul.json");
  const auto& constraints = definition.at("constraints").as_array();
  REQUIRE(constraints.size() == 3);
  CHECK(text(constraints[0]).find("and") != std::string::npos);
  CHECK(text(constraints[0]).find("not") != std::string::npos);
  CHECK(text(constraints[0]).find("!=") != std::string::npos);
  CHECK(text(constraints[1]).find("//") != std::string::npos);
  CHECK(text(constraints[2]) == "len == indptr[-1].item()");
  CHECK(definition.at("axes").at("K") ==
        json::value({{"type", "const"}, {"value", 64}, {"description", "columns of A and rows of B"}}));
  std::istringstream lines(text(definition.at("reference")));
  int number = 0;
  for (std::string line; std::getline(lines, line); ++number) {
    if (number >= 3 && !line.empty()) CHECK(line[0] == '#');
  }
  CHECK(number > 10);
}

TEST_CASE("flashinfer: an extent that is an expression is an axis with its value and a constraint") {
  small_run run;
  auto t = run.task;
  t.inputs[0].shape[0] = "2 * M / 2";
  kevo::export_flashinfer(run.record, t, run.folder / "set");
  const files::path root = run.folder / "set";
  const auto definition = read_json(root / "definitions/gemm/matmul.json");
  const std::string name = t.inputs[0].name + "_0";
  CHECK(text(definition.at("axes").at(name).at("type")) == "var");
  CHECK(text(definition.at("inputs").at(t.inputs[0].name).at("shape").at(0)) == name);
  const auto& constraints = definition.at("constraints").as_array();
  REQUIRE(!constraints.empty());
  CHECK(text(constraints.back()) == name + " == 2 * M // 2");
  std::ifstream lines(root / "workloads/gemm/matmul.jsonl");
  std::string line;
  REQUIRE(std::getline(lines, line));
  const auto axes = json::parse(line).at("workload").at("axes");
  CHECK(axes.at(name) == axes.at("M"));
}

TEST_CASE("flashinfer: a computed axis takes no name that an axis has") {
  small_run run;
  auto t = run.task;
  t.inputs[0].shape[0] = "2 * M";
  t.axes.push_back({t.inputs[0].name + "_0", 7, ""});
  kevo::export_flashinfer(run.record, t, run.folder / "set");
  const auto definition = read_json(files::path(run.folder / "set") / "definitions/gemm/matmul.json");
  CHECK(definition.at("axes").at(t.inputs[0].name + "_0").at("value") == 7);
  CHECK(text(definition.at("inputs").at(t.inputs[0].name).at("shape").at(0)) == t.inputs[0].name + "_0_");
}

TEST_CASE("flashinfer: inputs from files travel with their contents") {
  small_run run;
  auto t = run.task;
  auto& w =
      *std::find_if(t.workloads.begin(), t.workloads.end(), [](const auto& one) { return !one.hidden; });
  kevo::tensor_contents contents{"b.npy", {1, 2}, std::vector<std::byte>(8)};
  contents.bytes[3] = std::byte{0x3f};
  contents.bytes[2] = std::byte{0x80};  // 1, 0
  w.inputs["B"] = {"file", 0, std::make_shared<const kevo::tensor_contents>(contents), true, false};
  kevo::export_flashinfer(run.record, t, run.folder / "set");
  const files::path root = run.folder / "set";
  for (const auto& line : read_lines(read_file(root / "workloads/gemm/matmul.jsonl"))) {
    const auto& inputs = line.at("workload").at("inputs");
    CHECK(text(inputs.at("A").at("type")) == "random");
    const bool own = text(line.at("workload").at("uuid")) == w.uuid;
    CHECK(text(inputs.at("B").at("type")) == (own ? "safetensors" : "random"));
    if (!own) continue;
    const auto path = text(inputs.at("B").at("path"));
    const auto found =
        kevo::parse_safetensors(read_file(root / path), text(inputs.at("B").at("tensor_key")), path);
    CHECK(found.dtype == "float32");
    CHECK(found.shape == contents.shape);
    CHECK(found.bytes == contents.bytes);
  }
}

TEST_CASE("a random run exports in every format") {
  const scratch_folder folder;
  auto record = kevo::journal::create(folder / "run", example_header());
  event_maker maker(3, true);
  for (int i = 0; i < 400; ++i) feed(record, maker.next());
  record.commit();
  std::ostringstream out;
  const auto rows = kevo::export_csv(record, out);
  CHECK(rows == record.candidate_count());
  out.str("");
  CHECK(kevo::export_jsonl(record, out) == rows);
  CHECK(read_lines(out.str()).size() == rows);
  out.str("");
  const auto steps = kevo::export_steps(record, out);
  CHECK(read_lines(out.str()).size() == steps);
  CHECK(kevo::export_flashinfer(record, matmul(), folder / "set").solutions > 0);
}
