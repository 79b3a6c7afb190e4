// What kevo's own task format says: axes, generators, tolerances, costs, defaults, and ids.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/task_extents.hpp>
#include <kevo/task_id.hpp>

#include "src/task/task_loader.hpp"
#include "tests/task/sample_task.hpp"

using namespace sample_task;

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
