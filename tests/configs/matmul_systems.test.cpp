// labels: slow long
// timeout: 300
// one processor
// Every config of configs/systems on a matrix product on the CPU with a scripted model: programs that its
// operators propose are compiled, checked and timed, and a replay without a model comes to the same.

#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/journal.hpp>

#include "tests/support/has.hpp"
#include "tests/support/llm_project.hpp"

namespace fs = std::filesystem;

namespace {

/// A matrix product that adds four rows of B at a time, well ahead of the seed on a busy machine, too,
/// because it reads and writes C a quarter as often. Programs of different n have much text that differs, so
/// that no filter of near duplicates takes them for the same.
std::string kernel(std::size_t n) {
  std::string text = "#include <algorithm>\n#include <cstdint>\n\n";
  for (std::size_t i = 1; i <= 12; ++i) {
    const std::string number = std::to_string((n + 3) * 7919 * i % 100003);
    text += "static inline int64_t part_" + number + "(int64_t at_" + number + ") { return at_" + number +
            " / " + number + " + " + std::to_string(n * i + i) + "; }\n";
  }
  return text + R"(
extern "C" void run(const float* A, const float* B, float* __restrict C, int64_t M, int64_t N, int64_t K) {
  std::fill(C, C + M * N, 0.0f);
  constexpr int64_t block = )" +
         std::to_string(4 * (n + 8)) + R"(;
  for (int64_t first = 0; first < K; first += block) {
    const int64_t end = std::min(first + block, K);
    for (int64_t i = 0; i < M; ++i) {
      float* __restrict c = C + i * N;
      int64_t k = first;
      for (; k + 4 <= end; k += 4) {
        const float* a = A + i * K + k;
        const float* b = B + k * N;
        for (int64_t j = 0; j < N; ++j)
          c[j] += a[0] * b[j] + a[1] * b[N + j] + a[2] * b[2 * N + j] + a[3] * b[3 * N + j];
      }
      for (; k < end; ++k)
        for (int64_t j = 0; j < N; ++j) c[j] += A[i * K + k] * B[k * N + j];
    }
  }
}
)";
}

/// What a model of any of the operators might say.
scripted::answer model(const scripted::request& r) {
  const std::string code = kernel(r.number);
  if (has(r.body, "Your turn ends here")) return scripted::says("<notes>blocks of the sum help</notes>");
  if (has(r.body, "You review the work of an agent")) return scripted::says("Other blocks.");
  if (has(r.body, "working on it with tools"))
    return scripted::calls(
        {{"write_file", "{\"path\": \"kernel.cpp\", \"text\": " + scripted::json_text(code) + "}"},
         {"time", "{}"},
         {"submit", R"({"summary": "another block"})"}});
  if (has(r.body, "You plan the optimization")) return scripted::says("A step.\nStep: 1");
  if (has(r.body, "You keep the notes")) return scripted::says("<summary>Blocks of the sum help.</summary>");
  if (has(r.body, "You do not write code in this step"))
    return scripted::says("Bottleneck: memory\nQuery: blocking\n<idea>Use blocks.</idea>");
  const std::string block = "Summary: another block\n\n```cpp\n" + code + "```\n";
  if (has(r.body, "## Performance Analysis"))
    return scripted::says(
        "## Performance Analysis\n1. the order of loops\n## Algorithm Design\n1. blocks\n"
        "## Code Implementation\n" +
        block);
  return scripted::says(block);
}

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

TEST_CASE("every published system optimizes a matrix product on the CPU, and its run can be repeated") {
  const shell::scratch folder;
  write_task(fs::path(folder.string()));
  std::size_t systems = 0;
  for (const auto& file : fs::directory_iterator(KEVO_SOURCE_DIR "/configs/systems")) {
    const std::string name = file.path().stem().string();
    CAPTURE(name);
    const std::string run = (folder / name).string();
    {
      const scripted::server server(model);
      const auto ended =
          shell::run(shell::kevo({"run", file.path().string(), "--json", "--set", "run.output=" + run,
                                  "--set", "task=" + (folder / "task.yaml").string(), "--set",
                                  "fitness={backend: cpu, flags: [-O3], timing: {short: 0.02, full: 0.02, "
                                  "sustained: 0}, cache: " +
                                      (folder / "cache").string() + "}",
                                  "--set",
                                  "llm.models=[{name: local, url: \"" + server.url() +
                                      "\"}, {name: embedder, weight: 0, url: \"" + server.url() + "\"}]",
                                  "--set", "stop={any: [{evaluations: 8}, {seconds: 60}]}"}),
                     folder.string());
      REQUIRE_MESSAGE(ended.code == 0, ended.out << ended.err);
    }
    std::size_t made = 0;
    const auto record = kevo::journal::open_read_only(run);
    record.for_each_event([&](const kevo::event& e) {
      const auto* told = std::get_if<kevo::evaluation_told>(&e.payload);
      if (told == nullptr || !told->result->valid()) return;
      if (record.candidate(told->candidate)->parents.empty()) return;
      CHECK(told->result->speedup_interval.low > 0);
      CHECK(told->result->stage >= kevo::evaluation_stage::timed_short);
      CHECK(told->result->protocol.starts_with("cpu"));
      ++made;
    });
    CHECK(made >= 1);  // an agent gives up drafts that are no better
    const auto again = shell::run(shell::kevo({"run", "--replay", run, "--replay-models"}), folder.string());
    CHECK_MESSAGE(has(again.out, "all decisions were the same"), again.out << again.err);
    ++systems;
  }
  CHECK(systems >= 9);
}
