// labels: slow
// timeout: 300
// one processor
// What `kevo eval` takes: the same sources that a run takes.

#include <algorithm>
#include <chrono>
#include <memory>
#include <thread>
#include <unistd.h>
#include <vector>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "fitness/machine/core_plan.hpp"
#include "fitness/machine/cores.hpp"
#include "tests/support/shell.hpp"

namespace json = boost::json;

namespace {

struct eval_project {
  shell::scratch folder;
  eval_project() { REQUIRE(shell::run(shell::kevo({"init", "own"}), folder.string()).code == 0); }
  shell::result eval(const std::string& source, std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {"eval",   "own/task.yaml", source,
                                      "--json", "--set",         "fitness.timing={short: 0.1, full: 0.2}"};
    words.insert(words.end(), more.begin(), more.end());
    return shell::run(shell::kevo(std::move(words)), folder.string());
  }
};

/// Exclusive use of all processors, so that any kevo on this machine waits before it measures.
std::unique_ptr<kevo::measuring_lock> all_processors() {
  std::vector<int> all;
  for (const auto& core : kevo::physical_cores()) all.insert(all.end(), core.begin(), core.end());
  std::sort(all.begin(), all.end());
  return std::make_unique<kevo::measuring_lock>(all);
}

}  // namespace

TEST_CASE("a command that waits for another process that measures says for which one, and for how long") {
  const eval_project own;
  const std::string line = "kevo: waits for process " + std::to_string(::getpid()) + " (";
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"eval", "own/task.yaml", "own/seed.cpp", "--set",
                                 "fitness.timing={full: 0.1}"},
        std::vector<std::string>{"task", "check", "own/task.yaml"}}) {
    auto held = all_processors();
    shell::running user(shell::kevo(words), own.folder.string());
    const auto start = std::chrono::steady_clock::now();
    while (user.err_so_far().find('\n') == std::string::npos &&
           std::chrono::steady_clock::now() - start < std::chrono::seconds(60))
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
    held.reset();
    const auto ended = user.wait();
    CHECK_MESSAGE(ended.code == 0, ended.err);
    CHECK_MESSAGE(ended.err.starts_with(line), ended.err);
    CHECK_MESSAGE(ended.err.find("), 1 s\n") != std::string::npos, ended.err);
  }
}

TEST_CASE("with --config a program is built and measured as in the runs of the config") {
  const eval_project own;
  const auto flags = [&](const std::vector<std::string>& more) {
    const auto ended = own.eval("own/seed.cpp", more);
    REQUIRE_MESSAGE(ended.code == 0, ended.err);
    return std::string(json::parse(ended.out).at("context").at("flags").as_string());
  };
  CHECK(flags({}) == "-O3 -march=native");
  CHECK(flags({"--config", "own/config.yaml"}) == "-O2 -march=native");
  CHECK(flags({"--config", "own/config.yaml", "--set", "fitness.flags=[-O1]"}) == "-O1");
  const auto absent = own.eval("own/seed.cpp", {"--config", "absent.yaml"});
  CHECK(absent.code == 2);
  CHECK(json::parse(absent.out).at("error").at("file").as_string() == "absent.yaml");
}

TEST_CASE("seeds of equal file names are told apart by their folders, at the start of a run and afterwards") {
  const eval_project own;
  const std::string seed = shell::read_file(own.folder / "own/seed.cpp");
  shell::write_file(own.folder / "own/other/seed.cpp", seed + "// another text\n");
  std::string task = shell::read_file(own.folder / "own/task.yaml");
  const std::string seeds = "seeds: [seed.cpp]";
  REQUIRE(task.find(seeds) != std::string::npos);
  shell::write_file(own.folder / "own/task.yaml",
                    task.replace(task.find(seeds), seeds.size(), "seeds: [seed.cpp, other/seed.cpp]"));
  const auto run =
      shell::run(shell::kevo({"run", "own/config.yaml", "--plain", "--set", "run.output=two", "--set",
                              "stop={evaluations: 2}", "--set", "fitness.timing={short: 0.1, full: 0.1}"}),
                 own.folder.string());
  CHECK_MESSAGE(run.out.find("seeds: #0 seed.cpp, #1 other/seed.cpp") != std::string::npos, run.out, run.err);
  const auto shown = shell::run(shell::kevo({"show", "two", "1"}), own.folder.string());
  CHECK_MESSAGE(shown.out.find("other/seed.cpp") != std::string::npos, shown.out);
}

TEST_CASE("a wrong annotation is refused with file, line and column, as a run refuses it") {
  const eval_project own;
  const std::string seed = shell::read_file(own.folder / "own/seed.cpp");
  for (const std::string line : {"#define A 3 // kevo: {1,2}", "// kevo: foo"}) {
    shell::write_file(own.folder / "wrong.cpp", "// first\n" + line + '\n' + seed);
    const auto refused = own.eval("wrong.cpp");
    CHECK(refused.code == 2);
    const json::object wrong = json::parse(refused.out).at("error").as_object();
    CHECK(wrong.at("file").as_string() == "wrong.cpp");
    CHECK(wrong.at("line").to_number<int>() == 2);
    const auto in_words =
        shell::run(shell::kevo({"eval", "own/task.yaml", "wrong.cpp"}), own.folder.string());
    CHECK_MESSAGE(in_words.err.starts_with("kevo: wrong.cpp:2:"), in_words.err);

    shell::write_file(own.folder / "own/seed.cpp", "// first\n" + line + '\n' + seed);
    const auto run = shell::run(shell::kevo({"run", "own/config.yaml", "--json"}), own.folder.string());
    CHECK(run.code == 2);
    CHECK(json::parse(run.out).at("error").at("message") == wrong.at("message"));
    shell::write_file(own.folder / "own/seed.cpp", seed);
  }
}

TEST_CASE("limits.source decides how long a source may be, also above 1 MiB") {
  const eval_project own;
  std::string text = shell::read_file(own.folder / "own/seed.cpp");
  while (text.size() < (3U << 19U)) text += "// " + std::string(90, 'x') + '\n';
  shell::write_file(own.folder / "long.cpp", text);
  const auto too_long = own.eval("long.cpp");
  CHECK_MESSAGE(too_long.code == 0, too_long.out);
  CHECK(too_long.out.find("the source is too large") != std::string::npos);
  const auto allowed = own.eval("long.cpp", {"--set", "fitness.limits.source=2000000"});
  CHECK_MESSAGE(allowed.code == 0, allowed.out);
  CHECK(json::parse(allowed.out).at("outcome").as_string() == "valid");
}

TEST_CASE("what is wrong with a source is told with the name that its file has for the user") {
  const eval_project own;
  const std::string head =
      "#include <cstdint>\nfloat helper(float);\nextern \"C\" void run(const float* X, const float* B, "
      "float* Y, "
      "int64_t N) {\n";
  shell::write_file(own.folder / "unknown.cpp", head + "  for (int64_t i = 0; i < N; ++i) Y[i] = C[i];\n}\n");
  const auto unknown = own.eval("unknown.cpp");
  REQUIRE_MESSAGE(unknown.code == 0, unknown.err);
  const auto feedback = std::string(json::parse(unknown.out).at("feedback").as_string());
  CHECK_MESSAGE(feedback.find("unknown.cpp:4:") != std::string::npos, feedback);
  CHECK_MESSAGE(feedback.find("kernel.cpp") == std::string::npos, feedback);

  shell::write_file(own.folder / "undefined.cpp",
                    head + "  for (int64_t i = 0; i < N; ++i) Y[i] = helper(X[i]);\n}\n// kveo: {1, 2}\n");
  const auto undefined = own.eval("undefined.cpp");
  REQUIRE_MESSAGE(undefined.code == 0, undefined.err);
  CHECK_MESSAGE(undefined.out.find("'helper(float)' is called but never defined") != std::string::npos,
                undefined.out);
  CHECK_MESSAGE(undefined.err.find("warning: undefined.cpp:6: 'kveo:'") != std::string::npos, undefined.err);
}
