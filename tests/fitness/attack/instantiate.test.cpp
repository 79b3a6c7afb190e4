// From exploits to candidates of a task: what stands in their text, and which tasks they say they do not fit.

#include "fitness/attack/instantiate.hpp"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/attack/attack.hpp"
#include "fitness/attack/signature_text.hpp"

using namespace kevo;

namespace {

// A scalar, two outputs of different types, a constant axis: every kind of argument.
task strange_task() {
  task t;
  t.name = "strange";
  t.axes = {{.name = "B", .value = 3}, {.name = "N"}};
  t.inputs = {{.name = "X", .shape = {"N", "B"}, .dtype = "float32"},
              {.name = "alpha", .scalar = true, .dtype = "float64"}};
  t.outputs = {{.name = "Y", .shape = {"N", "B"}, .dtype = "float32"},
               {.name = "count", .shape = {"N"}, .dtype = "int64"}};
  t.workloads = {{.uuid = "small", .axes = {{"N", 8}}},
                 {.uuid = "large", .axes = {{"N", 100}}},
                 {.uuid = "secret", .axes = {{"N", 7777}}, .hidden = true}};
  return t;
}

exploit named(const std::string& name) {
  const auto all = shipped_exploits();
  const auto found = std::find_if(all.begin(), all.end(), [&](const exploit& e) { return e.name == name; });
  REQUIRE(found != all.end());
  return *found;
}

bool contains(const program& p, const std::string& what) {
  return p.text().find(what) != std::string_view::npos;
}

std::size_t files_of_exploits(const std::string& folder) {
  const std::filesystem::directory_iterator all(KEVO_SOURCE_DIR "/configs/attacks/" + folder);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

const program seed = single_file_program("cpp", "kernel.cpp", "extern \"C\" void run() { /* the seed */ }");

}  // namespace

TEST_CASE("the shipped exploits have names of their own and say what they may be found") {
  const auto all = shipped_exploits();
  std::set<std::string> names;
  std::size_t cpp = 0;
  for (const auto& one : all) {
    CHECK_MESSAGE(names.insert(one.name).second, one.name);
    CHECK_MESSAGE(!one.expected.empty(), one.name);
    // What is wrong by construction must never be expected to be valid.
    if (one.aim == exploit_aim::outcome)
      CHECK_MESSAGE(std::find(one.expected.begin(), one.expected.end(), outcome::valid) == one.expected.end(),
                    one.name);
    cpp += one.form == exploit_form::cpp ? 1 : 0;
  }
  CHECK(cpp == files_of_exploits("cpp"));
  CHECK(cpp >= 63);  // nobody took files away: raise it with the files
  CHECK(named("hosted/zeros").form == exploit_form::hosted);
  CHECK(named("declared/zeros").form == exploit_form::declared);
}

TEST_CASE("an exploit is given the task's arguments in their order, and calls the honest program with them") {
  const auto made = instantiate(named("cpp/visible_sizes_only"), strange_task(), seed);
  REQUIRE(made.program);
  const program& p = *made.program;
  CHECK(contains(p,
                 "extern \"C\" void run(const float* input0, double scalar0, float* output0, std::int64_t* "
                 "output1, std::int64_t axis0)"));
  CHECK(contains(p, "honest_run(input0, scalar0, output0, output1, axis0)"));
  CHECK(contains(p, "#define run honest_run\nextern \"C\" void run() { /* the seed */ }\n#undef run"));
  CHECK(contains(p, "f(input0, axis0 * std::int64_t{3});"));
  CHECK(contains(p, "(axis0 == 8) || (axis0 == 100)"));
  CHECK_FALSE(contains(p, "7777"));  // hidden sizes are no candidate's to know
  CHECK(contains(p, "most_visible_elements = 700;"));
  CHECK(contains(p, "least_visible_elements = 56;"));
  // One that computes nothing honest does not carry the seed.
  CHECK_FALSE(contains(*instantiate(named("cpp/zeros"), strange_task(), seed).program, "the seed"));
}

TEST_CASE("what a task does not have, and a honest program of another kind, is a reason and not a program") {
  const task t = strange_task();
  CHECK(instantiate(named("cpp/sampled_values_only"), t, seed).not_applicable ==
        "the task has no integer input");
  CHECK(instantiate(named("cpp/tf32_inputs"), t, seed).program);
  const auto python = single_file_program("python", "kernel.py", "def run(): pass");
  CHECK(instantiate(named("cpp/stale_output"), t, python).not_applicable ==
        "the honest program is written in python, not in cpp");
  const auto declared = single_file_program("cuda", "kernel.cu", "// kevo: launch f<<<1, 1>>>(X)\n");
  CHECK(instantiate(named("hosted/cache_by_shape"), t, declared).not_applicable.find("--honest") !=
        std::string::npos);
  CHECK(instantiate(named("hosted/zeros"), t, declared).program);  // needs none
}

TEST_CASE("declared exploits get a launch line for every tensor, behind those of the honest program") {
  const task t = strange_task();
  CHECK(expanded_line(t, "// each output: memset {name} 0") ==
        "// kevo: memset Y 0\n// kevo: memset count 0\n");
  CHECK(expanded_line(t, "// each float32 output: launch f<<<1, 1>>>({name}, {count}, {bytes}, {size})") ==
        "// kevo: launch f<<<1, 1>>>(Y, (N * B), 4 * N * B, 4)\n");
  CHECK(expanded_line(t, "// each input: memset {name} 0") ==
        "// kevo: memset X 0\n");  // scalars have no buffer
  CHECK(expanded_line(t, "int other;") == "int other;\n");
  const auto honest = single_file_program("cuda", "kernel.cu", "// kevo: launch f<<<1, 1>>>(X)\n");
  const auto made = instantiate(named("declared/zeros"), t, honest);
  REQUIRE(made.program);
  CHECK(made.program->text().find("launch f") < made.program->text().find("memset Y 0"));
}

TEST_CASE("a hosted exploit hands untyped pointers to the honest program, whose element types are its own") {
  const auto hosted = single_file_program(
      "cuda", "kernel.cu", "extern \"C\" int run(const float*, cudaStream_t stream) { return 0; }\n");
  const auto made = instantiate(named("hosted/own_stream"), strange_task(), hosted);
  REQUIRE(made.program);
  CHECK(contains(
      *made.program,
      "honest_run(attack_pointer{input0}, scalar0, attack_pointer{output0}, attack_pointer{output1}, "
      "axis0, stream)"));
}

TEST_CASE("a file that does not say what it does, or says something unknown, is refused with its line") {
  const auto refused = [](const std::string& text, int line) {
    try {
      parse_exploit("own.cpp", "own", text);
      FAIL("was taken");
    } catch (const error& wrong) {
      CHECK(wrong.code() == error_code::input);
      CHECK(wrong.place().file == "own.cpp");
      CHECK(wrong.place().line == line);
    }
  };
  refused("void attack(const attack_call&) {}\n", 1);
  refused("// attack: x\n// judged by: looks\n", 2);
  refused("// attack: x\n// judged by: time\n// expects: caught\n", 3);
  refused("// attack: x\n// judged by: time\n// needs: luck\n", 3);
}
