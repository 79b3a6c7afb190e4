#include "fitness/cpu/arithmetic_rate.hpp"

#include <string>

#include <doctest/doctest.h>

namespace {

kevo::task task_of(const std::string& input, const std::string& output) {
  kevo::task t;
  t.inputs = {{.name = "A", .shape = {}, .dtype = input}};
  t.outputs = {{.name = "C", .shape = {}, .dtype = output}};
  t.tolerances[""] = {};
  t.tolerances[""].rule = "accumulation";
  return t;
}

}  // namespace

TEST_CASE("a float32 product of the usual accuracy is bounded by what was measured, without tile registers") {
  CHECK(kevo::arithmetic_rate(task_of("float32", "float32"), false) == 1.0);
  CHECK(kevo::arithmetic_rate(task_of("float64", "float64"), false) == 0.5);
}

TEST_CASE("with tile registers, split products may be several times as fast") {
  CHECK(kevo::arithmetic_rate(task_of("float32", "float32"), true) > 5);
  CHECK(kevo::arithmetic_rate(task_of("float32", "float32"), true) < 16);
  CHECK(kevo::arithmetic_rate(task_of("float64", "float64"), true) > 2);
}

TEST_CASE("narrow types and loose tolerances allow narrow arithmetic") {
  CHECK(kevo::arithmetic_rate(task_of("int8", "int32"), false) == 4);
  CHECK(kevo::arithmetic_rate(task_of("bfloat16", "float32"), false) == 4);
  CHECK(kevo::arithmetic_rate(task_of("bfloat16", "float32"), true) >= 16);
  auto loose = task_of("float32", "float32");
  loose.tolerances[""].rule = "bounds";
  loose.tolerances[""].max_rtol = 1e-2;
  CHECK(kevo::arithmetic_rate(loose, false) == 4);
  CHECK(kevo::arithmetic_rate(loose, true) >= 16);
}
