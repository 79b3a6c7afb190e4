// Calls of a reference that are refused, each with its place, and calls that are accepted.

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "tests/task/sample_task.hpp"

namespace {

constexpr int line_of_calls = 9;

// A function with the inputs x and, with `selecting`, call.
kevo::task task_with(const std::string& calls, bool selecting = false) {
  const std::string call = selecting ? "call: {shape: null, dtype: int64}, " : "";
  const std::string value = selecting ? ", inputs: {call: {type: scalar, value: 0}}" : "";
  return sample_task::decode(
      "name: scaled\n"
      "axes: {M: {type: var}}\n"
      "inputs: {" +
      call +
      "x: {shape: [M], dtype: float32}}\n"
      "outputs: {y: {shape: [M], dtype: float32}}\n"
      "reference:\n"
      "  language: python\n"
      "  file: scaled.py\n"
      "  form: function\n"
      "  calls: " +
      calls +
      "\n"
      "workloads:\n"
      "  - {uuid: small, axes: {M: 8}" +
      value + "}\n");
}

}  // namespace

TEST_CASE("a call that cannot be made is refused with its place and a hint") {
  struct row {
    std::string calls;
    int at_column;
    std::string key;
    std::string says;
    std::string hint;
  };
  const std::vector<row> table = {
      {"3", 10, "reference.calls", "expected a list", ""},
      {"[]", 10, "reference.calls", "expected a list of calls", ""},
      {"[3]", 11, "reference.calls[0]", "expected a map with args, kwargs and results", ""},
      {"[{args: [{input: x}]}]", 11, "reference.calls[0]", "needs results", ""},
      {"[{arguments: [1], results: [y]}]", 23, "reference.calls[0].arguments", "unknown key 'arguments'",
       "use args, kwargs and results"},
      {"[{args: {a: 1}, results: [y]}]", 18, "reference.calls[0].args", "expected a list", ""},
      {"[{kwargs: [1], results: [y]}]", 20, "reference.calls[0].kwargs", "expected a map", ""},
      {"[{results: y}]", 21, "reference.calls[0].results", "expected a list", ""},
      {"[{results: [z]}]", 22, "reference.calls[0].results[0]", "no such output", ""},
      {"[{results: [x]}]", 22, "reference.calls[0].results[0]", "no such output", ""},
      {"[{results: [1]}]", 22, "reference.calls[0].results[0]", "no such output", ""},
      {"[{args: [{input: z}], results: [y]}]", 27, "reference.calls[0].args[0].input", "no such input", ""},
      {"[{args: [{input: y}], results: [y]}]", 27, "reference.calls[0].args[0].input", "no such input", ""},
      {"[{args: [{input: 1}], results: [y]}]", 27, "reference.calls[0].args[0].input", "no such input", ""},
      {"[{args: [[1, 2]], results: [y]}]", 19, "reference.calls[0].args[0]", "a list as an argument", ""},
      {"[{args: [{}], results: [y]}]", 19, "reference.calls[0].args[0]", "a map with one key", "{input: x}"},
      {"[{args: [{tensr: 1}], results: [y]}]", 19, "reference.calls[0].args[0]", "a map with one key",
       "{list: [1, 2]}"},
      {"[{args: [{input: x, list: [1]}], results: [y]}]", 19, "reference.calls[0].args[0]",
       "a map with one key", ""},
      {"[{kwargs: {by: [1]}, results: [y]}]", 25, "reference.calls[0].kwargs.by", "a list as an argument",
       ""},
      // What an argument contains is looked at, too.
      {"[{args: [{list: [{tuple: [{input: z}]}]}], results: [y]}]", 44,
       "reference.calls[0].args[0].list[0].tuple[0].input", "no such input", ""},
      {"[{args: [{map: {a: {input: z}}}], results: [y]}]", 37, "reference.calls[0].args[0].map.a.input",
       "no such input", ""},
      {"[{args: [{complex: {input: z}}], results: [y]}]", 37, "reference.calls[0].args[0].complex.input",
       "no such input", ""},
      {"[{args: [{dominant: {input: z}}], results: [y]}]", 38, "reference.calls[0].args[0].dominant.input",
       "no such input", ""},
      {"[{args: [{definite: {input: z}}], results: [y]}]", 38, "reference.calls[0].args[0].definite.input",
       "no such input", ""},
      {"[{args: [{written: {input: z}}], results: [y]}]", 37, "reference.calls[0].args[0].written.input",
       "no such input", ""},
      {"[{args: [{permute: {input: x}}], results: [y]}]", 29, "reference.calls[0].args[0].permute",
       "permute takes an argument and the order", "[{input: x}, [1, 0]]"},
      {"[{args: [{permute: [{input: x}]}], results: [y]}]", 29, "reference.calls[0].args[0].permute",
       "permute takes", ""},
      {"[{args: [{permute: [{input: x}, 0]}], results: [y]}]", 29, "reference.calls[0].args[0].permute",
       "permute takes", ""},
      {"[{args: [{permute: [{input: z}, [0]]}], results: [y]}]", 38,
       "reference.calls[0].args[0].permute[0].input", "no such input", ""},
      // The second of two calls is looked at as well.
      {"[{results: [y]}, {results: [z]}]", 38, "reference.calls[1].results[0]", "no such output", ""},
      {"[{results: [y]}, {results: [y]}]", 10, "reference.calls", "needs the input call", "shape: null"},
  };
  for (const auto& entry : table) {
    CAPTURE(entry.calls);
    try {
      static_cast<void>(task_with(entry.calls));
      FAIL_CHECK("accepted");
    } catch (const kevo::error& e) {
      CHECK(e.code() == kevo::error_code::input);
      CHECK_MESSAGE(e.place().line == line_of_calls, e.what());
      CHECK_MESSAGE(e.place().column == entry.at_column, e.what());
      CHECK_MESSAGE(e.place().key == entry.key, e.what());
      CHECK_MESSAGE(e.message().find(entry.says) != std::string::npos, e.what());
      CHECK_MESSAGE(e.hint().find(entry.hint) != std::string::npos, e.what());
    }
  }
}

TEST_CASE("calls that can be made are kept as they are written") {
  const std::string one =
      "[{args: [{input: x}, 2, {list: [1, {tuple: []}]}], kwargs: {dim: {value: inf}}, results: [y, null]}]";
  const auto init = task_with(one).reference->init;
  CAPTURE(init);
  CHECK(init.find(R"("calls":[{"args": [{"input": "x"}, 2, {"list": [1, {"tuple": []}]}], )"
                  R"("kwargs": {"dim": {"value": "inf"}}, "results": ["y", null]}])") != std::string::npos);
  CHECK_NOTHROW(static_cast<void>(task_with("[{results: [y]}, {args: [{input: x}], results: [y]}]", true)));
}

TEST_CASE("the input call selects a call only if it is an integer of 64 bits") {
  CHECK_THROWS_WITH_AS(
      static_cast<void>(sample_task::decode(
          "name: scaled\n"
          "axes: {M: {type: var}}\n"
          "inputs: {call: {shape: null, dtype: float32}, x: {shape: [M], dtype: float32}}\n"
          "outputs: {y: {shape: [M], dtype: float32}}\n"
          "reference: {language: python, file: scaled.py, form: function, calls: [{results: [y]}, {results: "
          "[y]}]}\n"
          "workloads:\n"
          "  - {uuid: small, axes: {M: 8}, inputs: {call: {type: scalar, value: 0}}}\n")),
      doctest::Contains("needs the input call"), kevo::error);
}

TEST_CASE("imports that every program finds are import statements of a function's task") {
  const auto with = [](const std::string& imports) {
    return task_with("[{args: [{input: x}], results: [y]}]\n  imports: " + imports);
  };
  const auto t = with(R"(["import torch", "from torch import nn"])");
  CHECK(t.reference->init.find(R"("imports":["import torch","from torch import nn"])") != std::string::npos);
  for (const char* wrong :
       {"[torch]", R"x(["import torch; torch.manual_seed(1)"])x", R"(["import a\nb = 1"])"})
    CHECK_THROWS_WITH_AS(static_cast<void>(with(wrong)), doctest::Contains("is not one import statement"),
                         kevo::error);
}
