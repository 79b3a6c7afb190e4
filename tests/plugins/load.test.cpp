// A plug-in as docs/guide/operator.md says it is written, built and loaded.
#include "src/plugins/load.hpp"

#include <filesystem>

#include <doctest/doctest.h>

#include "src/plugins/builtin.hpp"
#include "tests/support/shell.hpp"

namespace {

/// What stands in the first block of `language` after `heading` in the guide.
std::string block_of_guide(const std::string& heading, const std::string& language) {
  const std::string page = shell::read_file(KEVO_SOURCE_DIR "/docs/guide/operator.md");
  const std::size_t section = page.find("\n## " + heading + '\n');
  REQUIRE(section != std::string::npos);
  const std::size_t opened = page.find("\n```" + language, section);
  REQUIRE(opened != std::string::npos);
  const std::size_t begin = page.find('\n', opened + 1) + 1;
  return page.substr(begin, page.find("\n```\n", begin) + 1 - begin);
}

std::string with(std::string text, const std::string& from, const std::string& to) {
  REQUIRE(text.find(from) != std::string::npos);
  return text.replace(text.find(from), from.size(), to);
}

}  // namespace

TEST_CASE("the guide's plug-in builds by the guide's command and runs from the folder of its config") {
  const shell::scratch folder;
  shell::write_file(folder / "my_plugin.cpp", block_of_guide("A plug-in of your own", "cpp"));
  const std::string command =
      with(block_of_guide("A plug-in of your own", "sh"), "$KEVO/include", KEVO_SOURCE_DIR "/include");
  const auto built = shell::run({"/bin/sh", "-c", command}, folder.string());
  REQUIRE_MESSAGE(built.code == 0, built.err);

  shell::write_file(folder / "seed.txt", "start\n");
  shell::write_file(folder / "reference.cpp", "extern \"C\" void reference() {}\n");
  // The longer the better.
  shell::write_file(folder / "score.sh", "#!/bin/sh\necho \"{\\\"score\\\": $(wc -c < \"$1\")}\"\n");
  shell::write_file(
      folder / "task.yaml",
      "name: toy\nop_type: toy\naxes: {K: {type: var}}\n"
      "inputs: {A: {shape: [K], dtype: float32}}\noutputs: {B: {shape: [K], dtype: float32}}\n"
      "reference: {language: cpp, file: reference.cpp}\nworkloads: [{uuid: one, axes: {K: 4}}]\n"
      "seeds: [seed.txt]\n");
  shell::write_file(folder / "config.yaml",
                    "run: {output: run}\ntask: task.yaml\nplugins: [my_plugin.so]\n"
                    "fitness: {backend: command, command: [/bin/sh, score.sh], directory: ., sandbox: off}\n"
                    "archive: {type: top_k, k: 5}\nselect: {type: greedy}\n"
                    "vary: {operators: [{type: prefetch}]}\nstop: {evaluations: 2}\n");
  const auto ran = shell::run(shell::kevo({"run", "config.yaml", "--json"}), folder.string());
  REQUIRE_MESSAGE(ran.code == 0, ran.out << ran.err);
  CHECK(shell::read_file(folder / "run/best.txt").find("#pragma GCC optimize") == 0);
}

TEST_CASE("what is no plug-in is refused by name") {
  const shell::scratch folder;
  kevo::registry all = kevo::builtin_plugins();
  const std::string path = (folder / "text.so").string();
  CHECK_THROWS_WITH_AS(kevo::load_plugin(path, all), doctest::Contains("the plug-in file does not exist"),
                       kevo::error);
  shell::write_file(path, "not an object\n");
  CHECK_THROWS_WITH_AS(kevo::load_plugin(path, all), doctest::Contains("cannot load the plug-in"),
                       kevo::error);
}

TEST_CASE("a plug-in that was built against another interface is refused, with both tags") {
  const shell::scratch folder;
  const auto loaded = [&](std::uint64_t tag) {
    const std::string name = "tag_" + std::to_string(tag);
    shell::write_file(folder / (name + ".cpp"), "extern \"C\" unsigned long kevo_plugin_abi() { return " +
                                                    std::to_string(tag) +
                                                    "ul; }\nextern \"C\" void kevo_plugin(void*) {}\n");
    const auto built = shell::run({"/bin/sh", "-c", "g++ -shared -fPIC -o " + name + ".so " + name + ".cpp"},
                                  folder.string());
    REQUIRE_MESSAGE(built.code == 0, built.err);
    kevo::registry all;
    kevo::load_plugin((folder / (name + ".so")).string(), all);
  };
  CHECK_NOTHROW(loaded(kevo::plugin_abi()));
  CHECK_THROWS_WITH_AS(loaded(kevo::plugin_abi() + 1), doctest::Contains("was built for plug-in interface"),
                       kevo::error);
}
