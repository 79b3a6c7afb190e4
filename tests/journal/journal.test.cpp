// timed
#include "src/journal/journal.hpp"

#include <algorithm>
#include <fstream>
#include <thread>

#include <doctest/doctest.h>
#include <sqlite3.h>

#include <kevo/error.hpp>

#include "tests/journal/random_run.hpp"

using namespace kevo_test;  // NOLINT(google-build-using-namespace)

namespace {

std::vector<kevo::event> events_of(const kevo::journal& record) {
  std::vector<kevo::event> all;
  record.for_each_event([&all](const kevo::event& e) { all.push_back(e); });
  return all;
}

void check_same(const std::vector<kevo::event>& read, const std::vector<kevo::event>& written) {
  REQUIRE(read.size() == written.size());
  for (std::size_t i = 0; i < read.size(); ++i) {
    INFO("event ", i + 1, " of kind ", written[i].payload.index());
    REQUIRE(same(read[i], written[i]));
  }
}

std::string ask_database(const std::string& directory, const std::string& sql) {
  sqlite3* database = nullptr;
  REQUIRE(sqlite3_open((directory + "/journal.sqlite").c_str(), &database) == SQLITE_OK);
  std::string answer;
  const auto append = [](void* out, int n, char** values, char**) {
    for (int i = 0; i < n; ++i)
      *static_cast<std::string*>(out) += std::string(values[i] ? values[i] : "NULL") + "|";
    return 0;
  };
  char* message = nullptr;
  if (sqlite3_exec(database, sql.c_str(), append, &answer, &message) != SQLITE_OK) answer = message;
  sqlite3_free(message);
  sqlite3_close(database);
  return answer;
}

}  // namespace

TEST_CASE("every event comes back as it was, over sessions, doubles bit for bit") {
  for (const std::uint64_t seed : {1U, 2U, 3U, 4U}) {
    const scratch_folder folder;
    event_maker maker(seed, true);
    std::vector<kevo::event> written;
    std::vector<std::shared_ptr<const kevo::program>> programs;
    const auto go_on = [&](kevo::journal& record, int events) {
      for (int i = 0; i < events; ++i) {
        auto made = maker.next();
        feed(record, made);
        written.push_back(made.what);
        if (made.program) programs.push_back(made.program);
        if (i % 17 == 0) record.commit();
      }
    };
    {
      auto record = kevo::journal::create(folder.path(), example_header());
      go_on(record, 250);
      CHECK(record.uncommitted() > 0);
      check_same(events_of(record), written);  // those in memory included
      record.close();
      CHECK(record.uncommitted() == 0);
    }
    {
      auto record = kevo::journal::open(folder.path());
      CHECK(record.last_sequence() == 250);
      CHECK(same(record.last_time(), written.back().time_s));
      go_on(record, 250);
    }  // the last handle commits
    const auto record = kevo::journal::open_read_only(folder.path());
    CHECK(record.last_sequence() == 500);
    check_same(events_of(record), written);
    for (const auto& p : programs) {
      const auto found = record.store().program_of(kevo::id_of(*p));
      REQUIRE(found);
      CHECK(*found == *p);
    }
    REQUIRE(record.sessions().size() == 2);
    CHECK(record.sessions()[1].after_sequence == 250);
    CHECK(ask_database(folder.path(), "PRAGMA integrity_check") == "ok|");
  }
}

TEST_CASE("the header comes back as it was") {
  const scratch_folder folder;
  const auto h = example_header();
  kevo::journal::create(folder / "deeper/run", h);
  const auto back = kevo::journal::open_read_only(folder / "deeper/run").header();
  CHECK(back.run_name == h.run_name);
  CHECK(back.kevo_version == h.kevo_version);
  CHECK(back.config_yaml == h.config_yaml);
  CHECK(back.config_path == h.config_path);
  CHECK(back.task_path == h.task_path);
  CHECK(back.task_json_or_text == h.task_json_or_text);
  CHECK(back.task_id == h.task_id);
  CHECK(back.seed == h.seed);
  CHECK(back.operators == h.operators);
  CHECK(back.more == h.more);
}

TEST_CASE("a candidate is found with its lineage and all of its evaluations") {
  const scratch_folder folder;
  auto record = kevo::journal::create(folder.path(), example_header());
  const auto store = record.store();
  kevo::rng random(5);
  std::uint64_t sequence = 0;
  const auto tell = [&](decltype(kevo::event::payload) what) {
    record.consume({++sequence, static_cast<double>(sequence), std::move(what)});
  };
  const auto evaluated = [&](double speedup) {
    auto e = random_evaluation(random, false);
    e.outcome = kevo::outcome::valid;
    e.speedup = e.score = speedup;
    return std::make_shared<const kevo::evaluation>(std::move(e));
  };
  for (std::uint64_t i = 0; i < 3; ++i)
    store.put_program(kevo::id_of(*numbered_program(i)), numbered_program(i));
  tell(kevo::seeded{0, kevo::id_of(*numbered_program(0))});
  tell(kevo::seeded{1, kevo::id_of(*numbered_program(1))});
  tell(kevo::variation_asked{1, {{1, 0}, {0}, kevo::memory_scope::both, false}, 1});
  record.commit();
  record = kevo::journal(record);  // a handle is shared
  kevo::variation_told told{};
  told.job = 1;
  told.program = kevo::id_of(*numbered_program(2));
  told.candidate = 2;
  told.summary = "took the loop of 0";
  told.cost.wall_s = 0.25;
  tell(told);
  const auto first = evaluated(2);
  const auto second = evaluated(3);
  tell(kevo::evaluation_told{
      2, 2, kevo::evaluation_stage::timed_full, first, {kevo::archive_status::new_cell, 2}});
  tell(kevo::evaluation_told{
      3, 2, kevo::evaluation_stage::confirmed, second, {kevo::archive_status::improved, 1}});
  CHECK(store.evaluation_of(2) == second);
  record.commit();

  CHECK(record.candidate_count() == 3);
  const auto child = record.candidate(2);
  REQUIRE(child);
  CHECK(child->operator_name == "splice");
  CHECK(child->parents == std::vector<kevo::candidate_id>{1, 0});
  CHECK(child->inspirations == std::vector<kevo::candidate_id>{0});
  CHECK(child->summary == told.summary);
  CHECK(child->cost.wall_s == 0.25);
  CHECK(child->born_s == 4);
  CHECK_FALSE(record.candidate(3));
  CHECK(record.candidate(0)->operator_name == "seed");
  const auto all = record.evaluations(2);
  REQUIRE(all.size() == 2);
  CHECK(same(*all[0].result, *first));
  CHECK(same(*all[1].result, *second));
  CHECK(all[1].wanted == kevo::evaluation_stage::confirmed);
  CHECK(all[0].archived == kevo::archive_result{kevo::archive_status::new_cell, 2});
  CHECK(record.best() == 2);
  CHECK(ask_database(folder.path(), "SELECT candidate, generation FROM lineage") == "2|0|1|1|");
  CHECK(ask_database(folder.path(),
                     "SELECT operator, turns, candidates, valid, archived, best_speedup FROM operators") ==
        "splice|1|1|1|1|3.0|");
}

TEST_CASE("variations that were out when a process died get their edges from what was asked") {
  const scratch_folder folder;
  {
    auto record = kevo::journal::create(folder.path(), example_header());
    record.store().put_program(kevo::id_of(*numbered_program(0)), numbered_program(0));
    record.consume({1, 0.0, kevo::seeded{0, kevo::id_of(*numbered_program(0))}});
    record.consume({2, 0.0, kevo::variation_asked{1, {{0}, {}, kevo::memory_scope::siblings, false}, 2}});
    record.consume({3, 0.0, kevo::variation_asked{2, {{0}, {}, kevo::memory_scope::siblings, false}, 1}});
    record.consume(
        {4, 0.0,
         kevo::variation_told{.job = 2, .program = {}, .summary = "nothing", .cost = {}, .transcript = {}}});
  }
  auto record = kevo::journal::open(folder.path());
  record.store().put_program(kevo::id_of(*numbered_program(1)), numbered_program(1));
  record.consume({5, 1.0,
                  kevo::variation_told{.job = 1,
                                       .program = kevo::id_of(*numbered_program(1)),
                                       .candidate = 1,
                                       .summary = "",
                                       .cost = {},
                                       .transcript = {}}});
  record.commit();
  CHECK(record.candidate(1)->operator_name == "own");
  CHECK(record.candidate(1)->parents == std::vector<kevo::candidate_id>{0});
}

TEST_CASE("the store forgets nothing however small its caches are, and serves other threads") {
  const scratch_folder folder;
  kevo::journal_options tiny;
  tiny.program_cache_bytes = 1;
  tiny.evaluation_cache_bytes = 1;
  auto record = kevo::journal::create(folder.path(), example_header(), tiny);
  const auto store = record.store();
  kevo::rng random(1);
  std::vector<std::shared_ptr<const kevo::evaluation>> latest;
  std::uint64_t sequence = 0;
  const auto check = [&] {
    for (kevo::candidate_id id = 0; id < latest.size(); ++id) {
      const auto program = store.program_of(kevo::id_of(*numbered_program(id)));
      REQUIRE(program);
      CHECK(*program == *numbered_program(id));
      const auto e = store.evaluation_of(id);
      REQUIRE(e);
      CHECK(same(*e, *latest[id]));
    }
  };
  std::jthread reader([&store](const std::stop_token& stop) {
    std::uint64_t i = 0;
    while (!stop.stop_requested()) {
      const auto p = store.program_of(kevo::id_of(*numbered_program(i % 50)));
      if (p && *p != *numbered_program(i % 50)) std::abort();
      ++i;
      std::this_thread::yield();
    }
  });
  for (kevo::candidate_id id = 0; id < 50; ++id) {
    store.put_program(kevo::id_of(*numbered_program(id)), numbered_program(id));
    record.consume({++sequence, 0.0, kevo::seeded{id, kevo::id_of(*numbered_program(id))}});
    const auto e = std::make_shared<const kevo::evaluation>(random_evaluation(random, true));
    store.put_evaluation(id, e);
    record.consume(
        {++sequence, 0.0, kevo::evaluation_told{id + 1, id, kevo::evaluation_stage::timed_full, e, {}}});
    latest.push_back(e);
    if (id % 10 == 4) check();
    if (id % 7 == 6) record.commit();
  }
  check();
  record.commit();
  check();
  CHECK_FALSE(store.program_of(kevo::content_id{1, 2}));
  CHECK_FALSE(store.evaluation_of(1000));
}

TEST_CASE("one program is written once, whoever puts it again") {
  const scratch_folder folder;
  for (int session = 0; session < 2; ++session) {
    auto record = session == 0 ? kevo::journal::create(folder.path(), example_header())
                               : kevo::journal::open(folder.path());
    for (int i = 0; i < 3; ++i) {
      record.store().put_program(kevo::id_of(*numbered_program(0)), numbered_program(0));
      record.commit();
    }
    CHECK(record.uncommitted() == 0);
  }
  CHECK(ask_database(folder.path(), "SELECT count(*) FROM programs") == "1|");
  CHECK(ask_database(folder.path(), "SELECT count(*) FROM program_files") == "2|");
}

TEST_CASE("a reader sees a prefix of what is committed, and stays at its moment until it is refreshed") {
  const scratch_folder folder;
  auto record = kevo::journal::create(folder.path(), example_header());
  event_maker maker(9, false);
  for (int i = 0; i < 40; ++i) feed(record, maker.next());
  record.commit();
  auto reader = kevo::journal::open_read_only(folder.path());
  CHECK(reader.last_sequence() == 40);
  for (int i = 0; i < 40; ++i) feed(record, maker.next());
  record.commit();
  for (int i = 0; i < 5; ++i) feed(record, maker.next());  // not committed
  CHECK(events_of(reader).size() == 40);
  CHECK(reader.last_sequence() == 40);
  reader.refresh();
  CHECK(reader.last_sequence() == 80);
  CHECK(events_of(reader).size() == 80);
  CHECK_THROWS_AS(reader.consume({}), kevo::error);
  CHECK_THROWS_AS(reader.commit(), kevo::error);
}

TEST_CASE("groups are due by age or by size") {
  const scratch_folder folder;
  kevo::journal_options options;
  options.group_s = 3600;
  options.group_bytes = 20000;
  auto record = kevo::journal::create(folder.path(), example_header(), options);
  CHECK(record.due_in() > 1e9);
  record.consume({1, 0.0, kevo::seeded{}});
  CHECK(record.due_in() > 3000);
  record.commit_if_due();
  CHECK(record.uncommitted() == 1);
  const auto large = std::make_shared<const kevo::program>(
      kevo::single_file_program("cpp", "kernel.cpp", std::string(30000, 'x')));
  record.store().put_program(kevo::id_of(*large), large);
  CHECK(record.due_in() == 0);
  record.commit_if_due();
  CHECK(record.uncommitted() == 0);
  record = kevo::journal::create(folder / "other", example_header());
  record.consume({1, 0.0, kevo::seeded{}});
  std::this_thread::sleep_for(std::chrono::milliseconds(15));
  record.commit_if_due();
  CHECK(record.uncommitted() == 0);
}

TEST_CASE("two programs cannot write one run, and a run is not begun twice") {
  const scratch_folder folder;
  const auto complaint = [](const auto& attempt) {
    try {
      attempt();
    } catch (const kevo::error& e) {
      return std::string(kevo::to_string(e.code())) + ": " + e.what();
    }
    return std::string("none");
  };
  CHECK(complaint([&] { kevo::journal::open(folder.path()); }).find("input: ") == 0);
  CHECK(complaint([&] { kevo::journal::open_read_only(folder.path()); }).find("contains no run") !=
        std::string::npos);
  {
    const auto record = kevo::journal::create(folder.path(), example_header());
    CHECK(kevo::journal::exists(folder.path()));
    const auto locked = complaint([&] { kevo::journal::open(folder.path()); });
    CHECK(locked.find("usage: ") == 0);
    CHECK(locked.find("process " + std::to_string(getpid())) != std::string::npos);
    CHECK_NOTHROW(kevo::journal::open_read_only(folder.path()));
  }
  const auto twice = complaint([&] { kevo::journal::create(folder.path(), example_header()); });
  CHECK(twice.find("usage: ") == 0);
  CHECK(twice.find("kevo resume") != std::string::npos);
  CHECK_NOTHROW(kevo::journal::open(folder.path()));
}

TEST_CASE("what is not a journal, or is newer, is refused with a reason and left alone") {
  const scratch_folder folder;
  const auto complaint = [&](const std::string& directory) {
    try {
      kevo::journal::open_read_only(directory);
    } catch (const kevo::error& e) {
      CHECK(e.code() == kevo::error_code::input);
      CHECK_THROWS_AS(kevo::journal::open(directory), kevo::error);
      CHECK_THROWS_AS(kevo::journal::create(directory, example_header()), kevo::error);
      return std::string(e.what());
    }
    return std::string("none");
  };
  std::filesystem::create_directories(folder / "text");
  std::ofstream(folder / "text/journal.sqlite") << std::string(5000, 'x');
  CHECK(complaint(folder / "text").find("not a kevo journal") != std::string::npos);
  std::filesystem::create_directories(folder / "foreign");
  ask_database(folder / "foreign", "CREATE TABLE header (x)");
  CHECK(complaint(folder / "foreign").find("not a kevo journal") != std::string::npos);
  CHECK(ask_database(folder / "foreign", "PRAGMA journal_mode") == "delete|");
  kevo::journal::create(folder / "newer", example_header());
  ask_database(folder / "newer", "PRAGMA user_version = 99");
  const auto newer = complaint(folder / "newer");
  CHECK(newer.find("schema 99") != std::string::npos);
  CHECK(newer.find("newer version") != std::string::npos);
}

TEST_CASE("a creation that was interrupted does not block the next one") {
  const scratch_folder folder;
  std::ofstream(folder / "journal.sqlite").close();
  CHECK_FALSE(kevo::journal::exists(folder.path()));
  CHECK_THROWS_AS(kevo::journal::open(folder.path()), kevo::error);
  CHECK_NOTHROW(kevo::journal::create(folder.path(), example_header()));
}

TEST_CASE("events that do not follow each other are refused") {
  const scratch_folder folder;
  auto record = kevo::journal::create(folder.path(), example_header());
  record.consume({1, 0.0, kevo::seeded{}});
  CHECK_THROWS_AS(record.consume({3, 0.0, kevo::search_stopped{}}), kevo::error);
  CHECK_THROWS_AS(record.consume({2, 0.0, kevo::evaluation_told{}}), kevo::error);
  CHECK_NOTHROW(record.consume({2, 0.0, kevo::search_stopped{}}));
}

TEST_CASE("a snapshot of the ledger is a row") {
  const scratch_folder folder;
  auto record = kevo::journal::create(folder.path(), example_header());
  kevo::ledger now;
  now.proposals = 7;
  now.variation.money = 1.5;
  now.evaluation.device_s = 2;
  record.append_ledger(now);
  record.commit();
  CHECK(ask_database(folder.path(), "SELECT proposals, money, device_s FROM ledger") == "7|1.5|2.0|");
}
