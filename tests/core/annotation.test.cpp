// links: core
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/annotation.hpp>
#include <kevo/random.hpp>

namespace {

const std::string cuda_source =
    "#define BM 64   // kevo: {16, 32, 64, 128}\n"
    "#define  BN\t0x40  // kevo: {16..64 step 16}\r\n"
    "static constexpr int UNROLL = 4;  // kevo: {1..8}\n"
    "const float alpha = 0.5f; // kevo: {0.25f, 0.5f, 1e-3f}\n"
    "  constexpr auto vec = float4 ;  /// kevo: {float2, float4}\n"
    "// kevo: require BM * BN <= 16384\n"
    "//kevo:require UNROLL < BN\n"
    "// kevo: begin inner\n"
    "  for (;;) {}\n"
    "\n"
    "// kevo: end inner\n"
    "// kevo: begin empty\n"
    "// kevo: end empty\n"
    "// kevo: workspace partial float32 [M, N]\n"
    "// kevo: when M > 4: for i in 0..3: launch mm<<<(1,1), 256, 0>>>(A)\n";

const std::string python_source =
    "import torch\n"
    "BLOCK = 64  # kevo: {32, 64}\n"
    "WARPS: tl.constexpr = 4  ## kevo: {1, 2, 4, 8}\n"
    "MODE = \"fast # path\" # kevo: {\"fast # path\", 'slow'}\n"
    "FLAG = True # kevo: {True, False}\n"
    "# EVOLVE-BLOCK-START\n"
    "x = 1\n"
    "# EVOLVE-BLOCK-END\n"
    "    # EVOLVE-BLOCK-START with words\n"
    "    # EVOLVE-BLOCK-END";

}  // namespace

TEST_CASE("annotations of a C-like source") {
  const auto found = kevo::parse_annotations(cuda_source);
  REQUIRE(found.tunables.size() == 5);
  const auto& bm = found.tunables[0];
  CHECK(bm.name == "BM");
  CHECK(bm.value == "64");
  CHECK(bm.domain == std::vector<std::string>{"16", "32", "64", "128"});
  CHECK(bm.current == 2);
  CHECK(bm.style == kevo::tunable_style::define);
  CHECK(bm.line == 1);
  CHECK(bm.column == 12);
  CHECK(cuda_source.substr(bm.offset, bm.value.size()) == "64");
  CHECK(found.tunables[1].value == "0x40");
  CHECK(found.tunables[1].domain == std::vector<std::string>{"16", "32", "48", "0x40"});
  CHECK(found.tunables[2].name == "UNROLL");
  CHECK(found.tunables[2].style == kevo::tunable_style::constant);
  CHECK(found.tunables[2].domain.size() == 8);
  CHECK(found.tunables[3].domain == std::vector<std::string>{"0.25f", "0.5f", "1e-3f"});
  CHECK(found.tunables[4].value == "float4");
  REQUIRE(found.requirements.size() == 2);
  CHECK(found.requirements[1].condition.text() == "UNROLL < BN");
  CHECK(found.requirements[1].line == 7);
  REQUIRE(found.regions.size() == 2);
  CHECK(cuda_source.substr(found.regions[0].offset, found.regions[0].length) == "  for (;;) {}\n\n");
  CHECK(found.regions[0].begin_line == 8);
  CHECK(found.regions[0].end_line == 11);
  CHECK(found.regions[1].length == 0);
  REQUIRE(found.directives.size() == 2);
  CHECK(found.directives[0].word == "workspace");
  CHECK(found.directives[1].text == "when M > 4: for i in 0..3: launch mm<<<(1,1), 256, 0>>>(A)");
  CHECK(found.directives[1].line == 15);
  CHECK(found.directives[1].column == 10);
}

TEST_CASE("annotations of a Python source") {
  const auto found = kevo::parse_annotations(python_source);
  REQUIRE(found.tunables.size() == 4);
  CHECK(found.tunables[0].style == kevo::tunable_style::assignment);
  CHECK(found.tunables[1].name == "WARPS");
  CHECK(found.tunables[2].value == "\"fast # path\"");
  CHECK(found.tunables[3].domain == std::vector<std::string>{"True", "False"});
  REQUIRE(found.regions.size() == 2);
  CHECK(found.regions[0].name == "evolve_block_1");
  CHECK(python_source.substr(found.regions[0].offset, found.regions[0].length) == "x = 1\n");
  CHECK(found.regions[1].name == "evolve_block_2");
  CHECK(kevo::parse_annotations("").tunables.empty());
  CHECK(kevo::parse_annotations("// kevo is a word, and so is kevo: here\nint x; // my kevo: {3}")
            .tunables.empty());
}

TEST_CASE("build lines: values, tunables that they name, and domains of their own") {
  const std::string text =
      "// kevo: build {compiler: nvcc, registers: CAP, optimize: 3 {2, 3}}\n"
      "#define CAP 128  // kevo: {0, 128}\n"
      "# kevo: build {later: CAP}\n"
      "// kevo: require build.optimize + CAP > 3\n";
  const auto found = kevo::parse_annotations(text);
  REQUIRE(found.build.size() == 4);
  CHECK(found.build[0].name == "compiler");
  CHECK(found.build[0].value == "nvcc");
  CHECK(found.build[0].tunable.empty());
  CHECK(found.build[1].value == "128");
  CHECK(found.build[1].tunable == "CAP");
  CHECK(found.build[1].column == 44);
  CHECK(found.build[2].tunable == "build.optimize");
  CHECK(found.build[3].line == 3);
  CHECK(found.directives.empty());
  REQUIRE(found.tunables.size() == 2);
  CHECK(found.tunables[0].name == "build.optimize");
  CHECK(found.tunables[0].style == kevo::tunable_style::option);
  CHECK(text.substr(found.tunables[0].offset, 1) == "3");
  const auto changed = kevo::set_tunables(text, {{"build.optimize", "2"}, {"CAP", "0"}});
  CHECK(changed.find("optimize: 2 {2, 3}}") != std::string::npos);
  CHECK(kevo::parse_annotations(changed).build[1].value == "0");
}

TEST_CASE("bad annotations are refused with line, column and hint") {
  struct row {
    std::string text;
    int line;
    int column;
    std::string says;
    std::string hint;
  };
  const std::vector<row> table = {
      {"\n// kevo: requires x", 2, 10, "unknown directive 'requires'", "did you mean 'require'?"},
      {"// kevo:", 1, 9, "without a directive", "write"},
      {"// kevo: 3", 1, 10, "expected a directive or '{'", ""},
      {"// Kevo: require 1", 1, 4, "starts with 'kevo:'", "lower case"},
      {"# kevo : end a", 1, 3, "starts with 'kevo:'", ""},
      {"// kevo: {1, 2}", 1, 1, "must be on the line of its value", "#define"},
      {"#define N 3 // kevo: {1, 2}", 1, 11, "the value 3 of 'N' is not in its domain", ""},
      {"#define N 3 // kevo: {}", 1, 22, "the domain is empty", "for example {1, 2, 4}"},
      {"#define N 3 // kevo: {3", 1, 24, "'}' is missing", ""},
      {"#define N 3 // kevo: {3 4}", 1, 25, "expected ',' or '}'", ""},
      {"#define N 3 // kevo: {3,}", 1, 25, "expected a value", ""},
      {"#define N 3 // kevo: {3, 0x3}", 1, 26, "the domain has the value 0x3 more than once",
       "remove the repeated value"},
      {"#define N 3 // kevo: {3} rows", 1, 26, "unexpected text after '}'", ""},
      {"#define N 3 // kevo: {3..1}", 1, 26, "less than its start", ""},
      {"#define N 3 // kevo: {1..3 step 0}", 1, 33, "must be positive", ""},
      {"#define N 3 // kevo: {1..99999}", 1, 23, "more than 10000", "a larger step"},
      {"#define N 3 // kevo: {1..b}", 1, 26, "of a range must be integers", "write {lo..hi}"},
      {"#define N 3 // kevo: {1, 2..3}", 1, 26, "both single values and a range", "write {lo..hi}"},
      {"#define N 3 // kevo: {1..3 by 2}", 1, 28, "expected 'step' or '}'", ""},
      {"#define N (3) // kevo: {3}", 1, 11, "must be a single literal", ""},
      {"#define N 1 + 2 // kevo: {1}", 1, 11, "must be a single literal", ""},
      {"#define N // kevo: {1}", 1, 11, "must be a single literal", ""},
      {"#define F(x) 3 // kevo: {3}", 1, 10, "cannot have parameters", ""},
      {"int n = 3; // kevo: {3}", 1, 1, "must be declared as a constant", ""},
      {"if (n == 3) // kevo: {3}", 1, 1, "must be declared as a constant", ""},
      {"#define N 3 // kevo: {3}\n#define N 3 // kevo: {3}", 2, 11, "already defined in line 1", ""},
      {"#define N 3 // kevo: {3}\n// kevo: require NN > 1", 2, 18, "'NN' is not a tunable", "tunables: N"},
      {"#define N a // kevo: {a}\n// kevo: require N > 1", 2, 18, "needs integer values", ""},
      {"// kevo: require", 1, 17, "needs a condition", ""},
      {"#define N 3 // kevo: {3}\n//  kevo: require  N >", 2, 23, "a value is missing at its end", ""},
      {"// kevo: build", 1, 15, "needs options in braces", "write build {option: value}"},
      {"// kevo: build {", 1, 17, "expected the name of a build option", ""},
      {"// kevo: build {}", 1, 17, "expected the name of a build option", ""},
      {"// kevo: build {a 1}", 1, 19, "expected ':' after 'a'", ""},
      {"// kevo: build {a: }", 1, 20, "must be a number or a name", ""},
      {"// kevo: build {a: -I/etc}", 1, 20, "must be a number or a name", ""},
      {"// kevo: build {a: {1, 2}}", 1, 20, "must be a number or a name", ""},
      {"// kevo: build {a: 1 b}", 1, 22, "expected ',' or '}'", ""},
      {"// kevo: build {a: 1,}", 1, 22, "expected the name of a build option", ""},
      {"// kevo: build {a: 1 {1, 2}", 1, 28, "'}' is missing", ""},
      {"// kevo: build {a: 3 {1, 2}}", 1, 20, "the value 3 of 'build.a' is not in its domain", ""},
      {"// kevo: build {a: 1} b", 1, 23, "unexpected text after '}'", ""},
      {"// kevo: build {a: 1}\n// kevo: build {a: 2}", 2, 17, "'a' is already given in line 1", ""},
      {"// kevo: begin", 1, 15, "needs the name", ""},
      {"// kevo: begin a b", 1, 18, "unexpected text", ""},
      {"\n\n// kevo: begin a", 3, 1, "has no 'end' line", "end a"},
      {"// kevo: end a", 1, 14, "has no 'begin' line", ""},
      {"// kevo: begin a\n// kevo: begin b", 2, 16, "begins inside region 'a'", "nested"},
      {"// kevo: begin a\n// kevo: end b", 2, 14, "does not match the open region 'a'", ""},
      {"// kevo: begin a\n// kevo: end a\n// kevo: begin a", 3, 16, "already defined in line 1", ""},
      {"# EVOLVE-BLOCK-END", 1, 3, "without EVOLVE-BLOCK-START", ""},
      {"# EVOLVE-BLOCK-START\n# EVOLVE-BLOCK-START", 2, 3, "begins inside", ""},
  };
  for (const auto& entry : table) {
    CAPTURE(entry.text);
    try {
      kevo::parse_annotations(entry.text, "k.cu");
      FAIL_CHECK("accepted");
    } catch (const kevo::error& e) {
      CHECK(e.code() == kevo::error_code::input);
      CHECK(e.place().file == "k.cu");
      CHECK(e.place().line == entry.line);
      CHECK_MESSAGE(e.place().column == entry.column, e.what());
      CHECK_MESSAGE(e.message().find(entry.says) != std::string::npos, e.what());
      CHECK_MESSAGE(e.hint().find(entry.hint) != std::string::npos, e.what());
    }
  }
}

TEST_CASE("tunables are replaced and every other byte stays") {
  const auto changed = kevo::set_tunables(cuda_source, {{"BM", "128"}, {"BN", "16"}, {"vec", "float2"}});
  const auto found = kevo::parse_annotations(changed);
  CHECK(found.find_tunable("BM")->value == "128");
  CHECK(found.find_tunable("BN")->value == "16");
  CHECK(found.find_tunable("vec")->value == "float2");
  auto back = kevo::set_tunables(changed, {{"BM", "64"}, {"vec", "float4"}, {"BN", "48"}});
  CHECK(back.replace(back.find("48"), 2, "0x40") == cuda_source);
  CHECK(kevo::set_tunables(cuda_source, {}) == cuda_source);
  CHECK_THROWS_AS(kevo::set_tunables(cuda_source, {{"BK", "1"}}), kevo::error);
  CHECK_THROWS_AS(kevo::set_tunables(cuda_source, {{"BM", "65"}}), kevo::error);
}

TEST_CASE("regions are replaced and every other byte stays") {
  const auto changed = kevo::replace_region(cuda_source, "inner", "  x();");
  const auto at = cuda_source.find("  for (;;)");
  CHECK(changed == cuda_source.substr(0, at) + "  x();\n" + cuda_source.substr(at + 15));
  CHECK(kevo::replace_region(changed, "inner", "  for (;;) {}\n\n") == cuda_source);
  CHECK(kevo::replace_region(kevo::replace_region(cuda_source, "empty", "y"), "empty", "") == cuda_source);
  CHECK_THROWS_AS(kevo::replace_region(cuda_source, "outer", ""), kevo::error);
  CHECK_THROWS_AS(kevo::replace_region(cuda_source, "inner", "// kevo: end inner\n// kevo: begin inner2"),
                  kevo::error);
  CHECK_THROWS_AS(kevo::replace_region(cuda_source, "inner", "// kevo: end inner\n"), kevo::error);
}

TEST_CASE("files of a program share their tunables") {
  const kevo::program source{
      "cuda",
      {{"k.cu", "// kevo: require A < B\nconstexpr int A = 1; // kevo: {1, 2}\n"},
       {"k.h", "// x\nconstexpr int B = 3; // kevo: {2, 3}\n// kevo: begin r\n1\n// kevo: end r\n"}}};
  const auto found = kevo::parse_annotations(source);
  REQUIRE(found.tunables.size() == 2);
  CHECK(found.tunables[1].file == 1);
  const auto changed = kevo::set_tunables(source, {{"A", "2"}, {"B", "2"}});
  CHECK(changed.files[0].text.find("A = 2;") != std::string::npos);
  CHECK(changed.files[1].text.find("B = 2;") != std::string::npos);
  CHECK(region_text(source, *found.find_region("r")) == "1\n");
}

TEST_CASE("integer literals of C and Python") {
  CHECK(kevo::integer_literal("42") == 42);
  CHECK(kevo::integer_literal("-0x10") == -16);
  CHECK(kevo::integer_literal("7ull") == 7);
  CHECK(kevo::integer_literal("true") == 1);
  CHECK(kevo::integer_literal("0") == 0);
  CHECK(kevo::integer_literal("-9223372036854775808") == INT64_MIN);
  for (const char* text : {"", "-", "0x", "1.5", "1f", "a", "017", "9223372036854775808", "\"1\""}) {
    CAPTURE(text);
    CHECK_FALSE(kevo::integer_literal(text));
  }
}

TEST_CASE("whatever the text, parsing ends in annotations that hold together or in an input error") {
  const std::vector<std::string> pieces = {"// kevo: ",
                                           "# kevo:",
                                           "{",
                                           "}",
                                           "1",
                                           "..",
                                           ",",
                                           " step ",
                                           "begin ",
                                           "end ",
                                           "a",
                                           "\n",
                                           "\n",
                                           "#define N ",
                                           "const x = ",
                                           "=",
                                           ";",
                                           "\"",
                                           "require ",
                                           "N",
                                           "EVOLVE-BLOCK-START",
                                           "// EVOLVE-BLOCK-END",
                                           "\r",
                                           "(",
                                           "-",
                                           "<"};
  kevo::rng random(5);
  int accepted = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string text;
    const auto n = random.below(14);
    for (std::uint64_t k = 0; k < n; ++k) text += pieces[random.below(pieces.size())];
    try {
      const auto found = kevo::parse_annotations(text);
      ++accepted;
      for (const auto& t : found.tunables) {
        REQUIRE(text.substr(t.offset, t.value.size()) == t.value);
        REQUIRE(t.domain.at(t.current) == t.value);
        for (const auto& value : t.domain) {
          const auto changed = kevo::set_tunables(text, {{t.name, value}});
          REQUIRE(kevo::parse_annotations(changed).find_tunable(t.name)->value == value);
        }
      }
      for (const auto& r : found.regions) {
        REQUIRE(kevo::replace_region(text, r.name, text.substr(r.offset, r.length)) == text);
      }
    } catch (const kevo::error& e) {
      REQUIRE(e.code() == kevo::error_code::input);
    }
  }
  CHECK(accepted > 1000);
}
