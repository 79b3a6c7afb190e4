// The commands of the documentation that no test runs are checked without being run
// (tests/support/unrun.hpp): a mistake in one is noticed.

#include "tests/support/unrun.hpp"

#include <sys/stat.h>

#include <doctest/doctest.h>

#include "tests/support/command_splitter.hpp"
#include "tests/support/shell.hpp"

namespace {

/// How many mistakes are found in commands that stand in a page whose folder has the shipped configs.
std::size_t mistakes_in(const std::string& commands) {
  const shell::scratch folder;
  ::chmod(folder.string().c_str(), 0755);
  std::filesystem::create_directory_symlink(KEVO_SOURCE_DIR "/configs", folder / "configs");
  page::unrun_commands unrun(folder.string());
  const auto faults = unrun.faults_of(commands);
  for (const auto& fault : faults) MESSAGE(fault);
  return faults.size();
}

}  // namespace

TEST_CASE("commands are split into words as bash does") {
  const auto commands =
      page::command_splitter(
          "a 'b c' \"d\\\"e\" f\\\n  g#h  # not this\nX=1 i>$PWD/j; k && l | m &\n(cd n)\n", "/here")
          .split();
  REQUIRE(commands.size() == 6);
  CHECK(commands[0].words == std::vector<std::string>{"a", "b c", "d\"e", "f", "g#h"});
  CHECK(commands[1].words == std::vector<std::string>{"X=1", "i"});
  CHECK(commands[1].written == std::vector<std::string>{"/here/j"});
  CHECK(commands[4].words == std::vector<std::string>{"m"});
  CHECK(commands[5].words == std::vector<std::string>{"cd", "n"});
  CHECK(page::command_splitter("a '$KEVO' $KEVO", "").split().at(0).words ==
        std::vector<std::string>{"a", "$KEVO", KEVO_SOURCE_DIR});
}

TEST_CASE("correct commands that are not run have no mistake") {
  CHECK(mistakes_in("kevo run configs/cuda_softmax.yaml --set run.seed=3\n") == 0);
  CHECK(mistakes_in("kevo eval configs/tasks/cuda_sgemm/task.yaml configs/champions/cuda_sgemm.cu "
                    "--set fitness.backend=cuda\n") == 0);
  CHECK(mistakes_in("kevo lab configs/lab/ordered_steps.yaml && kevo serve --state s --allow-tasks\n") == 0);
  CHECK(mistakes_in("kevo import kernelbench level1 -o tasks\nkevo attack tasks/a/task.yaml\n") == 0);
  CHECK(mistakes_in("kevo run configs/cuda_softmax.yaml\nkevo export runs/cuda_softmax --format bundle\n") ==
        0);
  CHECK(mistakes_in("KEVO_WRITE_CHAMPIONS=1 ctest --preset release -R '^configs.champions$'\n") == 0);
  CHECK(mistakes_in("cmake --preset release -DKEVO_PYTHON=ON && cmake --build --preset release --target "
                    "kevo_python bench.journal fuzz.task test.llm.url\n") == 0);
  CHECK(mistakes_in("scripts/setup.sh --ray\nkevo-ray my_kernel --replicas 2 &\n") == 0);
}

TEST_CASE("a mistake in a command that is not run is found") {
  CHECK(mistakes_in("kevo run 'configs/cuda_softmax.yaml\n") >= 1);
  CHECK(mistakes_in("kevo runs configs/cuda_softmax.yaml\n") == 1);
  CHECK(mistakes_in("kevo run configs/cuda_softmaxes.yaml\n") >= 1);
  CHECK(mistakes_in("kevo run configs/cuda_softmax.yaml --no-such-option\n") >= 1);
  CHECK(mistakes_in("kevo run configs/cuda_softmax.yaml --set run.sead=3\n") == 1);
  CHECK(mistakes_in("kevo eval configs/tasks/cuda_sgemm/task.yaml configs/champions/cuda_sgemm.cuda\n") >= 1);
  CHECK(mistakes_in("kevo eval configs/tasks/cuda_sgemm/task.yaml configs/champions/cuda_sgemm.cu "
                    "--set fitness.pol=0.1\n") == 1);
  CHECK(mistakes_in("kevo run configs/cuda_softmax.yaml\nkevo export runs/cuda_soft --format bundle\n") == 1);
  CHECK(mistakes_in("kevo serve --state s --allow-task\n") == 1);
  CHECK(mistakes_in("kevo import kernelbenches level1 -o tasks\n") >= 1);
  CHECK(mistakes_in("ctest --preset release -R '^configs.champion$'\n") == 1);
  CHECK(mistakes_in("cmake --preset relese\n") == 1);
  CHECK(mistakes_in("cmake --preset release -DKEVO_PYTHONS=ON\n") == 1);
  CHECK(mistakes_in("cmake --build --preset release --target bench.journals\n") == 1);
  CHECK(mistakes_in("scripts/setup.sh --rays\n") == 1);
  CHECK(mistakes_in("scripts/setups.sh\n") >= 1);
  CHECK(mistakes_in("kevo-ray my_kernel --replica-count 2\n") == 1);
  CHECK(mistakes_in("python3 tests/llm/tiny_models.py\n") == 1);
  CHECK(mistakes_in("kevos run\n") == 1);
}
