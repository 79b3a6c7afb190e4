// Recorded runs as a problem of the laboratory: a small run is made here and searched again by two policies.

#include <atomic>
#include <map>
#include <set>
#include <sstream>

#include <doctest/doctest.h>

#include <kevo/archive/top_k.hpp>
#include <kevo/evaluate/pooled.hpp>
#include <kevo/journal.hpp>
#include <kevo/lab.hpp>
#include <kevo/memory_store.hpp>
#include <kevo/run_to_end.hpp>
#include <kevo/session.hpp>
#include <kevo/stop/evaluations.hpp>

#include "tests/support/shell.hpp"
#include "tests/support/toy_search.hpp"

using namespace kevo;

namespace {

/// Steps by multiples of 100, so that a run proposes some programs at several parents.
struct coarse_step {
  std::string name() const { return "coarse_step"; }
  variation_result vary(const variation_request& request, rng& random) {
    const int x = toy::number_in(*request.parents.front()->program);
    return proposal{toy::program_of(x + 100 * static_cast<int>(random.integer(-3, 3))), "step"};
  }
};

/// Confirmations differ, and their intervals are so wide that a candidate is confirmed several times.
struct wavering_hill {
  std::shared_ptr<std::atomic<int>> turn = std::make_shared<std::atomic<int>>(0);
  evaluation evaluate(const evaluation_request& request) {
    evaluation e = toy::hill{}.evaluate(request);
    if (request.wanted != evaluation_stage::confirmed) return e;
    e.score = e.speedup *= 1 + 0.01 * (++*turn % 5);
    e.speedup_interval = {0.9 * e.speedup, 1.1 * e.speedup};
    return e;
  }
};

void make_run(const std::filesystem::path& folder, int seed = 8000, const std::string& task_name = "hill",
              any_fitness fitness = toy::hill{}) {
  session_plan plan;
  plan.folder = folder.string();
  auto named = std::make_shared<task>();
  named->name = task_name;
  plan.parts.task = named;
  plan.parts.select = toy::best_or_random{};
  plan.parts.operators = {coarse_step{}};
  plan.parts.archive = top_k(10);
  plan.parts.stop = stop::evaluations{60};
  plan.fitness = std::move(fitness);
  plan.seeds = {toy::program_of(seed)};
  start_session(plan);
}

/// What a journal says, read in another way than the laboratory does.
struct told_run {
  std::map<std::string, double> scores;  ///< of evaluated programs, by their texts; 0 unless valid
  std::set<std::pair<std::string, std::string>> proposals;
  double best = 0;

  explicit told_run(const std::filesystem::path& folder) {
    const journal run = journal::open_read_only(folder.string());
    const auto text_of = [&](const content_id& id) { return std::string(run.source(id)->text()); };
    for (const recorded_candidate& c : run.candidates()) {
      for (const recorded_evaluation& e : run.evaluations(c.id))
        scores[text_of(c.program)] = e.result->valid() ? e.result->score : 0;
      if (const auto made = scores.find(text_of(c.program)); made != scores.end())
        best = std::max(best, made->second);
    }
    std::map<ticket, candidate_id> parents;
    run.for_each_event([&](const event& e) {
      if (const auto* asked = std::get_if<variation_asked>(&e.payload))
        parents[asked->job] = asked->selection.parents.front();
      const auto* told = std::get_if<variation_told>(&e.payload);
      if (told != nullptr && told->program)
        proposals.emplace(text_of(run.candidate(parents.at(told->job))->program), text_of(*told->program));
    });
  }
};

std::string lab_config(const shell::scratch& folder, const std::string& runs, const std::string& out) {
  const auto path = folder / "lab.yaml";
  shell::write_file(path, "lab: {name: again, seeds: 3, output: " + (folder / out).string() +
                              "}\n"
                              "problem: {type: recorded_run, runs: " +
                              runs +
                              "}\n"
                              "budget: {unit: evaluations, at: [10, 5000]}\n"
                              "defaults:\n"
                              "  archive: {type: top_k, k: 50}\n"
                              "  vary: {portfolio: {type: uniform}, operators: [{type: recorded_proposal}]}\n"
                              "policies:\n"
                              "  - {name: greedy, select: {type: greedy}}\n"
                              "  - {name: power_law, select: {type: power_law}}\n"
                              "compare: [{against: greedy}]\n");
  return path.string();
}

error refused(const std::string& config) {
  try {
    load_lab(config);
  } catch (const error& wrong) {
    return wrong;
  }
  FAIL("the config was accepted");
  throw std::logic_error("unreachable");
}

std::vector<std::vector<std::string>> rows_in(const std::string& csv) {
  std::vector<std::vector<std::string>> rows;
  std::istringstream lines(csv);
  for (std::string line; std::getline(lines, line);) {
    rows.emplace_back();
    std::istringstream fields(line);
    for (std::string field; std::getline(fields, field, ',');) rows.back().push_back(field);
  }
  return rows;
}

struct proposed_programs {
  std::set<std::string> all;
  std::size_t proposals = 0;
  std::size_t duplicates = 0;
  void consume(const event& e) {
    const auto* told = std::get_if<variation_told>(&e.payload);
    if (told == nullptr || !told->program) return;
    ++proposals;
    duplicates += told->duplicate ? 1U : 0U;
  }
};

}  // namespace

TEST_CASE("a search on a recorded run finds what the run proposed at the same parents, each program once") {
  const shell::scratch folder;
  make_run(folder / "run");
  const told_run told(folder / "run");
  const lab_plan plan = load_lab(lab_config(folder, "[run]", "out"));
  REQUIRE(plan.policies.size() == 2);
  for (const lab_policy& policy : plan.policies) {
    for (std::uint64_t seed = 1; seed <= 3; ++seed) {
      const lab_instance instance = plan.problem.instance(seed);
      CHECK(instance.optimum == doctest::Approx(told.best / told.scores.at("8000")));
      REQUIRE(instance.seeds.size() == 1);
      CHECK(instance.seeds.front() == toy::program_of(8000));
      search_parts parts = policy.parts;
      parts.task = std::make_shared<const task>();
      parts.store = memory_store();
      parts.stop = stop::evaluations{5000};
      search_settings settings = policy.search;
      settings.confirm.decides = false;
      settings.seed = seed;
      search engine(std::move(parts), settings);
      const auto seen = std::make_shared<proposed_programs>();
      engine.attach(any_sink(seen));
      engine.add_seed(instance.seeds.front(), 0);
      run_to_end(engine, instance.fitness, [] { return 0.0; });
      CHECK(engine.stopped() == "operators exhausted");
      CHECK(engine.population().size() > 20);
      CHECK(seen->proposals == engine.population().size() - 1);
      CHECK(seen->duplicates == 0);
      const auto text_of = [&](candidate_id id) {
        return std::string(engine.store().program_of(engine.graph().program_of(id))->text());
      };
      for (candidate_id id = 0; id < engine.population().size(); ++id) {
        const std::string text = text_of(id);
        REQUIRE(told.scores.contains(text));
        CHECK(engine.store().evaluation_of(id)->score == told.scores.at(text));
        CHECK(instance.true_value(toy::program_of(std::stoi(text))) ==
              doctest::Approx(told.scores.at(text) / told.scores.at("8000")));
        if (id > 0) CHECK(told.proposals.contains({text_of(engine.graph().parents(id).front()), text}));
      }
    }
  }
}

TEST_CASE("the laboratory gives the same cells for the same seeds, and keeps the value where a search ends") {
  const shell::scratch folder;
  make_run(folder / "run");
  const auto cells_of = [&](const std::string& out) {
    const lab_plan plan = load_lab(lab_config(folder, "[run]", out));
    const lab_outcome ended = run_lab(plan);
    CHECK(ended.finished == 6);
    for (const lab_row& row : ended.results.rows) {
      CHECK(row.mean.value >= 0);
      CHECK(row.mean.value <= 1 + 1e-12);
    }
    return shell::read_file(folder / (out + "/cells.csv"));
  };
  const std::string cells = cells_of("out");
  CHECK(cells_of("again") == cells);
  const auto rows = rows_in(cells);
  REQUIRE(rows.size() == 7);
  REQUIRE(rows[0][12] == "no_proposals");
  for (std::size_t i = 1; i < rows.size(); ++i) {
    CHECK(std::stod(rows[i][5]) < 5000);
    CHECK(std::stod(rows[i][4]) > 0);  // the share at a budget that the search did not reach
    CHECK(std::stod(rows[i][12]) > 0);
    CHECK(rows[i][13].find("operators exhausted") == 0);
    CHECK(std::stod(rows[i][7]) == doctest::Approx(0.01 * (std::stod(rows[i][5]) + std::stod(rows[i][8]))));
  }

  // The same run in another place is the same problem; a second run makes it another one.
  std::filesystem::copy(folder / "run", folder / "copy", std::filesystem::copy_options::recursive);
  make_run(folder / "second", 8100);
  const auto identity = [&](const std::string& runs) {
    return load_lab(lab_config(folder, runs, "out")).problem.identity;
  };
  CHECK(identity("[copy]") == identity("[run]"));
  CHECK(identity("[run, second]") != identity("[run]"));
}

TEST_CASE("published systems search recorded runs: all of their operators become recorded_proposal") {
  const shell::scratch folder;
  make_run(folder / "run");
  const std::string config = lab_config(folder, "[run]", "out");
  std::string text = shell::read_file(config);
  text.resize(text.find("policies:"));
  const std::vector<std::string> systems = {"polca",        "kernelevolve", "cuda_l1",
                                            "openevolve",   "shinkaevolve", "adaevolve",
                                            "kernel_smith", "avo",          "mtmc"};
  text += "policies:\n";
  for (const auto& system : systems)
    text += "  - {name: " + system + ", system: " KEVO_SOURCE_DIR "/configs/systems/" + system + ".yaml}\n";
  shell::write_file(config, text);
  const lab_plan plan = load_lab(config);
  const lab_outcome ended = run_lab(plan);
  CHECK(ended.finished == 3 * systems.size());
  for (const lab_row& row : ended.results.rows) {
    CAPTURE(row.policy);
    CHECK(row.mean.value > 0);
    CHECK(row.mean.value <= 1 + 1e-12);
  }
  for (const auto& policy : plan.policies) {
    REQUIRE(policy.parts.operators.size() == 1);
    CHECK(policy.parts.operators.front().name() == "recorded_proposal");
  }
}

TEST_CASE("several confirmations of a program count together") {
  const shell::scratch folder;
  make_run(folder / "run", 8000, "hill", wavering_hill{});
  const lab_instance instance = load_lab(lab_config(folder, "[run]", "out")).problem.instance(1);
  const journal run = journal::open_read_only((folder / "run").string());
  const auto confirmed = [&](candidate_id id) {
    std::vector<std::shared_ptr<const evaluation>> all;
    for (const recorded_evaluation& e : run.evaluations(id)) {
      if (e.wanted == evaluation_stage::confirmed) all.push_back(e.result);
    }
    return all;
  };
  std::size_t several = 0;
  for (const recorded_candidate& c : run.candidates()) {
    const auto all = confirmed(c.id);
    if (all.empty()) continue;
    several += all.size() > 1 ? 1U : 0U;
    const double speedup = pooled(all, static_cast<int>(all.size())).speedup;
    const auto source = run.source(c.program);
    CHECK(instance.fitness.evaluate({.program = source, .wanted = evaluation_stage::confirmed}).speedup ==
          doctest::Approx(speedup));
    const auto of_seed = confirmed(0);
    REQUIRE(!of_seed.empty());
    CHECK(instance.true_value(*source) ==
          doctest::Approx(speedup / pooled(of_seed, static_cast<int>(of_seed.size())).speedup));
  }
  CHECK(several > 0);
}

TEST_CASE("runs that cannot be searched are refused with the place in the config and the next step") {
  const shell::scratch folder;
  make_run(folder / "run");
  make_run(folder / "other", 8000, "another hill");
  make_run(folder / "broken", -100'000);
  make_run(folder / "top", 10'000);
  make_run(folder / "repaired", -100);
  const auto check = [&](const std::string& runs, const std::string& says) {
    const error wrong = refused(lab_config(folder, runs, "out"));
    CAPTURE(std::string(wrong.what()));
    CHECK(wrong.code() == error_code::input);
    CHECK(wrong.place().file == (folder / "lab.yaml").string());
    CHECK(wrong.place().line == 2);
    CHECK(wrong.place().key == "problem.runs");
    CHECK(wrong.message().find(says) != std::string::npos);
    CHECK(!wrong.hint().empty());
  };
  check("[gone]", "there is no run in '" + (folder / "gone").string() + "'");
  check("[]", "at least one run");
  check("[run, other]", "different tasks");
  check("[broken]", "no candidate of the run '" + (folder / "broken").string() + "' is valid");
  check("[top]", "no recorded program is better than the seed");
  check("[repaired]", "the seed is not valid");
}
