// labels: slow
// one processor
// The projects that `kevo init` writes are complete.

#include <sys/stat.h>
#include <unistd.h>

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include <kevo/annotation.hpp>
#include <kevo/load_task.hpp>

#include "fitness/cuda/launch/resolve.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

TEST_CASE("every template gives a task that loads, with a seed to tune, and a config that is read") {
  const shell::scratch folder;
  for (const std::string name : {"cpu", "openmp", "cuda", "triton", "command"}) {
    CAPTURE(name);
    const auto made = shell::run(shell::kevo({"init", "own_" + name, "--template", name}), folder.string());
    REQUIRE_MESSAGE(made.code == 0, made.err);
    CHECK(made.out.find("kevo run own_" + name + "/config.yaml") != std::string::npos);
    const kevo::task t = kevo::load_task((folder / ("own_" + name + "/task.yaml")).string());
    CHECK(t.name == "own_" + name);
    REQUIRE(t.seeds.size() == 1);
    CHECK(kevo::parse_annotations(t.seeds[0]).tunables.size() == 2);
    const auto config =
        shell::run(shell::kevo({"run", "own_" + name + "/config.yaml", "--print-config"}), folder.string());
    CHECK_MESSAGE(config.code == 0, config.err);
  }
}

TEST_CASE("the lines of the CUDA project and of the Triton project say how their kernels are launched") {
  for (const std::string language : {"cuda", "triton"}) {
    const shell::scratch folder;
    REQUIRE(shell::run(shell::kevo({"init", "own", "--template", language}), folder.string()).code == 0);
    const kevo::task t = kevo::load_task((folder / "own/task.yaml").string());
    REQUIRE(t.reference);
    CHECK(t.seeds.at(0).language == language);
    for (const auto* source : {&t.seeds[0], &t.reference->source}) {
      const auto lines = kevo::cuda::read_launch_lines(*source);
      CHECK(std::holds_alternative<kevo::cuda::declared_launch>(lines));
    }
  }
}

TEST_CASE("a template that does not exist is refused with those that do, and writes nothing") {
  const shell::scratch folder;
  const auto other = shell::run(shell::kevo({"init", "own", "--template", "cuad"}), folder.string());
  CHECK(other.code == 2);
  CHECK_MESSAGE(other.err.find("did you mean 'cuda'") != std::string::npos, other.err);
  CHECK(::access((folder / "own").string().c_str(), F_OK) != 0);
}

TEST_CASE("the project of a program that judges runs") {
  if (::access("/usr/bin/python3", X_OK) != 0) {
    kevo_test::skip("there is no /usr/bin/python3");
    return;
  }
  const shell::scratch folder;
  ::chmod(folder.string().c_str(), 0755);  // the sandbox's user reads it
  REQUIRE(shell::run(shell::kevo({"init", "own", "--template", "command"}), folder.string()).code == 0);
  const auto ended = shell::run(
      shell::kevo({"run", "own/config.yaml", "--json", "--set", "stop={evaluations: 8}"}), folder.string());
  REQUIRE_MESSAGE(ended.code == 0, ended.out << ended.err);
  const auto best = boost::json::parse(ended.out).at("best").at("score").to_number<double>();
  CHECK(best >= 1000 - 16 * 16);  // the seed's own
}
