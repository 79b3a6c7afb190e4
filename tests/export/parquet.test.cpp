// Exports as Parquet, and what keeps tasks for tests out of exports. Where Python has the packages, the files
// are loaded by those who read them (load_exports.py).

#include "src/export/parquet.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>

#include <kevo/error.hpp>
#include <kevo/load_task.hpp>
#include <kevo/task_id.hpp>

#include "src/base/process/find_program.hpp"
#include "tests/export/model_run.hpp"
#include "tests/support/has.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

namespace {

/// The Python whose packages the tests use: that of KEVO_TRAINING_PYTHON, else the usual one.
std::string python() {
  const char* named = std::getenv("KEVO_TRAINING_PYTHON");
  return named != nullptr && *named != '\0' ? named : kevo::find_program("python3");
}

bool has_package(const std::string& name) {
  return !python().empty() && shell::run({python(), "-c", "import " + name}).code == 0;
}

}  // namespace

TEST_CASE("nothing of a task that is held out is exported, under any name") {
  const shell::scratch folder;
  kevo::journal_header header = kevo_test::example_header();
  header.task_path = (folder / "copy.yaml").string();
  header.task_id = to_string(kevo::id_of(kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/matmul/task.yaml")));
  const std::string run = (folder / "run").string();
  {
    auto record = kevo::journal::create(run, header);
    kevo_test::event_maker maker(8, false);
    for (int i = 0; i < 20; ++i) kevo_test::feed(record, maker.next());
  }
  const auto exported = [&](const std::string& format, const std::string& held_out) {
    return shell::run(shell::kevo({"export", run, "--format", format, "--held-out", held_out, "--output",
                                   (folder / "out.jsonl").string()}));
  };
  for (const std::string format : {"sft", "dpo", "grpo", "trajectories"}) {
    const auto refused = exported(format, KEVO_SOURCE_DIR "/configs/tasks/*/task.yaml");
    CHECK(refused.code == 2);
    CHECK_MESSAGE(has(refused.err, "is held out, so its data are not exported"), refused.err);
    CHECK(!std::filesystem::exists((folder / "out.jsonl").string()));
    const auto other = exported(format, KEVO_SOURCE_DIR "/configs/tasks/softmax/task.yaml");
    CHECK_MESSAGE(other.code == 0, other.err);
    std::filesystem::remove((folder / "out.jsonl").string());
  }
  CHECK(exported("csv", KEVO_SOURCE_DIR "/configs/tasks/*/task.yaml").code == 2);  // not for tables
  // The file itself is recognized also after it was changed.
  shell::write_file(folder / "copy.yaml",
                    shell::read_file(KEVO_SOURCE_DIR "/tests/fitness/cuda/fake/scale.yaml"));
  CHECK(exported("sft", (folder / "copy.yaml").string()).code == 2);
}

TEST_CASE("without pyarrow, Parquet is an error that says what to do") {
  const shell::scratch folder;
  shell::write_file(folder / "empty/nothing.py", "");
  shell::write_file(folder / "a.jsonl", "{}\n");
  if (shell::run({"/usr/bin/python3", "-I", "-c", "import pyarrow"}).code == 0)
    return kevo_test::skip("the system's Python has pyarrow");
  try {
    kevo::write_parquet((folder / "a.jsonl").string(), (folder / "a.parquet").string(), "/usr/bin/python3");
    FAIL("it was written");
  } catch (const kevo::error& failure) {
    CHECK(failure.code() == kevo::error_code::environment);
    CHECK(has(failure.hint(), "pip install pyarrow"));
  }
}

TEST_CASE("trainers' readers load every format, as JSON Lines and as Parquet") {
  if (!has_package("pyarrow"))
    return kevo_test::skip("no Python with pyarrow; KEVO_TRAINING_PYTHON may name one");
  const kevo_test::model_run run;
  const shell::scratch folder;
  for (const std::string format : {"sft", "dpo", "grpo", "trajectories"}) {
    for (const std::string kind : {".jsonl", ".parquet"}) {
      std::vector<std::string> words = {"export", run.folder / "run", "--format",
                                        format,   "--output",         (folder / (format + kind)).string()};
      if (kind == ".parquet") words.insert(words.end(), {"--python", python()});
      const auto said = shell::run(shell::kevo(words));
      CHECK_MESSAGE(said.code == 0, said.err);
    }
    CHECK(std::filesystem::exists((folder / (format + ".parquet.card.md")).string()));
    CHECK(!std::filesystem::exists((folder / (format + ".parquet.lines")).string()));
  }
  const auto loaded =
      shell::run({python(), KEVO_SOURCE_DIR "/tests/export/load_exports.py", folder.string()});
  CHECK_MESSAGE(loaded.code == 0, loaded.out << loaded.err);
  if (has(loaded.out, "not there: ")) kevo_test::skip(loaded.out);
}
