// links: core
// What may be called confirmed: the interval excludes 1 and is narrow.
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include <kevo/detail/same_source.hpp>
#include <kevo/verdict.hpp>

using namespace kevo;

TEST_CASE("a speedup is confirmed only by an interval that excludes 1 and is narrow enough") {
  const auto reason = [](double speedup, interval range, double widest = 0.1) {
    return verdict_on(speedup, range, {.widest = widest}).reason;
  };
  constexpr double infinity = std::numeric_limits<double>::infinity();
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  CHECK(reason(1.81, {0.14, 27.17}) == verdict_reason::contains_one);
  CHECK(reason(1.02, {1, 1.04}) == verdict_reason::contains_one);  // an end belongs to it
  CHECK(reason(0.98, {0.96, 1}) == verdict_reason::contains_one);
  CHECK(reason(1.37, {1.36, 1.38}) == verdict_reason::none);
  CHECK(reason(0.8, {0.79, 0.81}) == verdict_reason::none);  // surely slower is sure, too
  CHECK(reason(2, {1.91, 2.1}) == verdict_reason::none);
  CHECK(reason(2, {1.89, 2.1}) == verdict_reason::wide);
  CHECK(reason(2, {1.89, 2.1}, 0.2) == verdict_reason::none);
  CHECK(reason(0.8, {0.72, 0.9}) == verdict_reason::wide);
  CHECK(reason(5, {4, infinity}) == verdict_reason::wide);
  CHECK(reason(5, {nan, nan}) == verdict_reason::wide);
  CHECK(reason(5, {0, infinity}) == verdict_reason::contains_one);
}

TEST_CASE("a score without an interval is a score, and where no rules are applied everything is confirmed") {
  CHECK(verdict_on(0, {0, 0}, {}).confirmed());
  CHECK(verdict_on(1, {1, 1}, {}).confirmed());  // a command's speedup: nothing is said of its spread
  CHECK(verdict_on(1.8, {0.1, 27}, {.decides = false}).confirmed());
  CHECK(verdict_on(1.8, {0.1, 27}, {}).word() == verdict_word::undecided);
  CHECK(verdict_on(1.8, {0.1, 27}, {}).widest == 0.1);
}

TEST_CASE("names of reasons are read back") {
  for (const auto name : verdict_reason_names) {
    REQUIRE(parse_verdict_reason(name));
    CHECK(to_string(*parse_verdict_reason(name)) == name);
  }
  CHECK_FALSE(parse_verdict_reason("whatever"));
}

TEST_CASE("programs are the same where only blanks and comments differ") {
  const auto same = [](std::string_view a, std::string_view b, const char* language = "cpp") {
    return detail::same_source(single_file_program(language, "a", std::string(a)),
                               single_file_program(language, "b", std::string(b)));
  };
  CHECK(same("int f() { return 1; }\n", "int f() {   return 1; } // one\n\n"));
  CHECK(same("/* head */\nint f() {\n  return 1;\n}", "\n\nint f() {\n\treturn 1; /* one */\n}\n"));
  CHECK_FALSE(same("int f() { return 1; }", "int f() { return 11; }"));
  CHECK_FALSE(same("#define N 1\nint x;", "#define N 1 int x;"));  // lines are the preprocessor's
  CHECK_FALSE(same("auto s = \"a  b\";", "auto s = \"a b\";"));
  CHECK_FALSE(same("auto s = \"//a\";", "auto s = \"//b\";"));
  CHECK_FALSE(same("auto s = \"\\\"//a\";", "auto s = \"\\\"//b\";"));
  CHECK_FALSE(same("char c = '\"'; int a; // \"", "char c = '\"'; int b; // \""));
  CHECK(same("int x = 1'000; // a", "int x = 1'000; // b"));
  CHECK(same("int x = 0xA'B; // a", "int x = 0xA'B; // b"));
  // A line that goes on behind a backslash continues a comment, too.
  CHECK_FALSE(same("// off: \\\nint slow = 1;\nint f();", "int slow = 1;\nint f();"));
  CHECK_FALSE(same("// off: \\ \r\nint slow = 1;\nint f();", "int slow = 1;\nint f();"));
  // A prefix belongs to its literal; the apostrophe after it separates no digits.
  for (const std::string_view prefix : {"L", "u", "U", "u8"}) {
    const std::string text = "auto c = " + std::string(prefix) + "'\"'; auto s = \"";
    CHECK_FALSE(same(text + "a  b\";", text + "a b\";"));
    CHECK(same(text + "a  b\";  // one", text + "a  b\";"));
  }
  CHECK_FALSE(same("auto s = R\"(// a)\";", "auto s = R\"(// b)\";"));
  CHECK_FALSE(same("// kevo: launch a<<<1, 1>>>()\n", "// kevo: launch b<<<1, 1>>>()\n", "cuda"));
  CHECK_FALSE(same("inta;", "int a;"));
  CHECK(same("def f():\n  return 1\n", "def f():  \n\n  return 1", "python"));
  CHECK_FALSE(same("if a:\n  b\n  c\n", "if a:\n  b\nc\n", "python"));
  CHECK_FALSE(
      detail::same_source(single_file_program("cpp", "a", "x"), single_file_program("cuda", "a", "x")));
}
