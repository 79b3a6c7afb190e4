// `kevo export` as a user calls it.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <sys/wait.h>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "tests/export/model_run.hpp"
#include "tests/journal/random_run.hpp"
#include "tests/support/shell.hpp"

using namespace kevo_test;  // NOLINT(google-build-using-namespace)

namespace {

struct answer {
  int status = -1;
  std::string out;
};

answer kevo_says(const std::string& words) {
  answer a;
  FILE* pipe = popen((KEVO_BINARY_DIR "/kevo " + words + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  char block[4096];
  for (std::size_t n = 0; (n = fread(block, 1, sizeof block, pipe)) > 0;) a.out.append(block, n);
  const int status = pclose(pipe);
  a.status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return a;
}

void make_run(const std::string& directory) {
  auto header = example_header();
  header.task_path = KEVO_SOURCE_DIR "/configs/tasks/matmul/task.yaml";
  header.task_id = "";
  auto record = kevo::journal::create(directory, header);
  event_maker maker(8, false);
  for (int i = 0; i < 100; ++i) feed(record, maker.next());
}

}  // namespace

TEST_CASE("the verb writes every format, to a file or to standard output") {
  const scratch_folder folder;
  const std::string run = folder / "run";
  make_run(run);
  const auto csv = kevo_says("export " + run);
  CHECK(csv.status == 0);
  CHECK(csv.out.rfind("candidate,operator,", 0) == 0);
  const auto jsonl = kevo_says("export " + run + " --format jsonl --output " + (folder / "all.jsonl"));
  CHECK(jsonl.status == 0);
  CHECK(jsonl.out.find("rows in") != std::string::npos);
  std::ifstream in(folder / "all.jsonl");
  std::string first;
  REQUIRE(std::getline(in, first));
  CHECK(boost::json::parse(first).at("candidate") == 0);
  const auto steps = kevo_says("export " + run + " --format steps --json");
  CHECK(steps.status == 0);
  const auto said = boost::json::parse(steps.out);
  CHECK(std::filesystem::exists(std::string(said.at("output").as_string())));
  CHECK(said.at("rows").to_number<int>() > 0);
  const auto set = kevo_says("export " + run + " --format flashinfer --json");
  CHECK(set.status == 0);
  CHECK(boost::json::parse(set.out).at("solutions").to_number<int>() > 0);
  CHECK(std::filesystem::exists(run + "/flashinfer/definitions/gemm/matmul.json"));
}

TEST_CASE("wrong usage and input exit with 2 and say why") {
  const scratch_folder folder;
  const std::string run = folder / "run";
  const auto nothing = kevo_says("export " + run);
  CHECK(nothing.status == 2);
  CHECK(nothing.out.find("contains no run") != std::string::npos);
  make_run(run);
  CHECK(kevo_says("export " + run + " --format xml").status == 2);
  CHECK(kevo_says("export").status == 2);
  CHECK(kevo_says("export " + run + " --top 3").status == 2);
  const auto busy = kevo_says("export " + run + " --json --output -");
  CHECK(busy.status == 2);
  CHECK(boost::json::parse(busy.out).at("error").at("code") == "usage");
  const auto moved = kevo_says("export " + run + " --format flashinfer --task /does/not/exist.yaml");
  CHECK(moved.status == 2);
  CHECK(moved.out.find("/does/not/exist.yaml") != std::string::npos);
  CHECK(kevo_says("export " + run + " --output /does/not/exist/file").status == 1);
}

TEST_CASE("rules of rewards are named, take settings, and come from plug-ins") {
  const model_run made;
  const std::string run = made.folder / "run";
  const auto rows = [&](const std::string& words) {
    const auto said = kevo_says("export " + run + " --format grpo --reward autotriton " + words);
    CHECK_MESSAGE(said.status == 0, said.out);
    double sum = 0;
    std::istringstream lines(said.out);
    for (std::string line; std::getline(lines, line);)
      sum += boost::json::parse(line).at("reward").to_number<double>();
    return sum;
  };
  CHECK(rows("") == 3);
  CHECK(rows("--need-kernel") == 0);
  CHECK(rows("--rule names_own_kernel") == 3);
  CHECK(rows("--rule '{type: defines_kernel, words: [faster, slower]}'") == 2);

  const scratch_folder folder;
  shell::write_file(folder / "rule.cpp", R"(
#include <kevo/registry.hpp>
KEVO_PLUGIN(registry) {
  registry.reward_rules.add("at_most", [](kevo::settings& from, const kevo::build_context&) {
    const auto most = static_cast<std::size_t>(from.integer("letters", {}));
    return kevo::reward_rule{"at_most", [most](const kevo::program& source, const kevo::evaluation&) {
      return source.files.front().text.size() <= most ? std::optional<std::string>()
                                                      : std::optional<std::string>("the source is too long");
    }};
  });
}
)");
  const auto built = shell::run(
      {"/bin/sh", "-c", "g++ -std=c++20 -shared -fPIC -I" KEVO_SOURCE_DIR "/include rule.cpp -o rule.so"},
      folder / ".");
  REQUIRE_MESSAGE(built.code == 0, built.err);
  const std::string plugin = "--plugin " + (folder / "rule.so");
  CHECK(rows(plugin + " --rule '{type: at_most, letters: 6}'") == 3);
  CHECK(rows(plugin + " --rule '{type: at_most, letters: 5}'") == 0);

  const auto unknown = kevo_says("export " + run + " --format sft --rule names_own_kernels");
  CHECK(unknown.status == 2);
  CHECK_MESSAGE(unknown.out.find("names_own_kernel") != std::string::npos, unknown.out);
  const auto key = kevo_says("export " + run + " --format sft --rule '{type: launches_own_kernel, last: 1}'");
  CHECK(key.status == 2);
  CHECK_MESSAGE(key.out.find("last") != std::string::npos, key.out);
  CHECK(kevo_says("export " + run + " --format csv --rule names_own_kernel").status == 2);
  CHECK(kevo_says("export " + run + " --format sft --plugin /no/such.so").status == 2);
}
