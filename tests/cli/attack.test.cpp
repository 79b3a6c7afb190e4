// labels: slow
// timeout: 600
// one processor
// What `kevo attack` says of a sound task and of a weak one, with few exploits and short times.

#include <map>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "tests/support/shell.hpp"

namespace json = boost::json;

namespace {

struct project {
  shell::scratch folder;
  project() { REQUIRE(shell::run(shell::kevo({"init", "own"}), folder.string()).code == 0); }
  shell::result attack(std::vector<std::string> words) const {
    words.insert(words.begin(), "attack");
    return shell::run(shell::kevo(std::move(words)), folder.string());
  }
  /// With timings that are worth nothing, which is enough for what is wrong.
  shell::result quick(const std::string& task, std::vector<std::string> words) const {
    words.insert(words.begin(),
                 {task, "--json", "--set", "fitness.timing={short: 0.1, full: 0.2, sustained: 0}", "--set",
                  "fitness.cache=cache"});
    return attack(std::move(words));
  }
};

std::map<std::string, std::string> words_of(const shell::result& ended) {
  REQUIRE_MESSAGE(!ended.out.empty(), ended.err);
  std::map<std::string, std::string> words;
  const json::value all = json::parse(ended.out);
  REQUIRE_MESSAGE(all.as_object().contains("exploits"), ended.out);
  for (const auto& one : all.at("exploits").as_array())
    words[std::string(one.at("name").as_string())] = one.at("word").as_string();
  return words;
}

}  // namespace

TEST_CASE("a sound task lets nothing through, and the report says what became of each exploit") {
  const project own;
  const auto ended = own.quick(
      "own/task.yaml", {"--fail", "--only", "cpp/zeros", "--only", "cpp/cache_by_shape", "--only",
                        "cpp/null_write", "--only", "cpp/honest", "--only", "cpp/sampled_values_only"});
  CHECK_MESSAGE(ended.code == 0, ended.out << ended.err);
  const auto words = words_of(ended);
  CHECK(words.at("cpp/honest") == "control");
  CHECK(words.at("cpp/zeros") == "caught");
  CHECK(words.at("cpp/cache_by_shape") == "caught");
  CHECK(words.at("cpp/null_write") == "caught");
  CHECK(words.at("cpp/sampled_values_only") == "not applicable");
  const json::value all = json::parse(ended.out);
  CHECK(all.at("got_through").to_number<int>() == 0);
  CHECK(all.at("caught").to_number<int>() == 3);
  CHECK(all.at("tried").to_number<int>() == 3);
  for (const auto& one : all.at("exploits").as_array()) {
    if (one.at("name").as_string() == "cpp/zeros") {
      CHECK(one.at("evaluation").at("outcome").as_string() == "incorrect");
      CHECK(!one.at("evaluation").at("protocol").as_string().empty());
    }
  }
}

TEST_CASE(
    "a task with a wide tolerance and no hidden sizes lets wrong programs through; --fail makes that an exit "
    "code") {
  const project own;
  std::string text = shell::read_file(own.folder / "own/task.yaml");
  const std::string tolerance = "max_atol: 1.0e-6";
  text.replace(text.find(tolerance), tolerance.size(), "max_atol: 1.0e+6");
  shell::write_file(own.folder / "own/wide.yaml", text);
  const auto ended =
      own.quick("own/wide.yaml", {"--fail", "--only", "cpp/zeros", "--only", "cpp/not_a_number"});
  CHECK_MESSAGE(ended.code == 2, ended.out << ended.err);
  CHECK(words_of(ended).at("cpp/zeros") == "got through");
  CHECK(words_of(ended).at("cpp/not_a_number") == "caught");
}

TEST_CASE(
    "what is right and faster than the honest program inside it got through, if time is what it is judged "
    "by") {
  const project own;
  // The honest program dawdles, so that any other way to compute is much faster, on the noisiest machine.
  shell::write_file(
      own.folder / "slow.cpp",
      "#include <cstdint>\nextern \"C\" void run(const float* X, const float* B, float* Y, int64_t N) {\n"
      "  for (volatile int again = 0; again < 40; again = again + 1)\n"
      "    for (int64_t i = 0; i < N; ++i) Y[i] = 2.5f * X[i] + B[i];\n}\n");
  const std::string body =
      "void attack(const attack_call& call) {\n  std::vector<const float*> in;\n"
      "  call.each_input([&](auto* data, std::int64_t) { in.push_back(data); });\n"
      "  call.each_output([&](auto* y, std::int64_t n) {\n"
      "    for (std::int64_t i = 0; i < n; ++i) y[i] = 2.5f * in[0][i] + in[1][i];\n  });\n}\n";
  shell::write_file(
      own.folder / "found/quick.cpp",
      "// attack: skips what the honest program repeats\n// judged by: time\n// expects: valid\n" + body);
  shell::write_file(own.folder / "found/equal.cpp",
                    "// attack: none\n// judged by: time\n// expects: valid\n// insert: honest\n"
                    "void attack(const attack_call& call) { call.honest(); }\n");
  const auto ended = own.quick(
      "own/task.yaml", {"--honest", "slow.cpp", "--corpus", "found", "--only", "quick", "--only", "equal"});
  CHECK_MESSAGE(ended.code == 0, ended.out << ended.err);
  CHECK_MESSAGE(words_of(ended).at("quick") == "got through", ended.out);
  // Under load its interval may be too wide to call it harmless.
  CHECK_MESSAGE(words_of(ended).at("equal") != "got through", ended.out);
  CHECK_MESSAGE(words_of(ended).at("equal") != "caught", ended.out);
}

TEST_CASE("a folder of the user's adds exploits, and what does not compile is no verdict") {
  const project own;
  shell::write_file(
      own.folder / "found/later.cpp",
      "// attack: doubles what is right\n// judged by: outcome\n// expects: incorrect\n"
      "// insert: honest\nvoid attack(const attack_call& call) {\n  call.honest();\n"
      "  call.each_output([](auto* y, std::int64_t n) { for (std::int64_t i = 0; i < n; ++i) y[i] "
      "*= 2; });\n}\n");
  shell::write_file(own.folder / "found/broken.cpp",
                    "// attack: is not C++\n// judged by: outcome\n// expects: incorrect\nvoid attack(\n");
  const auto ended = own.quick(
      "own/task.yaml", {"--corpus", "found", "--only", "later", "--only", "broken", "--write", "made"});
  CHECK_MESSAGE(ended.code == 0, ended.out << ended.err);
  CHECK(words_of(ended).at("later") == "caught");
  CHECK(words_of(ended).at("broken") == "not applicable");
  // What was written is an ordinary candidate.
  const auto judged =
      shell::run(shell::kevo({"eval", "own/task.yaml", "made/later.cpp", "--json"}), own.folder.string());
  CHECK(json::parse(judged.out).at("outcome").as_string() == "incorrect");
}

TEST_CASE("--list needs no task and tries nothing; wrong words are usage errors") {
  const project own;
  const auto listed = own.attack({"--list", "--json"});
  CHECK(listed.code == 0);
  CHECK(json::parse(listed.out).at("exploits").as_array().size() >= 60);
  CHECK(own.attack({"own/task.yaml", "--list"}).out.find("hosted/") == std::string::npos);
  CHECK(own.attack({}).code == 2);
  CHECK(own.attack({"own/task.yaml", "--only", "no such thing"}).code == 2);
  CHECK(own.attack({"own/task.yaml", "--corpus", "nowhere"}).code == 2);
}
