// timed
// A search that is recorded by the journal is repeated from it, decision by decision, also after its process
// died.
#include "src/run/replay.hpp"

#include <chrono>
#include <csignal>
#include <cstdio>
#include <sys/wait.h>
#include <thread>

#include <doctest/doctest.h>

#include <kevo/filter/proposal_net.hpp>
#include <kevo/run_to_end.hpp>
#include <kevo/select/priority_queue.hpp>
#include <kevo/stop/proposals.hpp>

#include "src/run/driver.hpp"
#include "tests/journal/random_run.hpp"
#include "tests/support/toy_search.hpp"

using namespace kevo_test;  // NOLINT(google-build-using-namespace)

namespace {

constexpr std::uint64_t evaluations = 300;

std::function<double()> steps_of_time(double from_s) {
  return [now_s = from_s]() mutable { return now_s += 0.001 / 3; };
}

/// Commits every few events: not all that was emitted is durable when a process dies.
struct lazy_sink {
  kevo::journal record;
  std::uint64_t every = 7;
  void consume(const kevo::event& e) {
    record.consume(e);
    if (e.sequence % every == 0) record.commit();
  }
};

std::unique_ptr<kevo::search> engine_over(const kevo::candidate_store& store) {
  auto parts = toy::parts({.evaluations = evaluations}, {});
  parts.store = store;
  kevo::search_settings settings;
  settings.seed = 21;
  return std::make_unique<kevo::search>(std::move(parts), settings);
}

kevo::replay_report repeat(kevo::search& engine, const kevo::journal& record, bool recompute) {
  return kevo::replay(engine, [&record](const auto& each) { record.for_each_event(each); },
                      record.store().program_of, {recompute});
}

/// Goes on with the run in `directory`, or begins it, to its end.
void advance(const std::string& directory, std::chrono::microseconds pause) {
  struct unhurried_hill {
    std::chrono::microseconds pause;
    kevo::evaluation evaluate(const kevo::evaluation_request& request) {
      std::this_thread::sleep_for(pause);
      return toy::hill{}.evaluate(request);
    }
  };
  const bool fresh = !kevo::journal::exists(directory);
  auto record = fresh ? kevo::journal::create(directory, example_header()) : kevo::journal::open(directory);
  const auto engine = engine_over(record.store());
  kevo::replay_report past;
  if (!fresh) past = repeat(*engine, record, false);
  if (past.divergence) throw std::runtime_error(*past.divergence);
  for (const kevo::event& each : past.unrecorded) record.consume(each);
  engine->attach(lazy_sink{record});
  if (engine->graph().size() == 0) engine->add_seed(toy::program_of(9000), 0);
  kevo::driver_settings settings;
  settings.variations = 1;
  settings.evaluations = 2;
  settings.clock_s = steps_of_time(past.last_time_s);
  kevo::drive(*engine, unhurried_hill{pause}, std::move(past.unfinished), settings);
  record.close();
}

void check_same_end(const kevo::search& a, const kevo::search& b) {
  CHECK(a.best().id == b.best().id);
  CHECK(a.best().speedup == b.best().speedup);
  CHECK(a.spent().evaluations == b.spent().evaluations);
  REQUIRE(a.archive().size() == b.archive().size());
  for (std::size_t i = 0; i < a.archive().size(); ++i) CHECK(a.archive().at(i) == b.archive().at(i));
}

}  // namespace

TEST_CASE("what the journal gives back replays bit for bit, with the programs proposed again") {
  const scratch_folder folder;
  auto record = kevo::journal::create(folder.path(), example_header());
  const auto engine = engine_over(record.store());
  engine->attach(lazy_sink{record});
  engine->add_seed(toy::program_of(9000), 0);
  kevo::run_to_end(*engine, toy::hill{}, steps_of_time(0));
  record.close();

  const auto read = kevo::journal::open_read_only(folder.path());
  CHECK(read.last_sequence() == engine->last_sequence());
  const auto again = engine_over(kevo::memory_store());
  const auto report = repeat(*again, read, true);
  REQUIRE_MESSAGE(!report.divergence, report.divergence.value_or(""));
  CHECK(report.events == engine->last_sequence());
  check_same_end(*again, *engine);
  CHECK(read.best() == engine->best().id);
  CHECK(read.candidate_count() == engine->graph().size());
  for (kevo::candidate_id id = 0; id < read.candidate_count(); ++id) {
    CHECK(read.candidate(id)->parents == engine->graph().parents(id));
    CHECK(read.candidate(id)->program == engine->graph().program_of(id));
  }
}

namespace {

/// Measures a candidate again in half of its turns.
struct often_again {
  kevo::selection select(const kevo::population_view& view, kevo::rng& random) {
    return {.parents = {view.nth_best(random.below(view.ranked()))}, .reevaluate = random.chance(0.5)};
  }
};
/// Goes as far as the latest evaluation of its parent was good.
struct by_what_it_is_shown {
  std::string name() const { return "by_what_it_is_shown"; }
  kevo::variation_result vary(const kevo::variation_request& request, kevo::rng&) {
    const auto& parent = *request.parents.front();
    const int far = 1 + static_cast<int>(parent.evaluation->score * 1e6) % 300;
    return kevo::proposal{toy::program_of(toy::number_in(*parent.program) + far), "step"};
  }
};
/// Gives another score each time.
struct noisy_hill {
  std::shared_ptr<int> times = std::make_shared<int>(0);
  kevo::evaluation evaluate(const kevo::evaluation_request& request) {
    const double score = toy::hill{}.evaluate(request).score + 1e-3 * ++*times;
    return toy::valued(score, request.wanted);
  }
};

}  // namespace

TEST_CASE("a replay shows what was known at the time, however little a journal holds in memory") {
  const scratch_folder folder;
  kevo::journal_options tiny;
  tiny.evaluation_cache_bytes = 1;
  tiny.program_cache_bytes = 1;
  const auto engine_of = [](const kevo::candidate_store& store) {
    auto parts = toy::parts({.evaluations = evaluations}, {});
    parts.select = often_again{};
    parts.operators = {by_what_it_is_shown{}};
    parts.store = store;
    return std::make_unique<kevo::search>(std::move(parts), kevo::search_settings{.seed = 5});
  };
  {
    auto record = kevo::journal::create(folder.path(), example_header(), tiny);
    const auto engine = engine_of(record.store());
    engine->attach(lazy_sink{record});
    engine->add_seed(toy::program_of(3000), 0);
    kevo::run_to_end(*engine, noisy_hill{}, steps_of_time(0));
    record.close();
  }
  const auto read = kevo::journal::open_read_only(folder.path(), tiny);
  const auto again = engine_of(read.store());
  const auto source = [&read](const auto& each) {
    read.for_each_event([&](const kevo::event& e) {
      read.see_until(e.sequence);
      each(e);
    });
  };
  const auto report = kevo::replay(*again, source, read.store().program_of, {.recompute_variations = true});
  REQUIRE_MESSAGE(!report.divergence, report.divergence.value_or(""));
  CHECK(report.events == read.last_sequence());

  // Without that it is shown what came later.
  const auto confused = engine_of(read.store());
  read.see_until({});
  const auto other = repeat(*confused, read, true);
  CHECK(other.divergence);
}

TEST_CASE("a run whose process is killed again and again ends, and its whole record replays") {
  const scratch_folder folder;
  const std::string run = folder / "run";
  kevo::rng random(static_cast<std::uint64_t>(getpid()));
  int kills = 0;
  bool ended = false;
  for (int round = 0; round < 200 && !ended; ++round) {
    const bool to_the_end = round >= 8;  // however slow the machine is, the test comes to an end
    std::fflush(nullptr);
    const pid_t child = fork();
    if (child == 0) {
      int status = 1;
      try {
        advance(run, std::chrono::microseconds(to_the_end ? 0 : 500));
        status = 0;
      } catch (const std::exception& e) {
        std::fprintf(stderr, "child: %s\n", e.what());
      }
      _exit(status);
    }
    if (!to_the_end) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20 + random.below(80)));
      kill(child, SIGKILL);
    }
    int status = 0;
    REQUIRE(waitpid(child, &status, 0) == child);
    if (WIFSIGNALED(status)) {
      ++kills;
    } else {
      REQUIRE(WEXITSTATUS(status) == 0);
      ended = true;
    }
  }
  CHECK(ended);
  MESSAGE(kills, " kills");
  const auto read = kevo::journal::open_read_only(run);
  const auto again = engine_over(kevo::memory_store());
  const auto report = repeat(*again, read, true);
  REQUIRE_MESSAGE(!report.divergence, report.divergence.value_or(""));
  CHECK(report.events == read.last_sequence());
  CHECK(again->stopped().value_or("") == std::to_string(evaluations) + " evaluations");
  CHECK(again->spent().evaluations >= evaluations);
  CHECK(read.best() == again->best().id);
}

namespace {

/// A search in rounds whose proposals are filtered in batches.
std::unique_ptr<kevo::search> filtered_engine_over(const kevo::candidate_store& store, bool rounds) {
  auto parts = toy::parts({.evaluations = 120}, {});
  parts.store = store;
  parts.operators = {toy::step{.reach = 60}, toy::step{.reach = 600}};
  if (rounds) {
    kevo::priority_queue policy;
    policy.candidates = 6;
    parts.select = policy;
  }
  const kevo::source_embedding line = {
      1, [](const kevo::program& p) { return std::vector<double>{static_cast<double>(toy::number_in(p))}; }};
  parts.filter = kevo::filtering{kevo::proposal_net(20, line), 6};
  // The net may drop many proposals in a row, which is no reason here to end the run.
  return std::make_unique<kevo::search>(std::move(parts),
                                        kevo::search_settings{.seed = 22, .patience = 10'000});
}

}  // namespace

TEST_CASE("a run with a proposal filter replays bit for bit, however many threads it had, and goes on") {
  for (const bool rounds : {false, true}) {
    CAPTURE(rounds);
    const scratch_folder folder;
    auto record = kevo::journal::create(folder.path(), example_header());
    const auto engine = filtered_engine_over(record.store(), rounds);
    engine->attach(lazy_sink{record});
    engine->add_seed(toy::program_of(9000), 0);
    kevo::driver_settings settings;
    settings.variations = 3;
    settings.evaluations = 2;
    settings.clock_s = steps_of_time(0);
    kevo::drive(*engine, toy::hill{}, {}, settings);
    record.close();
    CHECK(engine->spent().filtered > 5);

    const auto read = kevo::journal::open_read_only(folder.path());
    const auto again = filtered_engine_over(kevo::memory_store(), rounds);
    const auto report = repeat(*again, read, true);
    REQUIRE_MESSAGE(!report.divergence, report.divergence.value_or(""));
    CHECK(report.events == engine->last_sequence());
    CHECK(again->spent().filtered == engine->spent().filtered);
    check_same_end(*again, *engine);

    // Cut off anywhere, the record is the beginning of the same run.
    for (const std::uint64_t cut : {31U, 77U, 150U, 223U}) {
      CAPTURE(cut);
      const auto part = filtered_engine_over(kevo::memory_store(), rounds);
      const auto past = kevo::replay(*part,
                                     [&](const auto& each) {
                                       read.for_each_event([&](const kevo::event& e) {
                                         if (e.sequence <= cut) each(e);
                                       });
                                     },
                                     read.store().program_of, {false});
      REQUIRE_MESSAGE(!past.divergence, past.divergence.value_or(""));
      kevo::driver_settings rest = settings;
      rest.clock_s = steps_of_time(past.last_time_s);
      kevo::drive(*part, toy::hill{}, past.unfinished, rest);
      CHECK(part->spent().evaluations >= 120);
    }
  }
}

TEST_CASE("what was paid for and waits for the filter when a run stops is filtered, evaluated and replayed") {
  struct paid_step : toy::step {  // as an operator that asks a model, it is not simply run again
    bool replayable() const { return false; }
  };
  const auto engine_of = [](const kevo::candidate_store& store) {
    auto parts = toy::parts({.evaluations = 1000}, {});
    parts.store = store;
    parts.operators = {paid_step{}};
    parts.stop = kevo::stop::proposals{4};
    const kevo::source_embedding line = {1, [](const kevo::program& p) {
                                           return std::vector<double>{static_cast<double>(toy::number_in(p))};
                                         }};
    parts.filter = kevo::filtering{kevo::proposal_net(1, line), 100};
    return std::make_unique<kevo::search>(std::move(parts), kevo::search_settings{.seed = 23});
  };
  const scratch_folder folder;
  auto record = kevo::journal::create(folder.path(), example_header());
  const auto engine = engine_of(record.store());
  engine->attach(lazy_sink{record});
  engine->add_seed(toy::program_of(9000), 0);
  kevo::run_to_end(*engine, toy::hill{}, steps_of_time(0));
  record.close();
  CHECK(engine->stopped() == std::string("4 proposals"));

  const auto read = kevo::journal::open_read_only(folder.path());
  bool stopped = false;
  std::size_t passed = 0, evaluated = 0;
  read.for_each_event([&](const kevo::event& e) {
    stopped = stopped || std::holds_alternative<kevo::search_stopped>(e.payload);
    if (const auto* batch = std::get_if<kevo::proposals_filtered>(&e.payload)) {
      CHECK(stopped);  // its batch was never full
      passed += batch->passed.size();
    }
    const auto* told = std::get_if<kevo::evaluation_told>(&e.payload);
    if (told != nullptr && stopped && told->wanted != kevo::evaluation_stage::confirmed) ++evaluated;
  });
  CHECK(passed >= 2);
  CHECK(evaluated == passed);

  const auto again = engine_of(kevo::memory_store());
  const auto report = repeat(*again, read, true);
  REQUIRE_MESSAGE(!report.divergence, report.divergence.value_or(""));
  CHECK(report.events == engine->last_sequence());
}
