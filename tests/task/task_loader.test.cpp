#include "src/task/task_loader.hpp"

#include <filesystem>
#include <fstream>
#include <new>
#include <string>
#include <unistd.h>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/task_extents.hpp>
#include <kevo/task_id.hpp>

#include "src/base/settings/json.hpp"
#include "src/base/settings/yaml.hpp"
#include "src/task/source_file.hpp"

namespace {

const std::string good =
    "name: matmul\n"                                                                       // 1
    "op_type: gemm\n"                                                                      // 2
    "axes:    {M: {type: var}, N: {type: var}, K: {type: const, value: 64}}\n"             // 3
    "inputs:  {A: {shape: [M, K], dtype: float32}, B: {shape: [K, N], dtype: float32}}\n"  // 4
    "outputs: {C: {shape: [M, N], dtype: float32}}\n"                                      // 5
    "reference: {language: cpp, file: reference.cpp}\n"                                    // 6
    "generate: {A: normal, B: \"uniform(0, 1.5)\"}\n"                                      // 7
    "constraints: [\"M >= N\"]\n"                                                          // 8
    "workloads:\n"                                                                         // 9
    "  - {uuid: square, axes: {M: 512, N: 512}, cache: cold, weight: 2}\n"                 // 10
    "  - {uuid: odd, axes: {M: 383, N: 129}, hidden: true}\n"                              // 11
    "tolerance: {rule: accumulation, scale: C_abs, length: K}\n"                           // 12
    "cost: {flops: \"2*M*N*K\", bytes: \"4*(M*K + K*N + M*N)\"}\n"                         // 13
    "seeds: [seed.cpp]\n"                                                                  // 14
    "baselines: [{name: seed, file: seed.cpp}, {name: blas, file: b.cpp, link: [openblas], optional: "
    "true}]\n";  // 15

kevo::program fake_source(const std::string& path, const std::string& language,
                          const kevo::error_place& named) {
  if (path == "missing.cpp") throw kevo::error(kevo::error_code::input, "the file does not exist", named);
  return kevo::program_of(language.empty() ? "cpp" : language, "// " + path);
}

kevo::task decode(const std::string& text) {
  return kevo::decode_task(kevo::parse_yaml(text, "task.yaml"), fake_source);
}

// The good task with one line replaced; line 0 appends.
std::string with_line(int number, const std::string& line) {
  if (number == 0) return good + line + "\n";
  std::string result;
  int at = 1;
  for (std::size_t start = 0; start < good.size(); ++at) {
    const std::size_t end = good.find('\n', start);
    result += (at == number ? line : good.substr(start, end - start)) + "\n";
    start = end + 1;
  }
  return result;
}

struct folder {
  folder() : path(std::filesystem::temp_directory_path() / ("kevo-task-" + std::to_string(getpid()))) {
    std::filesystem::create_directories(path);
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() { std::filesystem::remove_all(path); }
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path / name).parent_path());
    std::ofstream(path / name) << text;
    return (path / name).string();
  }
  std::filesystem::path path;
};

}  // namespace

TEST_CASE("a task of kevo's own format") {
  const auto t = decode(good);
  CHECK(t.name == "matmul");
  REQUIRE(t.axes.size() == 3);
  CHECK_FALSE(t.axes[0].value);
  CHECK(t.axes[2].value == 64);
  REQUIRE(t.inputs.size() == 2);
  CHECK(t.inputs[1].shape == std::vector<std::string>{"K", "N"});
  CHECK(t.inputs[1].generate == kevo::generator{"uniform", 0, 1.5});
  CHECK(t.reference->language == "cpp");
  REQUIRE(t.workloads.size() == 2);
  CHECK(t.workloads[0].axes == std::map<std::string, std::int64_t>{{"M", 512}, {"N", 512}});
  CHECK(t.workloads[0].cache == "cold");
  CHECK(t.workloads[0].weight == 2);
  CHECK(t.workloads[1].hidden);
  const auto rule = tolerance_for(t, t.workloads[0], "C");
  CHECK(rule.rule == "accumulation");
  CHECK(rule.factor == 4);
  CHECK(rule.length->text() == "K");
  CHECK(t.cost.flops->text() == "2*M*N*K");
  CHECK(t.seeds.front().files.front().path == "kernel.cpp");
  REQUIRE(t.baselines.size() == 2);
  CHECK(t.baselines[1].link == std::vector<std::string>{"openblas"});
  CHECK(t.baselines[1].optional);
}

TEST_CASE("integers may lie near a mean, within their type, if mean and deviation are said") {
  const auto with = [](const std::string& generator) {
    return "name: h\naxes: {N: {type: var}}\ninputs: {X: {shape: [N], dtype: uint8}}\n"
           "outputs: {c: {shape: [N], dtype: int32}}\nreference: {file: r.cpp}\nseeds: [a.cpp]\n"
           "generate: {X: '" +
           generator + "'}\nworkloads: [{uuid: a, axes: {N: 3}}]\n";
  };
  CHECK(decode(with("normal(100.5, 0.13)")).inputs[0].generate == kevo::generator{"normal", 100.5, 0.13});
  CHECK_THROWS_AS(decode(with("normal")), kevo::error);
  CHECK_THROWS_AS(decode(with("normal(300, 1)")), kevo::error);
  CHECK_THROWS_AS(decode(with("normal(-1, 1)")), kevo::error);
  CHECK_THROWS_AS(decode(with("uniform(0, 9)")), kevo::error);
}

TEST_CASE(
    "shapes and generators are expressions of the axes, with the values that each workload gives them") {
  const auto with = [](const std::string& shape, const std::string& rows, const std::string& columns,
                       const std::string& axes) {
    return "name: s\naxes: {R: {type: var}, C: {type: var}, Z: {type: var}}\ninputs:\n  start: {shape: ['" +
           shape +
           "'], dtype: int32}\n  column: {shape: [Z], dtype: int32}\n  x: {shape: ['max(C, R) * 2'], dtype: "
           "float32}\noutputs: {y: {shape: [R], dtype: float32}}\nreference: {file: r.cpp}\n"
           "generate: {start: '" +
           rows + "', column: '" + columns + "'}\nworkloads: [{uuid: a, axes: " + axes + "}]\n";
  };
  const std::string axes = "{R: 10, C: 7, Z: 30}";
  const auto t = decode(with("R + 1", "offsets(Z, power_law(1.5), C)", "columns(start, C)", axes));
  const auto values = axis_values(t, t.workloads[0]);
  CHECK(extents(t.inputs[0], values) == std::vector<std::int64_t>{11});
  CHECK(extents(t.inputs[2], values) == std::vector<std::int64_t>{20});
  const auto rows = resolved(t.inputs[0].generate, values);
  CHECK(rows.kind == "offsets");
  CHECK(rows.a == 30);
  CHECK(rows.b == 7);
  CHECK(rows.law == "power_law");
  CHECK(rows.parameter == 1.5);
  const auto columns = resolved(t.inputs[1].generate, values);
  CHECK(columns.rows == "start");
  CHECK(columns.a == 7);
  CHECK_NOTHROW(decode(with("R + 1", "offsets(Z, equal)", "columns(start, C)", axes)));

  const auto refused = [&](const std::string& text, const std::string& says, const std::string& key) {
    try {
      decode(text);
      FAIL_CHECK("accepted: ", text);
    } catch (const kevo::error& e) {
      CHECK(e.code() == kevo::error_code::input);
      CHECK_MESSAGE(e.message().find(says) != std::string::npos, e.what());
      CHECK_MESSAGE(e.place().key == key, e.what());
    }
  };
  refused(with("R + Q", "offsets(Z)", "integers(0, 1)", axes), "'Q' is not an axis", "inputs.start.shape[0]");
  refused(with("R - 10", "offsets(Z)", "integers(0, 1)", axes), "extent 0", "workloads[0].axes");
  refused(with("R / (C - 7)", "offsets(Z)", "integers(0, 1)", axes), "division by zero", "workloads[0].axes");
  refused(with("R + 1", "offsets(Y)", "integers(0, 1)", axes), "'Y' is not an axis", "generate.start");
  refused(with("R + 1", "offsets(Z - 31)", "integers(0, 1)", axes), "0 or greater", "workloads[0].axes");
  refused(with("R + 1", "offsets(Z, powerlaw(1))", "integers(0, 1)", axes), "unknown law", "generate.start");
  refused(with("R + 1", "offsets(Z, power_law)", "integers(0, 1)", axes), "does not take 0",
          "generate.start");
  refused(with("R + 1", "offsets(Z, power_law(0))", "integers(0, 1)", axes), "exponent", "generate.start");
  refused(with("R + 1", "offsets(Z, uniform, 2)", "integers(0, 1)", axes), "cannot hold 30",
          "workloads[0].axes");
  refused(with("R - 9", "offsets(Z, uniform)", "integers(0, 1)", axes),
          "an input of one offset has no rows, and so cannot hold 30 elements", "workloads[0].axes");
  refused(with("R + 1", "offsets(Z)", "columns(start, C)", axes), "a row may get 30", "workloads[0].axes");
  refused(with("R + 1", "offsets(Z - 1, equal)", "columns(start, C)", axes), "end at 29",
          "workloads[0].axes");
  refused(with("R + 1", "integers(0, 1)", "columns(start, C)", axes), "need offsets", "workloads[0].axes");
  refused(with("R + 1", "offsets(Z)", "columns(begin, C)", axes), "'begin' is not an input",
          "generate.column");
  refused(with("R + 1", "offsets(Z)", "columns(x, C)", axes), "cannot hold the offsets", "generate.column");
  refused(with("R + 1", "offsets(Z)", "zipf(0, C)", axes), "does not take 2", "generate.column");
  refused(with("R + 1", "offsets(Z)", "integers(C, R - 9)", axes), "a <= b", "workloads[0].axes");
  refused(with("R + 1", "offsets(Z)", "integers(0, 1 << 40)", axes), "do not fit into int32",
          "workloads[0].axes");
}

TEST_CASE("what is left out gets sensible values") {
  const auto t = decode(
      "name: h\naxes: {N: {type: var}, B: {type: const, value: 9}}\n"
      "inputs: {X: {shape: [N], dtype: uint8}, eps: {shape: null, dtype: float32}}\n"
      "outputs: {c: {shape: [B], dtype: int32}, m: {shape: [], dtype: float32}}\n"
      "reference: {file: r.cpp}\nseeds: [a.cpp, {file: b.x, language: cpp}]\n"
      "workloads: [{uuid: a, axes: {N: 3}, inputs: {X: {type: random}, eps: {type: scalar, value: 1e-6}},\n"
      "  tolerance: {m: {max_rtol: 0.5}}}]\n");
  CHECK(t.inputs[0].generate == kevo::generator{"integers", 0, 127});
  CHECK(t.inputs[1].scalar);
  CHECK(t.workloads[0].inputs.at("eps").value == 1e-6);
  CHECK(tolerance_for(t, t.workloads[0], "c").rule == "exact");
  CHECK(tolerance_for(t, t.workloads[0], "m").max_rtol == 0.5);
  CHECK(t.outputs[1].shape.empty());
  CHECK_FALSE(t.outputs[1].scalar);
  REQUIRE(t.baselines.size() == 1);
  CHECK(t.baselines[0].name == "seed");
}

TEST_CASE("bad tasks are refused with line, column, key and hint") {
  struct row {
    int replaced;
    std::string line;
    int at_line;
    int at_column;
    std::string key;
    std::string says;
    std::string hint;
  };
  const std::vector<row> table = {
      {0, "tolerances: 3", 16, 1, "tolerances", "unknown key", "'tolerance'"},
      {1, "name: ''", 1, 7, "name", "needs a name", ""},
      {1, "nam: x", 1, 1, "name", "missing", "'nam'"},
      {1, "name: 3", 1, 7, "name", "expected text", "quotes"},
      {0, "check: {file: c.cpp}", 16, 8, "check", "not supported yet", ""},
      {3, "axes: {}", 3, 7, "axes", "at least one", ""},
      {3, "axes: {M: {type: var}, N: {type: var}, K: {type: cons, value: 1}}", 3, 50, "axes.K.type", "one of",
       "'const'"},
      {3, "axes: {M: {type: var}, N: {type: var}, K: {type: const}}", 3, 43, "axes.K.value", "missing", ""},
      {3, "axes: {M: {type: var}, N: {type: var}, K: {type: const, value: 0}}", 3, 64, "axes.K.value",
       "at least 1", ""},
      {3, "axes: {M: {type: var, value: 3}}", 3, 30, "axes.M.value", "variable axis", "const"},
      {3, "axes: {M: {type: expr, expression: 'N'}}", 3, 18, "axes.M.type", "not supported yet", ""},
      {3, "axes: {M-1: {type: var}}", 3, 13, "axes.M-1", "not a valid name for an axis", ""},
      {4, "inputs: {A: {shape: [M, KK], dtype: float32}}", 4, 25, "inputs.A.shape[1]", "'KK' is not an axis",
       ""},
      {4, "inputs: {A: {shape: [M, 4], dtype: float32}}", 4, 25, "inputs.A.shape[1]", "name of an axis",
       "const, value: 4"},
      {4, "inputs: {A: {shape: M, dtype: float32}}", 4, 21, "inputs.A.shape", "expected a list", ""},
      {4, "inputs: {A: {shape: [M], dtype: float23}}", 4, 33, "inputs.A.dtype", "unknown dtype", "'float32'"},
      {4, "inputs: {A: {shape: [M], dtype: float8_e5m2}}", 4, 33, "inputs.A.dtype", "not supported yet", ""},
      {4, "inputs: {A: {shape: [M], dtype: float32, mutable: true}}", 4, 51, "inputs.A.mutable",
       "not supported yet", ""},
      {4, "inputs: {A: {dtype: float32}}", 4, 13, "inputs.A.shape", "missing", ""},
      {5, "outputs: {A: {shape: [M], dtype: float32}}", 5, 14, "outputs.A", "is also the name of an input",
       ""},
      {5, "outputs: {C: {shape: [M], dtype: float32, alias: A}}", 5, 50, "outputs.C.alias",
       "not supported yet", ""},
      {5, "outputs: {C: {shape: null, dtype: float32}}", 5, 22, "outputs.C.shape", "not supported yet", ""},
      {6, "reference: {language: rust, file: r.rs}", 6, 23, "reference.language", "one of", ""},
      {6, "reference: x = 1", 6, 12, "reference", "must define 'run'", "C++ file"},
      {6, "reference: {language: cpp, file: missing.cpp}", 6, 34, "reference.file", "does not exist", ""},
      {6, "other: 1", 1, 1, "reference", "missing", ""},
      {7, "generate: {A: norma}", 7, 15, "generate.A", "unknown generator", "'normal'"},
      {7, "generate: {X: normal}", 7, 15, "generate.X", "not an input", ""},
      {7, "generate: {A: 'uniform(1, 0)'}", 7, 15, "generate.A", "a < b", ""},
      {7, "generate: {A: 'uniform(1'}", 7, 15, "generate.A", "expected ',' or ')'", ""},
      {7, "generate: {A: 'uniform(1, 2, 3)'}", 7, 15, "generate.A", "does not take 3", ""},
      {7, "generate: {A: permutation}", 7, 15, "generate.A", "integer type", ""},
      {8, "constraints: [\"M >= NN\"]", 8, 21, "constraints[0]", "'NN' is not an axis", ""},
      {8, "constraints: [\"M >=\"]", 8, 20, "constraints[0]", "a value is missing", ""},
      {8, "constraints: [\"M > N\"]", 10, 26, "workloads[0].axes", "violates the constraint 'M > N'",
       "line 8"},
      {9, "workload:", 1, 1, "workloads", "at least one", ""},
      {10, "  - {uuid: square, axes: {M: 512, N: 512}, hidden: true}", 10, 3, "workloads",
       "all workloads are hidden", ""},
      {10, "  - {uuid: odd, axes: {M: 512, N: 512}}", 11, 12, "workloads[1].uuid", "duplicate name", ""},
      {10, "  - {uuid: square, axes: {M: 512}}", 10, 26, "workloads[0].axes", "'N' has no value",
       "N: <extent>"},
      {10, "  - {uuid: square, axes: {M: 512, N: 0}}", 10, 38, "workloads[0].axes.N", "at least 1", ""},
      {10, "  - {uuid: square, axes: {M: 512, N: 5, K: 65}}", 10, 44, "workloads[0].axes.K", "constant", ""},
      {10, "  - {uuid: square, axes: {M: 512, N: 5, L: 65}}", 10, 44, "workloads[0].axes.L", "not an axis",
       ""},
      {10, "  - {uuid: square, axes: {M: 1000000000000, N: 5}}", 10, 26, "workloads[0].axes", "1 TiB", ""},
      {10, "  - {uuid: square, axes: {M: 1099511627776, N: 1099511627776}}", 10, 26, "workloads[0].axes",
       "fit in 64", ""},
      {10, "  - {uuid: square, axes: {M: 512, N: 5}, chache: cold}", 10, 42, "workloads[0].chache",
       "unknown key", "'cache'"},
      {10, "  - {uuid: square, axes: {M: 512, N: 5}, cache: hot}", 10, 49, "workloads[0].cache", "one of",
       ""},
      {10, "  - {uuid: square, axes: {M: 512, N: 5}, weight: 0}", 10, 50, "workloads[0].weight",
       "more than 0", ""},
      {10, "  - {uuid: s, axes: {M: 5, N: 5}, inputs: {A: {type: custom}}}", 10, 54,
       "workloads[0].inputs.A.type", "not supported yet", ""},
      {10, "  - {uuid: s, axes: {M: 5, N: 5}, inputs: {A: {type: scalar, value: 1}}}", 10, 54,
       "workloads[0].inputs.A.type", "is a tensor", ""},
      {12, "tolerance: {rule: acumulation, scale: C_abs}", 12, 19, "tolerance.rule", "one of",
       "'accumulation'"},
      {12, "tolerance: {rule: accumulation}", 12, 12, "tolerance.scale", "missing", ""},
      {12, "tolerance: {rule: bounds, scale: C_abs}", 12, 34, "tolerance.scale", "has no such key",
       "accumulation"},
      {12, "tolerance: {rule: accumulation, scale: A}", 12, 40, "tolerance.scale", "already", ""},
      {12, "tolerance: {max_atol: -1}", 12, 23, "tolerance.max_atol", "at least 0", ""},
      {12, "tolerance: {D: {max_atol: 1}}", 12, 16, "tolerance.D", "not an output", "outputs: C"},
      {12, "tolerance: {required_matched_ratio: 1.5}", 12, 37, "tolerance.required_matched_ratio",
       "at most 1", ""},
      {12, "tolerance: {rule: finite}", 12, 19, "tolerance.rule", "accepts every finite output",
       "min_cosine"},
      {12, "tolerance: {min_cosine: 1.5}", 12, 25, "tolerance.min_cosine", "at most 1", ""},
      {12, "tolerance: {rule: accumulation, scale: S, length: K - 64}", 10, 26, "workloads[0].axes",
       "not positive", ""},
      {13, "cost: {flops: 2*M*J}", 13, 19, "cost.flops", "'J' is not an axis", ""},
      {13, "cost: {flops: 1.5}", 13, 15, "cost.flops", "expected an expression", ""},
      {13, "cost: {flops: 1 - M}", 10, 26, "workloads[0].axes", "negative", "line 13"},
      {14, "seeds: seed.cpp", 14, 8, "seeds", "expected a list", "[seed.cpp]"},
      {14, "seeds: [missing.cpp]", 14, 9, "seeds[0]", "does not exist", ""},
      {14, "seeds: [3]", 14, 9, "seeds[0]", "expected a file", ""},
      {15, "baselines: [{name: a, file: a.cpp}, {name: a, file: b.cpp}]", 15, 44, "baselines[1].name",
       "duplicate name", ""},
      {15, "baselines: [{name: a, file: a.cpp, link: [-lm]}]", 15, 42, "baselines[0].link",
       "not a valid name of a library", ""},
      {15, "baselines: [{name: a, file: a.cpp, optional: true}]", 15, 12, "baselines", "not be optional", ""},
  };
  for (const auto& entry : table) {
    CAPTURE(entry.line);
    try {
      decode(with_line(entry.replaced, entry.line));
      FAIL_CHECK("accepted");
    } catch (const kevo::error& e) {
      CHECK(e.code() == kevo::error_code::input);
      CHECK(e.place().file == "task.yaml");
      CHECK_MESSAGE(e.place().line == entry.at_line, e.what());
      CHECK_MESSAGE(e.place().column == entry.at_column, e.what());
      CHECK_MESSAGE(e.place().key == entry.key, e.what());
      CHECK_MESSAGE(e.message().find(entry.says) != std::string::npos, e.what());
      CHECK_MESSAGE(e.hint().find(entry.hint) != std::string::npos, e.what());
    }
  }
}

TEST_CASE("a task that a program judges says nothing of what is computed, or all of it") {
  const auto t = decode("name: packing\nseeds: [seed.cpp]\n");
  CHECK(t.name == "packing");
  CHECK(t.seeds.size() == 1);
  CHECK(t.axes.empty());
  CHECK_FALSE(t.reference);
  CHECK(t.workloads.empty());
  const auto empty =
      decode("name: packing\naxes: {}\ninputs: {}\noutputs:\nreference: null\nworkloads: []\n");
  CHECK(empty.inputs.empty());
  CHECK(kevo::id_of(t) != kevo::id_of(empty));
  // One part alone is a slip, which says so.
  try {
    decode("name: x\naxes: {K: {type: var}}\ninputs: {A: {shape: [K], dtype: float32}}\n");
    FAIL_CHECK("accepted");
  } catch (const kevo::error& e) {
    CHECK(e.place().key == "outputs");
    CHECK(e.message().find("missing") != std::string::npos);
    CHECK(e.hint().find("command backend") != std::string::npos);
  }
  CHECK_THROWS_AS(decode("name: x\ninputs: {}\nworkloads: [{uuid: a, axes: {K: 1}}]\n"), kevo::error);
  CHECK_THROWS_AS(decode("name: x\ncost: {flops: \"2*K\"}\n"), kevo::error);
}

TEST_CASE("every shipped task loads") {
  std::size_t count = 0;
  for (const auto& entry :
       std::filesystem::directory_iterator(std::string(KEVO_SOURCE_DIR) + "/configs/tasks")) {
    const auto file = entry.path() / "task.yaml";
    if (!std::filesystem::exists(file)) continue;
    CAPTURE(file.string());
    const auto t = kevo::load_task(file.string());
    CHECK(t.name == entry.path().filename().string());
    CHECK_FALSE(t.seeds.empty());
    CHECK_FALSE(t.baselines.empty());
    CHECK(t.reference.has_value());
    ++count;
  }
  CHECK(count >= 1);
}

TEST_CASE("a workload takes contents from files in the folder of the task, and from no other") {
  const folder dir;
  dir.write("r.cpp", "// reference\n");
  dir.write("a.cpp", "// seed\n");
  dir.write("mine.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 0.5\n1 3 1.5\n2 2 -2.5\n");
  std::string npy = std::string("\x93NUMPY\x01", 7) + std::string(1, '\0') + 'P' + std::string(1, '\0') +
                    "{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }";
  npy.resize(90, ' ');
  npy += std::string(12, '\0');
  dir.write("x.npy", npy);
  const std::string head =
      "name: s\naxes: {R: {type: var}, C: {type: var}, Z: {type: var}}\ninputs:\n"
      "  start: {shape: [R + 1], dtype: int32}\n  column: {shape: [Z], dtype: int16}\n"
      "  value: {shape: [Z], dtype: float32}\n  x: {shape: [C], dtype: float32}\n"
      "outputs: {y: {shape: [R], dtype: float32}}\nreference: {file: r.cpp}\nseeds: [a.cpp]\n";
  const std::string generate = "generate: {start: 'offsets(Z, equal)', column: 'columns(start, C)'}\n";
  const auto with = [&](const std::string& inputs, const std::string& axes = "{R: 2, C: 3, Z: 3}") {
    return head + generate + "workloads: [{uuid: a, axes: " + axes + ", inputs: {" + inputs + "}}]\n";
  };
  const std::string start = "start: {type: matrix_market, path: mine.mtx, part: offsets}";
  const std::string column = "column: {type: matrix_market, path: mine.mtx, part: columns}";
  const std::string value = "value: {type: matrix_market, path: mine.mtx, part: values}";
  const std::string x = "x: {type: npy, path: x.npy}";
  const auto t =
      kevo::load_task(dir.write("task.yaml", with(start + ", " + column + ", " + value + ", " + x)));
  const auto& inputs = t.workloads[0].inputs;
  CHECK(inputs.at("start").contents->bytes.size() == 12);
  CHECK(inputs.at("column").contents->bytes.size() == 6);
  CHECK(inputs.at("column").kept);
  CHECK(inputs.at("column").alternates);
  CHECK_FALSE(inputs.at("value").kept);
  CHECK_FALSE(inputs.at("x").kept);
  CHECK(t.source_files.at(to_string(id_of(t.seeds[0]))) == "a.cpp");
  // The id is that of the contents, not that of the name of the file.
  dir.write("other.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 3\n1 1 0.5\n1 3 1.5\n2 2 9\n");
  dir.write("same.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 3\n2 2 9\n1 3 1.5\n1 1 0.5\n");
  const auto value_of = [&](const std::string& file) {
    return kevo::id_of(kevo::load_task(
        dir.write("task.yaml", with("value: {type: matrix_market, path: " + file + ", part: values}"))));
  };
  CHECK(value_of("mine.mtx") != value_of("other.mtx"));
  CHECK(value_of("same.mtx") == value_of("other.mtx"));

  const auto refused = [&](const std::string& text, const std::string& says) {
    try {
      kevo::load_task(dir.write("task.yaml", text));
      FAIL_CHECK("accepted: ", text);
    } catch (const kevo::error& e) {
      CHECK(e.code() == kevo::error_code::input);
      CHECK_MESSAGE(std::string(e.what()).find(says) != std::string::npos, e.what());
    }
  };
  refused(with(start, "{R: 3, C: 3, Z: 3}"), "the file has the shape [3], and 'start' has the shape [4]");
  refused(with("start: {type: npy, path: x.npy}"), "the file holds float32, and 'start' is int32");
  refused(with("value: {type: npy, path: ../x.npy}"), "does not exist");
  refused(with("value: {type: npy, path: /etc/hostname}"), "outside the folder of the task");
  refused(with("value: {type: npy, path: mine.mtx}"), "not a .npy file");
  refused(with("value: {type: safetensors, path: x.npy, tensor_key: w}"), "not a safetensors file");
  refused(with("value: {type: matrix_market, path: x.npy, part: values}"), "not a Matrix Market file");
  refused(with("value: {type: matrix_market, path: mine.mtx, part: offsets}"), "offsets are integers");
  refused(with("value: {type: npy}"), "path");
  refused(with("value: {type: npy, path: x.npy, content: kept}"), "contents");
  refused(with(start + ", " + column + ", value: {type: npy, path: x.npy, contents: kept}, " +
               "x: {type: npy, path: x.npy, contents: kept}"),
          "a program that contains the expected output");
  const auto without = [&](const std::string& input) {
    return head + "workloads: [{uuid: a, axes: {R: 2, C: 3, Z: 3}, inputs: {" + input + "}}]\n";
  };
  refused(without(start), "'start' is int32 from a file, and has no generator");
  // Drawn ones, too: the other inputs from files make calls with generated contents.
  refused(without("start: {type: matrix_market, path: mine.mtx, part: offsets, contents: drawn}"),
          "'start' is int32 from a file, and has no generator");
}

TEST_CASE("a task that older versions read has the id that they gave it") {
  // The ids are what the program printed before shapes and generators could be expressions, and inputs files.
  CHECK(to_string(kevo::id_of(decode(good))) == "4040c3cda975b0124d5d3093d46eee4e");
  const std::string plain =
      "name: s\naxes: {R: {type: var}, Z: {type: var}}\ninputs:\n  start: {shape: [R], dtype: int32}\n"
      "  column: {shape: [Z], dtype: int32}\noutputs: {y: {shape: [R], dtype: float32}}\n"
      "reference: {file: r.cpp}\ngenerate: {start: offsets(30), column: 'integers(0, 6)'}\n"
      "workloads: [{uuid: a, axes: {R: 10, Z: 30}}]\n";
  CHECK(to_string(kevo::id_of(decode(plain))) == "ee81c6576862c656b19a7663639f8e8b");
}

TEST_CASE("integers from files that a JSON task keeps need no generator, and drawn ones do") {
  std::string npy = std::string("\x93NUMPY\x01", 7) + std::string(1, '\0') + 'P' + std::string(1, '\0') +
                    "{'descr': '<i4', 'fortran_order': False, 'shape': (4,), }";
  npy.resize(90, ' ');
  npy += std::string(16, '\0');
  const auto with = [&](const std::string& contents) {
    const auto text =
        R"({"name": "s", "axes": {"N": {"type": "var"}}, "inputs": {"i": {"shape": ["N"], "dtype": "int32"},
            "x": {"shape": ["N"], "dtype": "float32"}}, "outputs": {"y": {"shape": ["N"], "dtype": "float32"}},
            "reference": {"language": "cpp", "file": "r.cpp"}, "workloads": [{"uuid": "a", "axes": {"N": 4},
            "inputs": {"i": {"type": "npy", "path": "i.npy", "contents": ")" +
        contents + R"("}, "x": {"type": "random"}}}]})";
    return kevo::decode_task(kevo::parse_json(text, "task.json"), fake_source, {},
                             [&](const std::string&, const kevo::error_place&) { return npy; });
  };
  const auto kept = with("kept").workloads[0].inputs.at("i");
  CHECK(kept.kept);
  CHECK_FALSE(kept.alternates);
  CHECK_THROWS_WITH_AS(with("drawn"), doctest::Contains("has no generator"), kevo::error);
}

TEST_CASE("an input file that does not fit into memory is an error of the input that names it") {
  const std::string text =
      "name: s\naxes: {N: {type: var}}\ninputs: {x: {shape: [N], dtype: bfloat16}}\noutputs: {y: {shape: "
      "[N], "
      "dtype: float32}}\nreference: {file: r.cpp}\nworkloads: [{uuid: a, axes: {N: 4}, inputs: {x: {type: "
      "npy, "
      "path: x.npy}}}]\n";
  const auto refusal_of = [&](const kevo::contents_reader& contents) {
    try {
      kevo::decode_task(
          kevo::parse_yaml(text, "task.yaml"),
          [](const auto&, const auto&, const auto&) {
            return kevo::single_file_program("cpp", "r.cpp", "x\n");
          },
          {}, contents);
    } catch (const kevo::error& e) {
      return std::string(e.what()) + " " + e.hint();
    }
    return std::string();
  };
  const auto large =
      refusal_of([](const std::string&, const kevo::error_place&) -> std::string { throw std::bad_alloc(); });
  CHECK_MESSAGE(large.find("not enough memory to read 'x.npy'") != std::string::npos, large);
  std::string npy = std::string("\x93NUMPY\x01", 7) + std::string(1, '\0') + 'P' + std::string(1, '\0') +
                    "{'descr': '<f4', 'fortran_order': False, 'shape': (4,), }";
  npy.resize(90, ' ');
  npy += std::string(16, '\0');
  const auto other = refusal_of([&](const std::string&, const kevo::error_place&) { return npy; });
  CHECK_MESSAGE(other.find("save it as bfloat16 in a safetensors file") != std::string::npos, other);
}

TEST_CASE("generators of integers stay where 64-bit arithmetic is exact enough") {
  const auto with = [](const std::string& dtype, const std::string& generator) {
    return "name: s\naxes: {N: {type: var}}\ninputs: {x: {shape: [N], dtype: " + dtype +
           "}}\noutputs: {y: {shape: [N], dtype: float32}}\nreference: {file: r.cpp}\ngenerate: {x: '" +
           generator + "'}\nworkloads: [{uuid: a, axes: {N: 4}}]\n";
  };
  for (const auto* generator :
       {"zipf(0, 9223372036854775807, 1.2)", "integers(-9223372036854775808, 9223372036854775807)",
        "sorted(0, 9223372036854775807)", "integers(-4611686018427387904, 4611686018427387904)"}) {
    CAPTURE(generator);
    try {
      decode(with("int64", generator));
      FAIL_CHECK("accepted");
    } catch (const kevo::error& e) {
      CHECK_MESSAGE(e.message().find("between -2^62 and 2^62") != std::string::npos, e.what());
    }
  }
  CHECK_THROWS_AS(decode(with("float32", "integers(0, 1e30)")), kevo::error);
  CHECK_NOTHROW(decode(with("int64", "zipf(0, 4611686018427387904, 1.2)")));
  CHECK_NOTHROW(decode(with("uint64", "integers(0, 4611686018427387904)")));
}

TEST_CASE("a FlashInfer-Bench definition with its workload traces") {
  const folder dir;
  const std::string definition =
      R"json({"name": "rmsnorm_h128", "op_type": "rmsnorm", "tags": ["status:verified"], "description": "d",
 "axes": {"batch_size": {"type": "var", "description": "b"}, "hidden": {"type": "const", "value": 128}},
 "constraints": ["batch_size >= 1", "len_x == indptr[-1].item()"],
 "inputs": {"x": {"shape": ["batch_size", "hidden"], "dtype": "bfloat16"}, "eps": {"shape": null, "dtype": "float32"}},
 "outputs": {"y": {"shape": ["batch_size", "hidden"], "dtype": "bfloat16"}},
 "reference": "import torch\n\ndef run(x, eps):\n    return x\n"
})json";
  const std::string traces =
      R"json({"definition": "rmsnorm_h128", "workload": {"uuid": "a", "axes": {"batch_size": 7}, "inputs": {"x": {"type": "random"}, "eps": {"type": "scalar", "value": 1e-6}}}, "solution": null, "evaluation": null})json"
      "\n\n"
      R"json({"definition": "other", "workload": {"uuid": "b", "axes": {}, "inputs": {}}})json"
      "\n";
  const auto path = dir.write("definitions/rmsnorm/rmsnorm_h128.json", definition);
  const auto beside = dir.write("workloads/rmsnorm/rmsnorm_h128.jsonl", traces);
  const auto flat = dir.write("example/definitions/rmsnorm_h128.json", definition);
  dir.write("example/workloads/rmsnorm_h128.jsonl", traces);
  for (const auto& t : {kevo::load_task(path), kevo::load_task(path, beside), kevo::load_task(flat)}) {
    CHECK(t.reference->language == "python");
    REQUIRE(t.workloads.size() == 1);
    CHECK(t.workloads[0].axes.at("batch_size") == 7);
    CHECK(t.workloads[0].inputs.at("eps").value == 1e-6);
    CHECK(t.extra.at("constraints") == "len_x == indptr[-1].item()");
    CHECK(t.constraints.size() == 1);
    CHECK(tolerance_for(t, t.workloads[0], "y").max_rtol == 1e-2);
  }
  const auto fails = [](const std::string& file) {
    try {
      kevo::load_task(file);
    } catch (const kevo::error& e) {
      return e;
    }
    FAIL("accepted");
    return kevo::error(kevo::error_code::internal, "");
  };
  auto broken = definition;
  broken.replace(broken.find("\"bfloat16\"}, \"eps\""), 10, "\"bfloat61\"");
  auto e = fails(dir.write("x/broken.json", broken));
  CHECK(e.place().key == "/inputs/x/dtype");
  CHECK(e.place().line == 4);
  CHECK(e.hint() == "did you mean 'bfloat16'?");
  e = fails(dir.write("x/alone.json", definition));
  CHECK(e.hint().find("alone.jsonl") != std::string::npos);
  dir.write("x/alone.jsonl",
            "\n{\"definition\": \"rmsnorm_h128\", \"workload\": {\"uuid\": \"a\", \"axes\": {}}}\n");
  e = fails((dir.path / "x/alone.json").string());
  CHECK(e.place().file == (dir.path / "x/alone.jsonl").string());
  CHECK(e.place().line == 2);
  CHECK(e.place().key == "/workload/axes");
}

TEST_CASE("files that tasks name are checked where they are named") {
  const folder dir;
  dir.write("reference.cpp", "// r");
  dir.write("b.cpp", "// b");
  const auto path = dir.write("task.yaml", good);
  const auto fails = [&] {
    try {
      kevo::load_task(path);
    } catch (const kevo::error& e) {
      return e;
    }
    FAIL("accepted");
    return kevo::error(kevo::error_code::internal, "");
  };
  auto e = fails();
  CHECK(e.place().file == path);
  CHECK(e.place().line == 14);
  CHECK(e.place().key == "seeds[0]");
  CHECK(e.message().find("the file does not exist") != std::string::npos);
  dir.write("seed.cpp", "\n// kevo: requires x\n");
  e = fails();
  CHECK(e.place().file == (dir.path / "seed.cpp").string());
  CHECK(e.place().line == 2);
  dir.write("seed.cpp",
            std::string(1500000, ' '));  // whether that is too long is the fitness function's word
  CHECK(kevo::load_task(path).seeds[0].text().size() == 1500000);
  std::filesystem::resize_file(dir.path / "seed.cpp", (std::size_t{64} << 20U) + 1);
  CHECK(fails().message().find("larger than 65536 KiB") != std::string::npos);
  dir.write("seed.cpp", "int x;");
  const auto t = kevo::load_task(path);
  CHECK(id_of(t.seeds[0]) == id_of(t.baselines[0].source));
}
