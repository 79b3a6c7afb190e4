// labels: slow
// timeout: 180
// serial
// Calls of models overlap evaluations and each other, and ten thousand of them leave nothing behind in
// memory.

#include <chrono>
#include <fstream>
#include <thread>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <kevo/archive/top_k.hpp>
#include <kevo/select/power_law.hpp>
#include <kevo/stop/proposals.hpp>
#include <kevo/vary/uniform.hpp>

#include "operators/llm/operators.hpp"
#include "src/journal/journal.hpp"
#include "src/run/driver.hpp"
#include "tests/support/llm_server.hpp"

using namespace kevo;
using namespace std::chrono_literals;

namespace {

/// Takes some time, as a build does.
struct slow_fitness {
  std::chrono::milliseconds time{0};
  evaluation evaluate(const evaluation_request& request) const {
    std::this_thread::sleep_for(time);
    evaluation e{.outcome = outcome::valid, .stage = request.wanted};
    e.score = e.speedup = 1;
    return e;
  }
};

/// Another program with every request.
scripted::answer another(const scripted::request& r, std::chrono::milliseconds delay) {
  auto made = scripted::says("Summary: x\n```\nvalue " + std::to_string(r.number) + "\n```\n");
  made.delay = delay;
  return made;
}

search_parts parts_of(const scripted::server& server, std::size_t at_once, std::uint64_t proposals) {
  model_settings model{.name = "m", .server = {.url = server.url(), .dialect = {.model = "m"}}};
  model.server.calls.concurrency = at_once;
  llm_settings with{.models = std::make_shared<language_models>(models_settings{.models = {model}})};
  with.concurrency = at_once;
  with.similarity = 2;
  search_parts p;
  p.task = std::make_shared<const task>();
  p.select = power_law{};
  p.operators = {llm_rewrite{with}};
  p.portfolio = uniform_portfolio{};
  p.archive = top_k(20);
  p.stop = stop::proposals{proposals};
  return p;
}

double seconds_since(std::chrono::steady_clock::time_point began) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
}

double resident_megabytes() {
  std::ifstream in("/proc/self/statm");
  std::size_t all = 0;
  std::size_t resident = 0;
  in >> all >> resident;
  return static_cast<double>(resident) * static_cast<double>(::sysconf(_SC_PAGESIZE)) / 1e6;
}

}  // namespace

TEST_CASE(
    "with replies of 200 ms and 8 in flight, 39 proposals a second, though evaluations take their time") {
  scripted::server server([](const scripted::request& r) { return another(r, 200ms); });
  server.remember(false);
  search engine(parts_of(server, 8, 240), {.seed = 1, .proposals_ahead = 64});
  engine.add_seed(single_file_program("text", "seed.txt", "value\n"), 0);
  const auto began = std::chrono::steady_clock::now();
  drive(engine, slow_fitness{30ms}, {},
        {.variations = 8, .evaluations = 4, .clock_s = [&] { return seconds_since(began); }});
  const double rate = static_cast<double>(engine.spent().proposals) / seconds_since(began);
  MESSAGE(rate << " proposals a second, " << server.most_at_once() << " calls at once");
  CHECK(rate > 36);
  CHECK(rate < 40.5);
  CHECK(server.most_at_once() == 8);
}

TEST_CASE("memory is flat over 10,000 proposals") {
  scripted::server server([](const scripted::request& r) { return another(r, 0ms); });
  server.remember(false);
  const shell::scratch folder;
  // Caches that are full after a few hundred candidates, so that what grows is not they.
  auto record = journal::create((folder / "run").string(), {.operators = {"llm_rewrite"}},
                                {.program_cache_bytes = 1U << 17U, .evaluation_cache_bytes = 1U << 17U});
  search_parts parts = parts_of(server, 4, 15'000);
  parts.store = record.store();
  parts.sinks = {any_sink(record)};
  search engine(std::move(parts), {.seed = 1, .proposals_ahead = 64});
  engine.add_seed(single_file_program("text", "seed.txt", "value\n"), 0);
  const auto began = std::chrono::steady_clock::now();
  std::vector<double> resident;  ///< [MB] after every thousand proposals
  drive(engine, slow_fitness{}, {},
        {.variations = 4,
         .evaluations = 1,
         .clock_s = [&] { return seconds_since(began); },
         .between = [&](bool idle) { idle ? record.commit() : record.commit_if_due(); },
         .refresh =
             [&](const search& now, driver_load) {
               if (now.spent().proposals >= 1000 * (resident.size() + 1))
                 resident.push_back(resident_megabytes());
             },
         .call = [&](ticket job, const model_call& call,
                     double now_s) { record.append_model_call(job, now_s, call); }});
  CHECK(engine.spent().proposals >= 15'000);
  REQUIRE(resident.size() >= 15);
  std::string line;
  for (const double megabytes : resident) line += fmt::format(" {:.1f}", megabytes);
  MESSAGE("resident MB after every 1,000 proposals:"
          << line << "; " << static_cast<double>(engine.spent().proposals) / seconds_since(began)
          << " a second");
  // By then SQLite's page cache of 16 MB is full. What the graph keeps is some hundred bytes a candidate.
  CHECK(resident[14] - resident[4] < 5);
}
