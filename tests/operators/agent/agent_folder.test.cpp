// timeout: 120
// The scratch folder of an agent: its files alone, and which of them are the program.

#include "operators/agent/agent_folder.hpp"

#include <doctest/doctest.h>

#include "tests/operators/agent/agent_bench.hpp"

using namespace kevo;
using namespace agent_test;

TEST_CASE("paths of a model's lead nowhere outside of the scratch folder") {
  const shell::scratch outside;
  shell::write_file(outside / "secret.txt", "SECRET");
  std::filesystem::create_symlink(outside / "secret.txt", outside / "link");
  const std::vector<std::string> paths = {"/etc/passwd",
                                          (outside / "secret.txt").string(),
                                          "../secret.txt",
                                          "a/../../b",
                                          "..",
                                          ".",
                                          "a//b",
                                          "",
                                          "a\\nb",
                                          "~/x",
                                          "$(touch x)",
                                          "a;b",
                                          ".hidden",
                                          "a/./b",
                                          "link",
                                          "kernel.cpp/..",
                                          "/proc/self/environ"};
  for (const auto& path : paths) {
    CAPTURE(path);
    agent_folder folder(single_file_program("text", "kernel.cpp", "x\n"));
    std::string text;
    CHECK(!folder.read(path, text).empty());
    CHECK(text.empty());
    if (path != "link") {
      CHECK(!folder.write(path, "owned").empty());
      CHECK(folder.paths() == std::vector<std::string>{"kernel.cpp"});
    }
  }
  agent_folder folder(single_file_program("text", "kernel.cpp", "x\n"));
  CHECK(folder.write("link", "mine").empty());  // a file of its own: the one outside stays what it is
  CHECK(folder.write("sub/own.hpp", "y\n").empty());
  CHECK(!folder.write("kernel.cpp", std::string(agent_folder::most_bytes + 1, 'x')).empty());
  for (int i = 0; i < 40; ++i) folder.write("f" + std::to_string(i), "z");
  CHECK(folder.paths().size() == agent_folder::most_files);
  CHECK(shell::read_file(outside / "secret.txt") == "SECRET");
}

TEST_CASE("an agent that writes a file which no program includes is told which file is built") {
  std::vector<std::string> answers;
  scripted::server server([&](const scripted::request& r) -> scripted::answer {
    answers.push_back(last_answer(r.body));
    if (r.number < 2) return scripted::calls({{"write_file", R"({"path":"seed.cpp","text":"fast\n"})"}});
    if (r.number == 2) return scripted::calls({{"write_file", R"({"path":"kernel.cpp","text":"fast\n"})"}});
    return scripted::calls({{"submit", R"({"summary":"nothing"})"}});
  });
  bench b(server);
  b.op.limits.steps = 4;
  b.vary();
  REQUIRE(answers.size() == 4);
  CHECK(has(answers[1],
            "done: a new file. The program that is built is 'kernel.cpp', which has to include it."));
  CHECK(!has(answers[2], "a new file"));  // it is there by now
  CHECK(!has(answers[3], "a new file"));
}

TEST_CASE("files that a model wrote are a part of its program only if the program names them") {
  agent_folder folder(single_file_program("cpp", "kernel.cpp", "#include \"a.hpp\"\n"));
  const program parent = folder.work();
  CHECK(folder.write("a.hpp", "#include \"sub/b.hpp\"\n").empty());
  CHECK(folder.write("sub/b.hpp", "int b;\n").empty());
  CHECK(folder.write("notes.txt", "see bench.cpp\n").empty());
  CHECK(folder.write("bench.cpp", "#include \"kernel.cpp\"\n").empty());
  const auto paths = [](const program& made) {
    std::vector<std::string> all;
    for (const auto& file : made.files) all.push_back(file.path);
    return all;
  };
  CHECK(paths(folder.candidate(parent)) == std::vector<std::string>{"kernel.cpp", "a.hpp", "sub/b.hpp"});
  CHECK(folder.remove("notes.txt").empty());
  CHECK(has(folder.remove("notes.txt"), "there is no file"));
  CHECK(has(folder.remove("kernel.cpp"), "is the file that is built"));
  CHECK(has(folder.remove("../kernel.cpp"), "begins with a dot"));
  CHECK(folder.paths() == std::vector<std::string>{"kernel.cpp", "a.hpp", "sub/b.hpp", "bench.cpp"});

  agent_folder python(single_file_program("python", "kernel.py", "from tiles import pick\nimport a.rows\n"));
  CHECK(python.write("tiles.py", "x = 1\n").empty());
  CHECK(python.write("rows.py", "x = 1\n").empty());
  CHECK(python.write("pick2.py", "x = 1\n").empty());
  CHECK(paths(python.candidate(python.work())).size() == 4);  // what the parent has stays
  CHECK(paths(python.candidate(single_file_program("python", "kernel.py", "x\n"))) ==
        std::vector<std::string>{"kernel.py", "tiles.py", "rows.py"});
}
