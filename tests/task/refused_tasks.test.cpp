// Tasks that are refused, with line, column, key and hint.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "src/task/task_loader.hpp"
#include "tests/task/sample_task.hpp"

using namespace sample_task;

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
      {0, "custom_inputs_entrypoint: make", 16, 27, "custom_inputs_entrypoint", "only a reference in Python",
       ""},
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
       "workloads[0].inputs.A.type", "names no function", ""},
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
