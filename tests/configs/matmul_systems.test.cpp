// labels: slow long
// timeout: 600
// one processor
// Every config of configs/systems that needs no GPU, on a matrix product on the CPU with the replies that
// come with it: nearly all of them become programs that are compiled, checked and timed, and a replay comes
// to the same.

#include <filesystem>
#include <set>
#include <string>

#include <doctest/doctest.h>

#include <kevo/journal.hpp>

#include "tests/support/has.hpp"
#include "tests/support/shell.hpp"

namespace fs = std::filesystem;

namespace {

/// The shipped task with small workloads and its plain seed alone, so that an evaluation is short.
void write_task(const fs::path& folder) {
  const fs::path shipped = KEVO_SOURCE_DIR "/configs/tasks/matmul";
  for (const char* file : {"seed.cpp", "reference.cpp"}) fs::copy_file(shipped / file, folder / file);
  std::string text = shell::read_file(shipped / "task.yaml");
  const auto replace = [&](const std::string& from, const std::string& to, const std::string& by) {
    const auto begin = text.find(from);
    REQUIRE(begin != std::string::npos);
    const auto end = to.empty() ? text.size() : text.find(to, begin);
    REQUIRE(end != std::string::npos);
    text.replace(begin, end - begin, by);
  };
  replace("workloads:", "tolerance:",
          "workloads:\n  - {uuid: square, axes: {M: 96, N: 96, K: 96}}\n"
          "  - {uuid: odd, axes: {M: 17, N: 9, K: 31}, hidden: true}\n");
  replace("seeds:", "", "seeds: [seed.cpp]\nbaselines: [{name: seed, file: seed.cpp}]\n");
  shell::write_file(folder / "task.yaml", text);
}

}  // namespace

TEST_CASE(
    "every published system optimizes a matrix product with its own replies, and its run can be repeated") {
  const shell::scratch folder;
  write_task(fs::path(folder.string()));
  std::size_t systems = 0;
  for (const auto& file : fs::directory_iterator(KEVO_SOURCE_DIR "/configs/systems")) {
    const std::string name = file.path().stem().string();
    if (has(shell::read_file(file.path()), "backend: cuda")) continue;
    CAPTURE(name);
    const std::string run = (folder / name).string();
    const auto ended = shell::run(
        shell::kevo({"run", file.path().string(), "--replay-models", "--json", "--set", "run.output=" + run,
                     "--set", "run.finish=0", "--set", "task=" + (folder / "task.yaml").string(), "--set",
                     "fitness={backend: cpu, flags: [-O3], timing: {short: 0.02, full: 0.02, sustained: 0}, "
                     "cache: " +
                         (folder / "cache").string() + "}"}),
        folder.string());
    REQUIRE_MESSAGE(ended.code == 0, ended.out << ended.err);
    std::set<kevo::content_id> valid;  // programs from replies: candidates, and the drafts of an agent
    const auto record = kevo::journal::open_read_only(run);
    record.for_each_event([&](const kevo::event& e) {
      const auto* draft = std::get_if<kevo::draft_evaluated>(&e.payload);
      if (draft != nullptr && draft->result->valid()) valid.insert(draft->program);
      const auto* told = std::get_if<kevo::evaluation_told>(&e.payload);
      if (told == nullptr || !told->result->valid()) return;
      const auto made = record.candidate(told->candidate);
      if (made->parents.empty()) return;
      CHECK(told->result->speedup_interval.low > 0);
      CHECK(told->result->stage >= kevo::evaluation_stage::timed_short);
      CHECK(told->result->protocol.starts_with("cpu"));
      valid.insert(made->program);
    });
    CHECK(valid.size() >= 10);
    const auto again = shell::run(shell::kevo({"run", "--replay", run, "--replay-models"}), folder.string());
    CHECK_MESSAGE(has(again.out, "all decisions were the same"), again.out << again.err);
    ++systems;
  }
  CHECK(systems >= 11);
}
