// Words of any bytes come through the literals of a bundle unchanged: what a compiler, a shell and CMake read
// is what was written.

#include "src/export/bundle/literals.hpp"

#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/text/shell_word.hpp"
#include "src/export/bundle/bundle_parts.hpp"
#include "tests/support/shell.hpp"

namespace {

// The ends of raw strings, quotes, escapes, trigraphs, variables, and letters outside ASCII.
const std::vector<std::string> odd_words = {"-O3",
                                            R"x(-DMARK=")")x",
                                            R"x(-DMARK=)k")x",
                                            R"(-DTEXT="a\"b")",
                                            R"(C:\new\table)",
                                            "it's",
                                            "?"
                                            "?/ and ?",
                                            "$HOME ${HOME} @name@",
                                            "a;b",
                                            "\xc3\xa9"
                                            "1",
                                            "[=[x]=]",
                                            "#define"};

std::string lines_of(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += word + '\n';
  return text;
}

}  // namespace

TEST_CASE("a compiler reads the words that were written as literals of C++") {
  const shell::scratch folder;
  auto words = odd_words;
  words.emplace_back("tab\t, bell\a9, end of a line\n.");
  shell::write_file(folder / "words.cpp",
                    "#include <cstdio>\nconst char* const all[] = {" + kevo::bundle::cpp_literals(words) +
                        "};\nint main() {\n  for (const char* one : all) std::puts(one);\n}\n");
  const auto built = shell::run({"/usr/bin/env", "c++", "-std=c++11", "-Werror", "words.cpp", "-o", "words"},
                                folder.string());
  REQUIRE_MESSAGE(built.code == 0, built.err);
  CHECK(shell::run({(folder / "words").string()}).out == lines_of(words));
}

TEST_CASE("a shell reads the words that were written for it") {
  std::string line = "printf '%s\\n'";
  for (const auto& word : odd_words) line += ' ' + kevo::shell_word(word);
  CHECK(shell::run({"/bin/sh", "-c", line}).out == lines_of(odd_words));
}

TEST_CASE("CMake reads the words that were written as one argument and separates them") {
  const shell::scratch folder;
  std::string line;
  std::vector<std::string> words;
  for (const auto& word : odd_words) {
    // A semicolon separates the items of a list in CMake.
    if (word.find(';') != std::string::npos) continue;
    words.push_back(word);
    line += (line.empty() ? "" : " ") + kevo::bundle::cmake_word(word);
  }
  shell::write_file(folder / "words.cmake",
                    "separate_arguments(all UNIX_COMMAND " + kevo::bundle::cmake_literal(line) +
                        ")\nforeach(one IN LISTS all)\n  message(\"${one}\")\nendforeach()\n");
  const auto read = shell::run({"/usr/bin/env", "cmake", "-P", "words.cmake"}, folder.string());
  CHECK(read.code == 0);
  CHECK(read.err == lines_of(words));
}

TEST_CASE("a value that looks like a key of a shipped file stays as it is") {
  const auto text = kevo::bundle::filled(
      "recompile.cpp.in",
      {{"name", "it"}, {"options", R"("-DX=@main@")"}, {"kernels", R"("@options@")"}, {"main", "\"k.cu\""}});
  CHECK(text.find(R"(options[] = {"-DX=@main@"};)") != std::string::npos);
  CHECK(text.find(R"(kernels[] = {"@options@"};)") != std::string::npos);
  CHECK(text.find(R"(main_file = "k.cu";)") != std::string::npos);
}
