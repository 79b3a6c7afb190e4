// timed
// Runs whose operators ask for several replies to each prompt: groups in the journal and in exports, the same
// in a replay, with a cassette and after a kill.

#include <chrono>
#include <map>
#include <set>
#include <thread>

#include <doctest/doctest.h>

#include "src/journal/journal.hpp"
#include "tests/support/has.hpp"
#include "tests/support/llm_project.hpp"

using namespace std::chrono_literals;

namespace {

constexpr std::size_t group = 4;

/// Replies that differ, one without a program now and then.
struct sampling_model {
  bool several = true;
  std::chrono::milliseconds delay{0};
  std::atomic<long long> next = 1000;

  scripted::answer operator()(const scripted::request& r) {
    std::vector<std::string> texts(several ? scripted::replies_wanted(r.body) : 1);
    for (auto& text : texts) {
      const long long n = next++;
      text = n % 7 == 0 ? "I have no program." : scripted::value_reply(n);
    }
    auto made = scripted::says_each(texts, 100, static_cast<int>(50 * texts.size()));
    made.delay = delay;
    return made;
  }
};

std::string sampling_models(const std::string& url, const std::string& more = {}) {
  return "  models: [{name: a, url: \"" + url + "\", retries: {tries: 1}}]\n" + more;
}

std::string sampling_run(int variations, const std::string& stop) {
  return "run: {name: groups, seed: 5, output: run, parallel: {variations: " + std::to_string(variations) +
         ", builds: 2}}\narchive: {type: top_k, k: 20}\nselect: {type: power_law}\n"
         "vary: {operators: [{type: llm_rewrite, samples: 4}, {type: macro_micro, samples: 4}]}\nstop: " +
         stop + "\n";
}

/// Replies of finished variations by journal group.
std::map<std::string, std::set<std::int64_t>> groups_in(const kevo::journal& record) {
  std::map<std::string, std::set<std::int64_t>> all;
  record.for_each_model_call([&](kevo::ticket, std::int64_t number) {
    for (const auto& call : record.model_calls(std::vector{number})) {
      CHECK(all[call.group].insert(call.sample).second);
    }
  });
  return all;
}

boost::json::object ledger_without_time(const boost::json::object& run) {
  boost::json::object all = run.at("ledger").as_object();
  all.erase("elapsed_s");
  return all;
}

}  // namespace

TEST_CASE("a run with samples makes groups, and replays and tapes give the same") {
  sampling_model model;
  int variations = 1;
  SUBCASE("one request for a group") {
    variations = 1;
  }
  SUBCASE("a request for each reply, two variations at a time") {
    variations = 2;
    model.several = false;
  }
  auto server = std::make_unique<scripted::server>([&](const scripted::request& r) { return model(r); });
  const std::string tape = "  cassette: {mode: record, file: tape.yaml}\n";
  const scripted::project p(sampling_models(server->url(), tape),
                            sampling_run(variations, "{proposals: 40}"));
  const auto ended = p.answer({"run", "config.yaml"});
  server.reset();
  const auto record = kevo::journal::open_read_only((p.folder / "run").string());
  std::size_t whole = 0;
  for (const auto& [name, samples] : groups_in(record)) whole += samples.size() == group ? 1U : 0U;
  CHECK(whole >= 9);
  std::size_t further = 0;
  record.for_each_event([&](const kevo::event& e) {
    const auto* told = std::get_if<kevo::variation_told>(&e.payload);
    further += told != nullptr && told->further ? 1U : 0U;
  });
  CHECK(further >= 20);

  // What a trainer gets: groups of four, each reply with its own reward.
  p.answer({"export", "run", "--format", "grpo", "--reward", "autotriton", "--output", "grpo.jsonl"});
  std::istringstream lines(shell::read_file(p.folder / "grpo.jsonl"));
  std::map<std::string, std::size_t> rows;
  std::set<double> rewards;
  for (std::string line; std::getline(lines, line);) {
    const auto row = boost::json::parse(line).as_object();
    ++rows[std::string(row.at("group").as_string())];
    rewards.insert(row.at("reward").to_number<double>());
  }
  CHECK(static_cast<std::size_t>(std::count_if(rows.begin(), rows.end(), [](const auto& one) {
          return one.second == group;
        })) >= whole - 2);  // of the last ones some programs were not evaluated
  CHECK(rewards == std::set<double>{0, 1});

  const auto same = p.answer({"run", "--replay", "run", "--replay-models"});
  CHECK(ledger_without_time(same) == ledger_without_time(ended));
  CHECK(same.at("best").at("id") == ended.at("best").at("id"));
  if (variations > 1) return;
  const auto taped = p.answer({"run", "config.yaml", "--replay-models", "--set", "run.output=again"});
  CHECK(taped.at("ledger").at("proposals") == ended.at("ledger").at("proposals"));
  CHECK(taped.at("best").at("speedup") == ended.at("best").at("speedup"));
}

TEST_CASE("killed in the middle of its groups, a run proposes nothing twice") {
  sampling_model model{.delay = 10ms};
  scripted::server server([&](const scripted::request& r) { return model(r); });
  const scripted::project p(sampling_models(server.url()), sampling_run(3, "{proposals: 100000}"));
  for (int attempt = 0; attempt < 3; ++attempt) {
    shell::running victim(attempt == 0 ? shell::kevo({"run", "config.yaml", "--plain"})
                                       : shell::kevo({"resume", "run", "--plain"}),
                          p.folder.string());
    const std::size_t before = server.requests();
    for (int i = 0; i < 2000 && server.requests() < before + 15; ++i) std::this_thread::sleep_for(10ms);
    std::this_thread::sleep_for(5ms * attempt);
    victim.signal(SIGKILL);
    victim.wait();
  }
  p.answer({"resume", "run", "--set", "stop={proposals: 1}"});
  const auto record = kevo::journal::open_read_only((p.folder / "run").string());
  std::set<std::pair<kevo::ticket, std::uint32_t>> told;
  record.for_each_event([&](const kevo::event& e) {
    const auto* one = std::get_if<kevo::variation_told>(&e.payload);
    if (one != nullptr && one->program) CHECK(told.emplace(one->job, one->sample).second);
  });
  CHECK(told.size() >= 3 * 15);
  const auto whole = p.kevo({"run", "--replay", "run", "--replay-models"});
  CHECK_MESSAGE(whole.code == 0, whole.err);
}
