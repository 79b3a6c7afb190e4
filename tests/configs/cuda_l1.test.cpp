// labels: slow
// timeout: 300
// one processor
// configs/systems/cuda_l1.yaml on two tasks with a scripted model: the journal shows that every contrastive
// prompt held programs of two buckets, those that the selector drew, and that children belong to what they
// were built on.

#include <algorithm>
#include <map>

#include <doctest/doctest.h>

#include <kevo/detail/score_bucket.hpp>

#include "src/journal/journal.hpp"
#include "tests/support/has.hpp"
#include "tests/support/llm_project.hpp"

namespace {

constexpr double width = 0.25;  // of the config

scripted::answer in_sections(const scripted::request& r, const std::string& text) {
  if (!has(r.body, "## Performance Analysis")) return scripted::says(text);
  return scripted::says(
      "## Performance Analysis\n1. the faster one\n## Algorithm Design\n1. go on\n"
      "## Code Implementation\n" +
      text);
}

boost::json::object run_system(const scripted::server& server, const shell::scratch& folder,
                               std::vector<std::string> more) {
  std::vector<std::string> words = {
      "run",   KEVO_SOURCE_DIR "/configs/systems/cuda_l1.yaml",
      "--set", "run.output=run",
      "--set", "llm.models=[{name: m, url: \"" + server.url() + "\", retries: {tries: 1}}]",
      "--json"};
  words.insert(words.end(), more.begin(), more.end());
  const auto ended = shell::run(shell::kevo(words), folder.string());
  REQUIRE_MESSAGE(ended.code == 0, ended.out << ended.err);
  return boost::json::parse(ended.out).as_object();
}

/// Goes through the journal; gives how many contrastive prompts it found.
std::size_t check_prompts(const kevo::journal& record) {
  const auto& names = record.header().operators;
  std::map<kevo::candidate_id, double> scores;
  std::map<kevo::ticket, kevo::selection> asked;
  std::map<kevo::ticket, std::map<kevo::candidate_id, double>> known;
  record.for_each_event([&](const kevo::event& e) {
    if (const auto* told = std::get_if<kevo::evaluation_told>(&e.payload))
      scores[told->candidate] = told->result->score;
    if (const auto* begun = std::get_if<kevo::variation_asked>(&e.payload)) {
      if (names[begun->op] != "llm_contrastive") return;
      asked[begun->job] = begun->selection;
      for (const auto& list : {begun->selection.parents, begun->selection.inspirations}) {
        for (const auto one : list) known[begun->job][one] = scores.at(one);
      }
    }
    const auto* done = std::get_if<kevo::variation_told>(&e.payload);
    if (done == nullptr || done->candidate == kevo::no_candidate || done->duplicate ||
        !asked.contains(done->job))
      return;
    const auto child = record.candidate(done->candidate);
    REQUIRE(child.has_value());
    CHECK(child->parents == asked.at(done->job).parents);
  });
  std::size_t prompts = 0;
  record.for_each_model_call([&](kevo::ticket turn, std::int64_t number) {
    if (!asked.contains(turn)) return;
    const auto calls = record.model_calls(std::vector{number});
    REQUIRE(calls.size() == 1);
    ++prompts;
    const kevo::selection& drawn = asked.at(turn);
    REQUIRE(drawn.parents.size() == 1);
    REQUIRE(drawn.inspirations.size() == 1);
    const kevo::candidate_id parent = drawn.parents.front();
    const kevo::candidate_id other = drawn.inspirations.front();
    const double fast = known.at(turn).at(parent);
    const double slow = known.at(turn).at(other);
    CHECK(fast > slow);
    CHECK(kevo::detail::score_bucket(fast, width) != kevo::detail::score_bucket(slow, width));
    const std::string& prompt = calls.front().messages;
    CHECK(has(prompt, "code1: #" + std::to_string(other) + " by "));
    CHECK(has(prompt, "code2: #" + std::to_string(parent) + " by "));
    CHECK(!has(prompt, "code3"));
    CHECK(has(prompt, "built on #" + std::to_string(parent)));
    CHECK(has(prompt, "5. Where are the largest gains"));
    CHECK(!has(prompt, "## Earlier attempts"));  // a clean slate
  });
  return prompts;
}

}  // namespace

TEST_CASE("cuda_l1 on a task that a command judges: two buckets in every contrastive prompt") {
  scripted::server server([](const scripted::request& r) {
    return in_sections(r, scripted::value_reply(static_cast<long long>(1001 + r.number * 3)));
  });
  const scripted::project p("  models: [{name: m, url: \"http://127.0.0.1:1/v1\"}]\n", "");
  const std::string at = p.folder.string();
  const auto ended = run_system(
      server, p.folder,
      {"--set", "task=" + at + "/task.yaml", "--set",
       "fitness={backend: command, command: [/bin/sh, score.sh], directory: \"" + at + "\", sandbox: off}",
       "--set", "stop={proposals: 40}"});
  CHECK(ended.at("stopped_by").as_string() == "40 proposals");
  CHECK(check_prompts(kevo::journal::open_read_only(at + "/run")) >= 10);
}

TEST_CASE("cuda_l1 on the matrix product") {
  scripted::server server([](const scripted::request& r) {
    return in_sections(
        r, "Summary: rows of B in turn\n\n```cpp\n// version " + std::to_string(r.number) +
               "\n#include <cstdint>\n\nextern \"C\" void run(const float* A, const float* B, float* C, "
               "int64_t M, int64_t N, int64_t K) {\n"
               "  for (int64_t i = 0; i < M; ++i) {\n"
               "    for (int64_t j = 0; j < N; ++j) C[i * N + j] = 0;\n"
               "    for (int64_t k = 0; k < K; ++k)\n"
               "      for (int64_t j = 0; j < N; ++j) C[i * N + j] += A[i * K + k] * B[k * N + j];\n"
               "  }\n}\n```\n");
  });
  const shell::scratch folder;
  const auto ended =
      run_system(server, folder,
                 {"--set", "fitness.timing={short: 0.05, full: 0.1, sustained: 0.05}", "--set",
                  "stop={proposals: 2}", "--set", "run.parallel.variations=1", "--set", "run.finish=0",
                  "--set", "vary.operators=[{type: llm_contrastive, attempts: 1, similarity: 2}]"});
  CHECK(ended.at("valid").to_number<int>() >= 2);  // the seeds, which are of two buckets
  CHECK(check_prompts(kevo::journal::open_read_only((folder / "run").string())) >= 1);
}
