// timed
// A session of a program of its own: threads, journal, resume with another stop rule, replay.

#include <atomic>
#include <chrono>
#include <filesystem>
#include <set>
#include <thread>

#include <doctest/doctest.h>

#include <kevo/archive/top_k.hpp>
#include <kevo/journal.hpp>
#include <kevo/select/uniform.hpp>
#include <kevo/session.hpp>
#include <kevo/stop/after.hpp>
#include <kevo/stop/evaluations.hpp>
#include <kevo/stop/proposals.hpp>
#include <kevo/task_id.hpp>

#include "tests/support/toy_search.hpp"

using namespace kevo;
namespace fs = std::filesystem;

namespace {

struct scratch {
  fs::path path;
  scratch() {
    static std::atomic<int> number = 0;
    path = fs::temp_directory_path() /
           ("kevo_session_" + std::to_string(::getpid()) + "_" + std::to_string(number++));
    fs::remove_all(path);
  }
  ~scratch() { fs::remove_all(path); }
  std::string run() const { return (path / "run").string(); }
};

/// Counts what it is asked to evaluate.
struct counted_hill {
  std::shared_ptr<std::atomic<int>> asked = std::make_shared<std::atomic<int>>(0);
  evaluation evaluate(const evaluation_request& request) {
    ++*asked;
    std::this_thread::sleep_for(std::chrono::microseconds(200));
    return toy::hill{}.evaluate(request);
  }
};

session_plan toy_plan(const std::string& folder, any_stop_rule stop) {
  session_plan plan;
  plan.name = "toy";
  plan.folder = folder;
  plan.parts.select = toy::best_or_random{};
  plan.parts.operators = {toy::step{}};
  plan.parts.archive = top_k(10);
  plan.parts.stop = std::move(stop);
  plan.fitness = toy::hill{};
  plan.seeds = {toy::program_of(8000)};
  return plan;
}

std::size_t events_in(const std::string& folder) {
  return journal::open_read_only(folder).last_sequence();
}

std::string thrown_by(const std::function<void()>& call) {
  try {
    call();
  } catch (const error& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace

TEST_CASE("a session runs threads, keeps a journal, writes the champion and a report") {
  const scratch folder;
  session_plan plan = toy_plan(folder.run(), stop::evaluations{60});
  int statuses = 0;
  std::size_t seen = 0;
  bool closed = false;
  struct counting_sink {
    std::size_t* seen;
    bool* closed;
    void consume(const event&) const { ++*seen; }
    void close() const { *closed = true; }
  };
  plan.parts.sinks.emplace_back(counting_sink{&seen, &closed});
  plan.hooks.status = [&](const session_status& now) {
    ++statuses;
    CHECK(now.archive != nullptr);
  };
  const run_outcome ended = start_session(plan);
  CHECK(ended.stopped_by == "60 evaluations");
  CHECK(ended.ledger.evaluations >= 60);
  REQUIRE(ended.best.id != no_candidate);
  CHECK(ended.best_program->text() ==
        journal::open_read_only(folder.run())
            .source(journal::open_read_only(folder.run()).candidate(ended.best.id)->program)
            ->text());
  CHECK(ended.archive.size() == 10);
  CHECK(fs::exists(ended.best_file));
  CHECK(fs::exists(folder.path / "run" / "report.html"));
  CHECK(seen == events_in(folder.run()));
  CHECK(closed);
  CHECK(statuses > 0);
  CHECK(thrown_by([&] { start_session(plan); }).find("this folder already contains a run") !=
        std::string::npos);
}

TEST_CASE("a run is resumed with another stop rule, whichever it is, and replays whole") {
  const scratch folder;
  SUBCASE("a larger budget") {
    start_session(toy_plan(folder.run(), stop::evaluations{30}));
    CHECK(resume_session(toy_plan(folder.run(), stop::evaluations{50})).ledger.evaluations >= 50);
  }
  SUBCASE("a smaller budget, which the past has used already") {
    const auto first = start_session(toy_plan(folder.run(), stop::evaluations{30}));
    const auto second = resume_session(toy_plan(folder.run(), stop::evaluations{10}));
    CHECK(second.ledger.evaluations == first.ledger.evaluations);
    CHECK(second.stopped_by == "10 evaluations");
  }
  SUBCASE("a rule of another kind") {
    start_session(toy_plan(folder.run(), stop::evaluations{30}));
    CHECK(resume_session(toy_plan(folder.run(), stop::proposals{70})).ledger.proposals >= 70);
  }
  CHECK(resume_session(toy_plan(folder.run(), stop::evaluations{100})).ledger.evaluations >= 100);
  // Up to the first resumption the original rule has to stop where it stopped.
  const auto again = replay_session(toy_plan(folder.run(), stop::evaluations{30}));
  CHECK_MESSAGE(!again.divergence, again.divergence.value_or(""));
  CHECK(again.events == events_in(folder.run()));
  CHECK(again.run.archive.size() == 10);
}

TEST_CASE("a replay with another stop rule names the stop as the first difference") {
  const scratch folder;
  start_session(toy_plan(folder.run(), stop::evaluations{30}));
  const auto again = replay_session(toy_plan(folder.run(), stop::evaluations{20}));
  REQUIRE(again.divergence);
  CHECK_MESSAGE(again.divergence->find("stopped: 20 evaluations") != std::string::npos, *again.divergence);
}

TEST_CASE("the stop rule of a resumed session has observed the past") {
  const scratch folder;
  const auto rule = [] { return stop::after(stop::evaluations{20}, stop::evaluations{40}); };
  start_session(toy_plan(folder.run(), stop::evaluations{50}));
  const auto ended = resume_session(toy_plan(folder.run(), rule()));
  CHECK(ended.ledger.evaluations >= 60);
  CHECK(ended.ledger.evaluations < 70);  // without the past it would begin to count at 50
}

TEST_CASE("a plan that is not the one of the run is refused, and what differs is named") {
  const scratch folder;
  start_session(toy_plan(folder.run(), stop::evaluations{10}));
  const std::size_t before = events_in(folder.run());
  session_plan other = toy_plan(folder.run(), stop::evaluations{20});
  std::string expected;
  SUBCASE("seed") {
    other.search.seed = 2;
    expected = "this run was started with another seed (search.seed): '1', but now it is '2'";
  }
  SUBCASE("operators") {
    other.parts.operators.emplace_back(toy::speechless{});
    expected = "another list of operators: 'step', but now it is 'step, speechless'";
  }
  SUBCASE("settings") {
    other.search.proposals_ahead = 7;
    expected = "another search.proposals_ahead: '4', but now it is '7'";
  }
  SUBCASE("task") {
    other.parts.task = std::make_shared<const task>(task{.name = "another"});
    expected = "the task changed since this run began";
  }
  SUBCASE("selector") {
    other.parts.select = kevo::uniform{};
    expected = "repeating its recorded decisions gives a different result";
  }
  const std::string said = thrown_by([&] { resume_session(other); });
  CHECK_MESSAGE(said.find(expected) != std::string::npos, said);
  CHECK(events_in(folder.run()) == before);
}

TEST_CASE("a part that is missing is named") {
  const scratch folder;
  const session_plan whole = toy_plan(folder.run(), stop::evaluations{10});
  session_plan plan = whole;
  plan.fitness = {};
  CHECK(thrown_by([&] { start_session(plan); }).find("has no fitness function") != std::string::npos);
  plan = whole;
  plan.parts.select = {};
  CHECK(thrown_by([&] { start_session(plan); }).find("has no selector") != std::string::npos);
  plan = whole;
  plan.parts.operators.clear();
  CHECK(thrown_by([&] { start_session(plan); }).find("has no variation operator") != std::string::npos);
  plan = whole;
  plan.folder.clear();
  CHECK(thrown_by([&] { start_session(plan); }).find("has no folder") != std::string::npos);
  CHECK(!fs::exists(folder.run()));
}

TEST_CASE("a stop token ends a session, which another goes on with; hooks see the past once") {
  const scratch folder;
  std::stop_source user;
  session_plan plan = toy_plan(folder.run(), stop::evaluations{400});
  const counted_hill watched;
  plan.fitness = watched;
  plan.graceful_stop = user.get_token();
  plan.hooks.poll = [&] {
    if (*watched.asked >= 20) user.request_stop();
  };
  const auto first = start_or_resume_session(plan);
  CHECK(first.interrupted);
  CHECK(first.stopped_by == "interrupted");
  const std::size_t recorded = events_in(folder.run());

  plan.graceful_stop = {};
  const counted_hill hill;
  plan.fitness = hill;
  std::size_t past = 0;
  plan.hooks = {.past = [&](const event&) { ++past; }};
  const auto second = start_or_resume_session(plan);
  CHECK(!second.interrupted);
  CHECK(second.ledger.evaluations >= 400);
  CHECK(past == recorded);
  const auto told = second.ledger.evaluations + second.ledger.confirmations;
  const auto told_before = first.ledger.evaluations + first.ledger.confirmations;
  CHECK(static_cast<std::uint64_t>(*hill.asked) == told - told_before);  // nothing is evaluated twice
}

TEST_CASE("a run that was killed before its first event begins with its seeds") {
  const scratch folder;
  {
    const journal made = journal::create(folder.run(), {.run_name = "toy",
                                                        .task_id = to_string(id_of(task{.name = "toy"})),
                                                        .seed = 1,
                                                        .operators = {"step"}});
  }
  CHECK(start_or_resume_session(toy_plan(folder.run(), stop::evaluations{10})).ledger.evaluations >= 10);
}

TEST_CASE("a journal gives candidates, evaluations and lineage as ranges") {
  const scratch folder;
  const auto ended = start_session(toy_plan(folder.run(), stop::evaluations{40}));
  const journal run = journal::open_read_only(folder.run());
  std::size_t count = 0;
  for (const recorded_candidate& one : run.candidates()) {
    CHECK(one.id == count++);
    CHECK(run.source(one.program) != nullptr);
    CHECK(one.parents.empty() == (one.operator_name == "seed"));
  }
  CHECK(count == run.candidates().size());
  std::set<std::uint64_t> told;
  double best = 0;
  for (const recorded_evaluation& one : run.evaluations()) {
    told.insert(one.sequence);
    CHECK(one.candidate < count);
    best = std::max(best, one.result->score);
  }
  CHECK(told.size() == ended.ledger.evaluations + ended.ledger.confirmations);
  CHECK(best >= ended.best.score);
  std::size_t by_candidate = 0;
  for (const recorded_candidate& one : run.candidates()) by_candidate += run.evaluations(one.id).size();
  CHECK(by_candidate == told.size());

  const auto line = run.lineage(ended.best.id);
  REQUIRE(line.size() > 1);
  CHECK(line.front().id == ended.best.id);
  CHECK(line.back().operator_name == "seed");
  for (std::size_t i = 0; i + 1 < line.size(); ++i) CHECK(line[i].parents.front() == line[i + 1].id);
  CHECK(run.lineage(static_cast<candidate_id>(count)).empty());
}
