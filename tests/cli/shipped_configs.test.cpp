// labels: slow
// timeout: 600
// one processor
// Shipped configs as they are, except that they measure briefly and stop early.

#include <cstdlib>
#include <filesystem>
#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

namespace json = boost::json;

namespace {

/// Runs a config of the repository into a scratch folder and gives what `--json` says.
json::object run_config(const shell::scratch& folder, const std::string& config,
                        std::vector<std::string> more) {
  std::vector<std::string> words = {"run",
                                    KEVO_SOURCE_DIR "/" + config,
                                    "--json",
                                    "--set",
                                    "run.output=" + (folder / "run").string(),
                                    "--set",
                                    "fitness.timing={short: 0.05, full: 0.1, sustained: 0.05}"};
  words.insert(words.end(), more.begin(), more.end());
  const auto ended = shell::run(shell::kevo(words), folder.string());
  REQUIRE_MESSAGE(ended.code == 0, ended.out << ended.err);
  return json::parse(ended.out).as_object();
}

}  // namespace

TEST_CASE("the quickstart runs, and its run can be shown, reported, exported and replayed") {
  const shell::scratch folder;
  const json::object ended =
      run_config(folder, "configs/quickstart.yaml", {"--set", "stop={evaluations: 3}"});
  CHECK(ended.at("evaluations").to_number<int>() >= 3);
  CHECK(ended.at("best").as_object().at("speedup").to_number<double>() > 1);

  const auto kevo = [&](std::vector<std::string> words) {
    const auto done = shell::run(shell::kevo(std::move(words)), folder.string());
    CHECK_MESSAGE(done.code == 0, done.out << done.err);
    return done.out;
  };
  CHECK(kevo({"show", "run", "1"}).find("Workloads") != std::string::npos);
  const json::object shown = json::parse(kevo({"show", "run", "1", "--json"})).as_object();
  CHECK(shown.at("outcome").as_string() == "valid");
  CHECK(kevo({"report", "run"}).find("report.html") != std::string::npos);
  const std::string page = shell::read_file(folder / "run/report.html");
  CHECK(page.find("<svg") != std::string::npos);
  CHECK(page.find("=\"http") == std::string::npos);  // nothing is fetched
  CHECK(kevo({"export", "run", "--format", "jsonl"}).find("speedup") != std::string::npos);
  CHECK(json::parse(kevo({"run", "--replay", "run", "--json"})).at("best").at("id") ==
        ended.at("best").as_object().at("id"));
}

TEST_CASE("the matrix product on two threads runs, its library beside it") {
  const shell::scratch folder;
  // Never to /dev/null: a linker that runs as root may replace it.
  const std::string linked = (folder / "linked").string();
  if (std::system(("echo 'int main() {}' | g++ -fopenmp -x c++ - -o " + linked).c_str()) != 0) {
    kevo_test::skip("g++ has no OpenMP");
    return;
  }
  const json::object ended =
      run_config(folder, "configs/matmul_threads.yaml", {"--set", "stop={evaluations: 4}"});
  CHECK(ended.at("valid").to_number<int>() >= 3);
  const auto shown = shell::run(shell::kevo({"show", "run", "1", "--json"}), folder.string());
  CHECK_MESSAGE(json::parse(shown.out).at("outcome").as_string() == "valid", shown.out);
}

TEST_CASE("the example of a program as the judge finds better settings than its seed's") {
  if (::access("/usr/bin/python3", X_OK) != 0) {
    kevo_test::skip("there is no /usr/bin/python3");
    return;
  }
  const shell::scratch folder;
  // Where root runs this, the sandbox's user must be able to read the folder, wherever the sources lie.
  ::chmod(folder.string().c_str(), 0755);
  std::filesystem::copy(KEVO_SOURCE_DIR "/examples/command", folder / "example");
  const auto done = shell::run(shell::kevo({"run", (folder / "example/config.yaml").string(), "--json",
                                            "--set", "stop={evaluations: 25}"}),
                               folder.string());
  REQUIRE_MESSAGE(done.code == 0, done.out << done.err);
  const json::object ended = json::parse(done.out).as_object();
  CHECK(ended.at("best").as_object().at("score").to_number<double>() > 2);
  CHECK(ended.at("best").as_object().at("speedup").is_null());
  CHECK(ended.at("valid").to_number<int>() >= 10);
}

TEST_CASE("a config loads its operator from a shared object") {
  const shell::scratch folder;
  const json::object ended =
      run_config(folder, "examples/plugin/plugin.yaml",
                 {"--set", "plugins=[" KEVO_BINARY_DIR "/examples/kevo_example_plugin.so]", "--set",
                  "stop={evaluations: 3}"});
  CHECK(ended.at("evaluations").to_number<int>() >= 3);
  const auto shown = shell::run(shell::kevo({"show", "run", "2"}), folder.string());
  CHECK_MESSAGE(shown.out.find("unroll") != std::string::npos, shown.out);
}

TEST_CASE("plain loops are changed without a model, and the run can be replayed") {
  if (!std::filesystem::exists(KEVO_BINARY_DIR "/kevo-parse-cpp")) {
    kevo_test::skip("this kevo was built without libclang");
    return;
  }
  const shell::scratch folder;
  const json::object ended =
      run_config(folder, "configs/naive_rmsnorm.yaml", {"--set", "stop={evaluations: 5}"});
  CHECK(ended.at("valid").to_number<int>() >= 3);
  const auto replayed = shell::run(shell::kevo({"run", "--replay", "run", "--json"}), folder.string());
  REQUIRE_MESSAGE(replayed.code == 0, replayed.out << replayed.err);
  CHECK(json::parse(replayed.out).at("best").at("id") == ended.at("best").as_object().at("id"));
}
