// The key `define` of a task: one source for several tasks.

#include "src/task/set_definitions.hpp"

#include <map>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/load_task.hpp>
#include <kevo/task.hpp>

#include "tests/task/sample_task.hpp"

using namespace sample_task;

namespace {

std::string with(const std::string& text, const std::map<std::string, std::string>& values) {
  std::set<std::string> found;
  return kevo::set_definitions(kevo::single_file_program("cpp", "k.cpp", text), values, found, {})
      .files.front()
      .text;
}

}  // namespace

TEST_CASE("the value of a macro is replaced, and nothing else") {
  CHECK(with("#define HALF 0\n", {{"HALF", "1"}}) == "#define HALF 1\n");
  CHECK(with("#define HALF 0", {{"HALF", "1"}}) == "#define HALF 1");
  CHECK(with("int a;\n #  define\tHALF   0 // none\r\nint b = HALF;\n", {{"HALF", "1"}}) ==
        "int a;\n #  define\tHALF   1 // none\r\nint b = HALF;\n");
  CHECK(with("#define TYPE unsigned short  /* 16 bits */\n", {{"TYPE", "float"}}) ==
        "#define TYPE float  /* 16 bits */\n");
  CHECK(with("#define A 1\n#define B 1\n\n#if A\n#define A2 3\n#endif\n", {{"A", "2"}, {"B", "x y"}}) ==
        "#define A 2\n#define B x y\n\n#if A\n#define A2 3\n#endif\n");
  // Other forms of macros, and other lines, are no values.
  const std::string others =
      "#define HALF\n#define HALF(x) x\n#define HALF \\\n  0\n// #define HALF 0\n#defined HALF 0\nHALF "
      "0\n#undef HALF\n";
  CHECK(with(others, {{"HALF", "1"}}) == others);
}

TEST_CASE("the sources of a task get the values of its key `define`") {
  const folder dir;
  dir.write("seed.cpp", "#define WIDE 0  // or 1\n");
  dir.write("reference.cpp", "#define WIDE 0\n#define DEEP 0\n");
  dir.write("b.cpp", "// the same for both\n");
  const auto plain = kevo::load_task(dir.write("plain.yaml", good));
  const auto wide = kevo::load_task(dir.write("wide.yaml", good + "define: {WIDE: 1, DEEP: deep}\n"));
  CHECK(plain.seeds.front().text() == "#define WIDE 0  // or 1\n");
  CHECK(wide.seeds.front().text() == "#define WIDE 1  // or 1\n");
  CHECK(wide.reference->source.text() == "#define WIDE 1\n#define DEEP deep\n");
  CHECK(wide.baselines.front().source == wide.seeds.front());
  CHECK(wide.baselines.back().source == plain.baselines.back().source);
  CHECK(kevo::source_file_of(wide, wide.seeds.front()) == "seed.cpp");
}

TEST_CASE("values that nothing takes are refused") {
  const folder dir;
  dir.write("seed.cpp", "#define WIDE 0\n#define BM 64  // kevo: {32, 64}\n");
  dir.write("reference.cpp", "#define WIDE 0\n");
  dir.write("b.cpp", "\n");
  const auto refusal = [&](const std::string& line) -> std::string {
    try {
      kevo::load_task(dir.write("task.yaml", good + line + "\n"));
    } catch (const kevo::error& e) {
      CHECK(e.place().line == 16);
      return e.message();
    }
    return "accepted";
  };
  CHECK(refusal("define: {WIDE: 1}") == "accepted");
  CHECK(refusal("define: {WIDTH: 1}").find("'#define WIDTH VALUE'") != std::string::npos);
  CHECK(refusal("define: {BM: 32}").find("'BM' is a tunable") != std::string::npos);
  CHECK(refusal("define: {WIDE: [1]}").find("must be a number or a text") != std::string::npos);
  CHECK(refusal("define: {WIDE: \"1 // one\"}").find("without comments") != std::string::npos);
  CHECK(refusal("define: {WIDE: \"1\\n2\"}").find("one line") != std::string::npos);
  CHECK(refusal("define: {\"WIDE 1\": 2}").find("not a valid name for a macro") != std::string::npos);
  CHECK(refusal("define: [WIDE]").find("expected a map") != std::string::npos);
}
