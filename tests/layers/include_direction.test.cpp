// links: core
// scripts/check_layers.sh: no include runs up a layer, and one that does is found.
// The headers that include others include all of them.
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include "tests/support/shell.hpp"

namespace {

const std::string script = KEVO_SOURCE_DIR "/scripts/check_layers.sh";

/// A tree with the table of this repository and some files.
struct planted_tree {
  shell::scratch folder;
  planted_tree() {
    std::filesystem::create_directories(folder / "scripts");
    std::filesystem::copy_file(KEVO_SOURCE_DIR "/scripts/layers.txt", folder / "scripts/layers.txt");
  }
  void write(const std::string& path, const std::string& text) const {
    shell::write_file(folder / path, text);
  }
  shell::result check() const { return shell::run({script, folder.string()}); }
};

}  // namespace

TEST_CASE("no include of this repository runs up a layer") {
  const auto checked = shell::run({script});
  INFO(checked.out << checked.err);
  CHECK(checked.code == 0);
  CHECK(checked.out.empty());
}

TEST_CASE("an include that runs up a layer is named with its file and line") {
  const planted_tree tree;
  tree.write("src/base/json/planted.cpp", "#include <string>\n\n#include \"src/run/run.hpp\"\n");
  tree.write("src/llm/planted.cpp", "  #  include \"fitness/oracle/oracle.hpp\"\n");
  tree.write("include/kevo/planted.hpp", "#include <src/base/text/format.hpp>\n");
  const auto checked = tree.check();
  CHECK(checked.code == 1);
  CHECK(checked.out ==
        "include/kevo/planted.hpp:1: includes \"src/base/text/format.hpp\": include/kevo (layer core) may "
        "not include "
        "src/base/text (layer base)\n"
        "src/base/json/planted.cpp:3: includes \"src/run/run.hpp\": src/base/json (layer base) may not "
        "include src/run "
        "(layer run)\n"
        "src/llm/planted.cpp:1: includes \"fitness/oracle/oracle.hpp\": src/llm (layer llm) may not include "
        "fitness/oracle (layer fitness)\n");
}

TEST_CASE("within a layer includes follow the order of its folders") {
  const planted_tree tree;
  tree.write("fitness/process/planted.cpp", "#include \"fitness/sandbox/sandbox.hpp\"\n");
  tree.write("fitness/sandbox/planted.cpp",
             "#include \"fitness/process/process.hpp\"\n#include <kevo/error.hpp>\n");
  const auto checked = tree.check();
  CHECK(checked.code == 1);
  CHECK(checked.out ==
        "fitness/process/planted.cpp:1: includes \"fitness/sandbox/sandbox.hpp\": fitness/process (layer "
        "fitness) may "
        "not include fitness/sandbox (layer fitness)\n");
}

TEST_CASE("what is no include is not taken for one, and downward includes pass") {
  const planted_tree tree;
  tree.write("src/base/json/planted.cpp", "// #include \"src/run/run.hpp\"\n#include <kevo/error.hpp>\n");
  tree.write("src/run/planted.cpp",
             "#include \"src/base/json/json_text.hpp\"\n#include \"operators/tune/tune.hpp\"\n");
  const auto checked = tree.check();
  CHECK(checked.out.empty());
  CHECK(checked.code == 0);
}

TEST_CASE("a folder that the table does not have is an error, and so is a missing table") {
  const planted_tree tree;
  tree.write("src/planted/planted.cpp", "int planted;\n");
  const auto checked = tree.check();
  CHECK(checked.code == 1);
  CHECK(checked.out.find("src/planted/planted.cpp: its folder is not in scripts/layers.txt") == 0);

  const shell::scratch empty;
  shell::write_file(empty / "src/base/json/planted.cpp", "int planted;\n");
  CHECK(shell::run({script, empty.string()}).code != 0);
}

TEST_CASE("kevo.hpp and models.hpp together include every model") {
  const std::filesystem::path headers = KEVO_SOURCE_DIR "/include";
  const std::string all =
      shell::read_file(headers / "kevo/kevo.hpp") + shell::read_file(headers / "kevo/models.hpp");
  for (const char* role : {"select", "vary", "filter", "archive", "stop"}) {
    for (const auto& file : std::filesystem::directory_iterator(headers / "kevo" / role)) {
      const std::string name = "kevo/" + std::string(role) + "/" + file.path().filename().string();
      if (name == "kevo/vary/turns.hpp" || name == "kevo/stop/text.hpp")
        continue;  // no models: parts of some
      CHECK_MESSAGE(all.find("#include <" + name + ">") != std::string::npos, name);
    }
  }
}
