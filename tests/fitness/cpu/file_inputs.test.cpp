// timeout: 300
// one processor
// Inputs from files: a program that is correct for the file only is found out, and a program that does the
// work is not.
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/expression.hpp>

#include "fitness/cpu/cpu_fitness.hpp"

namespace {

constexpr int rows = 64;
constexpr int columns = 32;
constexpr int elements = 256;

std::shared_ptr<const kevo::tensor_contents> file(const std::vector<std::int32_t>& values) {
  auto made = std::make_shared<kevo::tensor_contents>();
  made->file = "a.npy";
  made->shape = {static_cast<std::int64_t>(values.size())};
  made->bytes.resize(values.size() * 4);
  std::memcpy(made->bytes.data(), values.data(), made->bytes.size());
  return made;
}

kevo::program source(const std::string& body, bool variable = false) {
  return kevo::single_file_program(
      "cpp", "kernel.cpp",
      std::string("#include <cstdint>\nextern \"C\" void run(const int32_t* start, const int32_t* column, "
                  "const float* value, float* y") +
          (variable ? ", int64_t" : "") + ") {\n" + body + "}\n");
}

// y[i] = sum of value[k] * column[k] over row i. The file: four elements in each row, in the columns 0, 7, 14
// and 21.
std::shared_ptr<kevo::task> file_task() {
  auto t = std::make_shared<kevo::task>();
  t->name = "rows";
  t->axes = {{"R", rows, ""}, {"C", columns, ""}, {"Z", elements, ""}};
  kevo::tensor start;
  start.name = "start";
  start.shape = {"R + 1"};
  start.dtype = "int32";
  start.generate.kind = "offsets";
  start.generate.b = columns;
  start.generate.a_of = kevo::expression::parse("Z");
  start.generate.law = "uniform";
  kevo::tensor column = start;
  column.name = "column";
  column.shape = {"Z"};
  column.generate = {};
  column.generate.kind = "columns";
  column.generate.rows = "start";
  column.generate.a_of = kevo::expression::parse("C");
  kevo::tensor value;
  value.name = "value";
  value.shape = {"Z"};
  value.dtype = "float32";
  kevo::tensor y = value;
  y.name = "y";
  y.shape = {"R"};
  t->inputs = {start, column, value};
  t->outputs = {y};
  kevo::workload w;
  w.uuid = "mine";
  std::vector<std::int32_t> offsets;
  std::vector<std::int32_t> places;
  for (std::int32_t i = 0; i <= rows; ++i) offsets.push_back(4 * i);
  for (std::int32_t i = 0; i < elements; ++i) places.push_back(7 * (i % 4));
  w.inputs["start"] = {"file", 0, file(offsets), true, true};
  w.inputs["column"] = {"file", 0, file(places), true, true};
  t->workloads = {w};
  kevo::tolerance rule;
  rule.rule = "accumulation";
  rule.scale = "y_abs";
  rule.length = kevo::expression::parse("C");
  t->tolerances[""] = rule;
  t->reference = kevo::reference_source{
      "cpp", kevo::single_file_program(
                 "cpp", "reference.cpp",
                 "#include <cmath>\n#include <cstdint>\nextern \"C\" void reference(const int64_t* start, "
                 "const int64_t* "
                 "column, const double* value, double* y, double* y_abs) {\n"
                 "  for (int i = 0; i < 64; ++i) { y[i] = y_abs[i] = 0;\n"
                 "    for (int64_t k = start[i]; k < start[i + 1]; ++k) { y[i] += value[k] * column[k];\n"
                 "      y_abs[i] += std::fabs(value[k] * column[k]); } } }\n")};
  kevo::baseline seed;
  seed.name = "seed";
  seed.source = source(
      "  for (int i = 0; i < 64; ++i) { float s = 0;\n"
      "    for (int k = start[i]; k < start[i + 1]; ++k) s += value[k] * column[k];\n    y[i] = s; }\n");
  t->baselines = {seed};
  return t;
}

kevo::evaluation judge(const std::shared_ptr<kevo::task>& t, const kevo::program& candidate) {
  kevo::cpu_settings settings;
  settings.flags = {"-O1"};
  settings.pool_s = 0.2;
  kevo::cpu_fitness fitness(t, settings);
  kevo::evaluation_request request;
  request.program = std::make_shared<const kevo::program>(candidate);
  request.wanted = kevo::evaluation_stage::checked;
  request.fresh = true;
  return fitness.evaluate(request);
}

const char* const for_the_file_only =
    "  static_cast<void>(start), static_cast<void>(column);\n"
    "  for (int i = 0; i < 64; ++i) y[i] = 7 * value[4 * i + 1] + 14 * value[4 * i + 2] + 21 * value[4 * i + "
    "3];\n";

}  // namespace

TEST_CASE(
    "a program that contains the rows and columns of the file is incorrect, one that reads them is valid") {
  const auto t = file_task();
  const auto honest = judge(t, t->baselines.front().source);
  CHECK_MESSAGE(honest.valid(), honest.feedback);
  const auto cheat = judge(t, source(for_the_file_only));
  CHECK_MESSAGE(cheat.outcome == kevo::outcome::incorrect, cheat.feedback);
}

TEST_CASE("without generated contents in between, that program would pass: this is what they are for") {
  const auto t = file_task();
  for (auto& [name, input] : t->workloads[0].inputs) input.alternates = false;
  CHECK(judge(t, source(for_the_file_only)).valid());
}

TEST_CASE("a kept input without a generator is as in the file also where others get generated contents") {
  const auto t = file_task();  // the columns are generated for the rows of the file
  t->inputs[0].generate = {"integers", -128, 127};
  t->workloads[0].inputs["start"].alternates = false;
  const auto honest = judge(t, t->baselines.front().source);
  CHECK_MESSAGE(honest.valid(), honest.feedback);
}

TEST_CASE("a baseline that is right for the contents of the file only is named as what is wrong") {
  for (const bool hidden : {false, true}) {
    const auto t = file_task();
    const auto honest = t->baselines.front().source;
    std::string body = for_the_file_only;
    if (hidden) {  // right on the visible workload, which has no file
      t->workloads[0].hidden = true;
      t->workloads.insert(t->workloads.begin(), kevo::workload{});
      t->workloads[0].uuid = "visible";
      t->axes[2].value.reset();
      auto text = std::string(t->reference->source.text());
      text.replace(text.find("double* y_abs)"), 14, "double* y_abs, int64_t)");
      t->reference->source = kevo::single_file_program("cpp", "reference.cpp", text);
      t->workloads[0].axes["Z"] = 2 * elements;
      t->workloads[1].axes["Z"] = elements;
      body = "  if (start[64] == 256) {\n" + body +
             "    return; }\n  for (int i = 0; i < 64; ++i) { float s = " +
             "0;\n    for (int k = start[i]; k < start[i + 1]; ++k) s += value[k] * column[k];\n    y[i] = "
             "s; }\n";
    }
    t->baselines.front().source = source(body, hidden);
    CAPTURE(hidden);
    try {
      judge(t, hidden ? t->baselines.front().source : honest);
      FAIL_CHECK("accepted");
    } catch (const kevo::error& e) {
      CHECK(e.code() == kevo::error_code::input);
      CHECK_MESSAGE(e.message().find("baseline 'seed' fails on workload 'mine'") == 0, e.what());
    }
  }
}
