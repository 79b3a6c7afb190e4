// What a source asks for by pragmas and attributes, in the words of a preprocessor.
#include "fitness/build/fast_math.hpp"

#include <string>

#include <doctest/doctest.h>

namespace {

kevo::program source_of(const std::string& text) {
  return kevo::single_file_program("cpp", "kernel.cpp", text);
}

// What is found in a text that is preprocessed already; empty if nothing is.
std::string asked(const std::string& text) {
  const auto found = kevo::find_fast_math(source_of(""), text);
  return found ? found->what : std::string();
}

}  // namespace

TEST_CASE("pragmas and attributes that ask for fast math are found however they are written") {
  for (const char* option : {"fast-math", "Ofast", "unsafe-math-optimizations", "associative-math",
                             "reciprocal-math", "finite-math-only", "no-signed-zeros"}) {
    const std::string name = option;
    INFO(name);
    CHECK(asked("#pragma GCC optimize(\"" + name + "\")\n") == name);
    CHECK(asked("#pragma GCC optimize \"O3,unroll-loops\", \"" + name + "\"\n") == name);
    CHECK(asked("__attribute__((noinline, optimize(\"O3\", \"" + name + "\"))) void f();\n") == name);
    CHECK(asked("[[using gnu: __optimize__ (\n\"" + name + "\")]] void f();\n") == name);
  }
  CHECK(asked("  #  pragma GCC optimize (\"-ffast-math\")\n") == "-ffast-math");
  CHECK(asked("#pragma GCC optimize(\"fast\" \"-\" \"math\")\n") == "fast-math");
  CHECK(asked("[[gnu::optimize(\"O3,fast-\"\n\"math\")]] void f();") == "fast-math");
  CHECK(
      asked("[[gnu::optimize(\"fast\"\n# 20 \"kernel.cpp\"\n# 21 \"kernel.cpp\"\n\n\"-math\")]] void f();") ==
      "fast-math");
  for (const char* hidden : {"\"\\x66ast-math\"", "R\"(fast-math)\"", "u8\"fast-math\"", "LR\"x(a)x\""})
    CHECK_FALSE(asked("[[gnu::optimize(" + std::string(hidden) + ")]] void f();").empty());
  // Behind what could be taken for the beginning of something else.
  const std::string pragma = "\n#pragma GCC optimize(\"Ofast\")\n";
  for (const char* before :
       {"int i = 1'000'000;", "char c = '\"';", "char c = u8'\\'';", "auto s = \"\\\\\";",
        "auto s = R\"a(\n\")a\";", "double d = 1e+5'0;", "auto s = \"/*\";", "int R = 1; auto x = R'\\0';"})
    CHECK_MESSAGE(asked(before + pragma) == "Ofast", before);
}

TEST_CASE("pragmas of clang are found") {
  CHECK(asked("#pragma clang fp reassociate(on) contract(fast)\n") == "reassociate(on)");
  CHECK(asked("#pragma clang fp reciprocal(on)\n") == "reciprocal(on)");
  CHECK(asked("#pragma float_control(precise, off, push)\n") == "float_control(precise, off)");
  CHECK(asked("#pragma STDC CX_LIMITED_RANGE ON\n") == "CX_LIMITED_RANGE");
}

TEST_CASE("what changes no result needs no permission") {
  for (const char* text :
       {"#pragma GCC optimize(\"O3\", \"unroll-loops\", \"no-trapping-math\", \"fp-contract=fast\")\n",
        "#pragma GCC optimize(\"no-fast-math\")\n", "#pragma clang fp contract(fast)\n",
        "#pragma clang fp reassociate(off)\n", "#pragma float_control(precise, on)\n",
        "#pragma STDC FP_CONTRACT ON\n", "#pragma omp simd reduction(+ : sum)\n",
        "auto s = \"__attribute__((optimize(\\\"Ofast\\\")))\";\n",
        "auto s = R\"(\n#pragma GCC optimize(\"Ofast\")\n)\";\n",
        "void optimize(int); int main() { optimize(3); const char* o = \"Ofast\"; }\n"})
    CHECK_MESSAGE(asked(text).empty(), text);
}

TEST_CASE("a place is told as the source's author knows it") {
  const auto found = kevo::find_fast_math(
      source_of(""),
      "# 0 \"kernel.cpp\"\n# 1 \"kernel.cpp\"\n# 1 \"/usr/include/x.h\" 1 3 4\nint x;\n\nauto r = "
      "R\"(\n\n)\";\n"
      "# 2 \"kernel.cpp\" 2\n\nauto r = R\"(\n)\"; [[gnu::optimize(\"Ofast\")]] void f();\n");
  REQUIRE(found);
  CHECK(found->file == "kernel.cpp");
  CHECK(found->line == 4);
}

TEST_CASE("headers of the system are not asked, and a source cannot say that it is one") {
  const std::string text =
      "# 1 \"kernel.cpp\"\n# 1 \"/usr/include/x.h\" 1 3 4\n#pragma GCC optimize(\"Ofast\")\n# 2 "
      "\"kernel.cpp\" 2\n";
  CHECK_FALSE(kevo::find_fast_math(source_of("#include <x.h>\nint x[] = {3};\n"), text));
  for (const char* forged :
       {"# 1 \"/usr/include/x.h\" 1\n", "  #\t1 \"/usr/x.h\" 1\n", "%: 1 \"/usr/x.h\" 1\n",
        "/**/#/**/1 \"/usr/x.h\" 1\n", "#\\\n1 \"/usr/x.h\" 1\n"})
    CHECK_MESSAGE(kevo::find_fast_math(source_of(forged), text), forged);
  // A directive without flags changes the name alone, and names outside of the system's folders are no help.
  for (const char* entered : {"# 1 \"/usr/include/x.h\"\n", "# 1 \"x.h\" 1\n", "# 1 \"/src/x.h\" 1 3\n",
                              "# 1 \"/usr/include/../../src/x.h\" 1\n"})
    CHECK(kevo::find_fast_math(
        source_of(""), "# 1 \"kernel.cpp\"\n" + std::string(entered) + "#pragma GCC optimize(\"Ofast\")\n"));
}

TEST_CASE("programs without the words, and without means to make them, are not preprocessed for it") {
  CHECK_FALSE(kevo::may_ask_for_fast_math(source_of(
      "#include <cstdint>\n#define ADD(a, b) \\\n  ((a) + (b))\n#pragma omp simd\nint x = 'a';\n")));
  for (const char* text :
       {"#pragma GCC optimize(\"O3\")\n", "#define J(a, b) a##b\n", "#define J(a, b) a %:%: b\n",
        "[[gnu::opti\\\nmize(\"O3\")]] void f();", "[[gnu::opti\\  \nmize(\"O3\")]] void f();",
        "#define J(a, b) a #\\\n# b\n", "#pragma clang fp contract(off)\n", "#pragma float_control(push)\n",
        "_GLIBCXX_SIMD_NORMAL_MATH void f();"})
    CHECK_MESSAGE(kevo::may_ask_for_fast_math(source_of(text)), text);
}
