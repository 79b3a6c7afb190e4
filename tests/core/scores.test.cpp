// links: core
// Scores are any finite number: every part of a search works on scores of both signs as it does on positive
// ones.
#include <cmath>
#include <functional>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/archive/grid.hpp>
#include <kevo/archive/top_k.hpp>
#include <kevo/detail/ranking.hpp>
#include <kevo/run_to_end.hpp>
#include <kevo/score.hpp>
#include <kevo/search.hpp>
#include <kevo/select/adaptive_intensity.hpp>
#include <kevo/select/bucket_softmax.hpp>
#include <kevo/select/curiosity.hpp>
#include <kevo/select/fitness_proportional.hpp>
#include <kevo/select/greedy.hpp>
#include <kevo/select/island_mix.hpp>
#include <kevo/select/lineage.hpp>
#include <kevo/select/power_law.hpp>
#include <kevo/select/priority_queue.hpp>
#include <kevo/select/tournament.hpp>
#include <kevo/select/uct.hpp>
#include <kevo/select/uniform.hpp>
#include <kevo/select/weighted.hpp>
#include <kevo/stop/stall.hpp>
#include <kevo/stop/target_score.hpp>
#include <kevo/vary/ucb1.hpp>

#include "tests/support/toy_search.hpp"

using namespace kevo;

namespace {

/// The least that a fitness function can say: outcome and score. The top, `summit`, is at 10000.
struct minimal {
  double summit = 0;
  evaluation evaluate(const evaluation_request& request) {
    const int x = toy::number_in(*request.program);
    evaluation e;
    e.outcome = x < 0 ? outcome::incorrect : outcome::valid;
    e.score = x < 0 ? 0 : summit - std::abs(10000 - x) / 100.0;
    return e;
  }
};

void play(search& engine, any_fitness fitness) {
  double now = 0;
  run_to_end(engine, fitness, [&now] { return now += 0.001; });
}

}  // namespace

TEST_CASE("a fitness function that gives outcome and score gets a champion") {
  search engine(toy::parts({.evaluations = 60}, {}), {.seed = 3});
  engine.add_seed(toy::program_of(500), 0);
  play(engine, minimal{.summit = 100});
  REQUIRE(engine.best().id != no_candidate);
  CHECK(engine.best().score > 5);
  CHECK(engine.best().speedup == 0);  // a score is a score
  CHECK(engine.snapshot(engine.best().id).evaluation->stage == evaluation_stage::confirmed);
  // The same where no fitness function is between the search and whoever drives it.
  search driven(toy::parts({.evaluations = 60}, {}), {.seed = 3});
  driven.add_seed(toy::program_of(500), 0);
  job next = driven.ask({}, 0);
  const auto& seed = std::get<evaluation_job>(next);
  driven.tell(seed.id, minimal{.summit = 100}.evaluate(seed.request), 0);
  next = driven.ask({}, 0);
  REQUIRE(std::holds_alternative<evaluation_job>(next));
  CHECK(std::get<evaluation_job>(next).request.wanted == evaluation_stage::confirmed);
  // What is not valid has no stage that it did not come to.
  const any_fitness fitness = minimal{};
  const auto failed = std::make_shared<const program>(toy::program_of(-1));
  CHECK(fitness.evaluate({.program = failed}).stage == evaluation_stage::none);
}

TEST_CASE("a seed that scores 0 is a seed, and the search climbs through scores below 0") {
  for (const int seed : {10000, 9000, 500}) {
    CAPTURE(seed);
    search engine(toy::parts({.evaluations = 200}, {}), {.seed = 3});
    engine.add_seed(toy::program_of(seed), 0);
    play(engine, minimal{.summit = 0});
    CHECK(engine.stopped() == "200 evaluations");
    REQUIRE(engine.best().id != no_candidate);
    CHECK(engine.best().score <= 0);
    CHECK(engine.best().score > (seed == 500 ? -60 : -3));
    CHECK(engine.population().ranked() == engine.spent().valid);
    CHECK(engine.archive().size() == engine.spent().valid);
  }
}

TEST_CASE("a score that is no finite number is kept nowhere and crowns nobody") {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  for (const double wrong : {infinity, -infinity, std::numeric_limits<double>::quiet_NaN()}) {
    search engine(toy::parts({.evaluations = 30}, {}), {.seed = 1});
    engine.add_seed(toy::program_of(9000), 0);
    struct broken {
      double wrong;
      evaluation evaluate(const evaluation_request& request) {
        evaluation e = minimal{.summit = 100}.evaluate(request);
        if (toy::number_in(*request.program) % 2 != 0) e.score = wrong;
        return e;
      }
    };
    play(engine, broken{wrong});
    CHECK(engine.stopped() == "30 evaluations");
    CHECK(std::isfinite(engine.best().score));
    CHECK(toy::number_in(*engine.snapshot(engine.best().id).program) % 2 == 0);
    for (std::size_t i = 0; i < engine.archive().size(); ++i)
      CHECK(std::isfinite(engine.archive().at(i).score));
  }
}

TEST_CASE("every selector climbs as well when all scores are shifted below 0") {
  const std::vector<std::pair<std::string, std::function<any_selector()>>> selectors = {
      {"adaptive_intensity", [] { return adaptive_intensity{}; }},
      {"bucket_softmax", [] { return bucket_softmax{}; }},
      {"curiosity", [] { return curiosity{}; }},
      {"fitness_proportional", [] { return fitness_proportional{}; }},
      {"greedy", [] { return greedy{}; }},
      {"island_mix", [] { return island_mix{}; }},
      {"lineage", [] { return lineage{}; }},
      {"power_law", [] { return power_law{}; }},
      {"priority_queue",
       [] {
         priority_queue policy;
         policy.measurements = 0;
         return policy;
       }},
      {"tournament", [] { return tournament{}; }},
      {"uct", [] { return uct{}; }},
      {"uniform", [] { return uniform{}; }},
      {"weighted", [] { return weighted{}; }},
  };
  for (const auto& entry : selectors) {
    CAPTURE(entry.first);
    const auto reached = [&](double summit) {
      auto made = toy::parts({.evaluations = 300}, {});
      made.select = entry.second();
      made.archive = top_k(20);
      made.portfolio = ucb1{};
      made.operators = {toy::step{.reach = 300}, toy::step{.reach = 30}};
      search engine(std::move(made), {.seed = 5});
      engine.add_seed(toy::program_of(8000), 0);
      play(engine, minimal{.summit = summit});
      return engine.best().id == no_candidate ? -INFINITY : engine.best().score - summit;
    };
    const double above = reached(1000), below = reached(-1000), across = reached(10);
    CHECK(above > -17);  // the seed is at -20
    CHECK(below > -17);
    CHECK(across > -17);
  }
}

TEST_CASE("weights follow the scores while these are positive, and stay positive when they are not") {
  detail::ranking r;
  r.insert(0, 3);
  r.insert(1, 1);
  CHECK(r.total() == 4);
  CHECK(r.at_mass(2.9) == 0);
  CHECK(r.at_mass(3.1) == 1);
  r.insert(2, -1);  // the range is 4: weights 4 + 4/3, 2 + 4/3, 4/3
  CHECK(r.total() == doctest::Approx(10));
  CHECK(r.at_mass(5.3) == 0);
  CHECK(r.at_mass(5.4) == 1);
  CHECK(r.at_mass(8.6) == 1);
  CHECK(r.at_mass(8.7) == 2);
  detail::ranking equal;
  for (std::uint32_t id = 0; id < 1000; ++id) equal.insert(id, 0);
  CHECK(equal.total() == doctest::Approx(1000));
  for (const std::uint32_t id : {0U, 1U, 500U, 999U}) CHECK(equal.at_mass(id + 0.5) == id);
}

TEST_CASE("gains are relative to the magnitude of a score") {
  CHECK(relative_gain(3, 2) == doctest::Approx(0.5));
  CHECK(relative_gain(-1, -2) == doctest::Approx(0.5));
  CHECK(relative_gain(-3, -2) == doctest::Approx(-0.5));
  CHECK(relative_gain(1e-9, 0) == 1);
  CHECK(relative_gain(0, 0) == 0);
  CHECK(improves(-99.8, -100, 0.001));
  CHECK_FALSE(improves(-99.95, -100, 0.001));
  CHECK(improves(-5, std::nullopt, 0.001));
  CHECK_FALSE(improves(100.05, 100, 0.001));
  observation child{.outcome = outcome::valid, .score = -1, .parent_score = -2};
  CHECK(child.gain() == doctest::Approx(0.5));
  child.outcome = outcome::crashed;
  child.score = 0;
  CHECK(child.gain() == 0);  // a failure does not gain on a parent below 0
  child = {.outcome = outcome::valid, .score = -7};
  CHECK(child.gain() == 1);  // a repair
}

TEST_CASE("operators are paid for gains among scores below 0, and a search that stalls there stops") {
  struct memory {
    std::vector<double>* rewards;
    std::size_t pick(std::span<const bool>, rng&) { return 0; }
    void observe(const operator_turn& turn) { rewards->push_back(turn.reward); }
    std::vector<operator_credit> credits() const { return {}; }
  };
  struct upwards {
    std::string name() const { return "upwards"; }
    variation_result vary(const variation_request& request, rng& random) {
      const int x = toy::number_in(*request.parents.front()->program);
      return proposal{toy::program_of(x < 9900 ? x + 100 : static_cast<int>(random.below(9000))), "step"};
    }
  };
  std::vector<double> rewards;
  auto made = toy::parts({}, {});
  made.select = greedy{};
  made.operators = {upwards{}};
  made.portfolio = memory{&rewards};
  made.archive = top_k(1);
  made.stop = stop::stall{20};
  search engine(std::move(made), {});
  engine.add_seed(toy::program_of(9000), 0);
  play(engine, minimal{.summit = -5});
  CHECK(engine.stopped() == "20 evaluations without improvement");
  REQUIRE(rewards.size() > 12);
  for (std::size_t i = 0; i < 9; ++i) CHECK(rewards[i] > 0.05);
  CHECK(rewards.back() == 0);

  progress now;
  CHECK_FALSE(stop::target_score{-3}.stop(now));  // no champion
  now.champion_score = -4;
  CHECK_FALSE(stop::target_score{-3}.stop(now));
  now.champion_score = -2;
  CHECK(stop::target_score{-3}.stop(now) == std::string("score -2 of -3"));
  CHECK(stop::target_score{0}.parts(now).empty());
}

TEST_CASE("a valid child of an archive that is not full earns its gain over the parent") {
  struct memory {
    std::vector<double>* rewards;
    std::size_t pick(std::span<const bool>, rng&) { return 0; }
    void observe(const operator_turn& turn) { rewards->push_back(turn.reward); }
    std::vector<operator_credit> credits() const { return {}; }
  };
  struct up_then_down {
    std::string name() const { return "up_then_down"; }
    variation_result vary(const variation_request& request, rng&) {
      const int x = toy::number_in(*request.parents.front()->program);
      const program up = toy::program_of(x + 1000);
      return proposal{request.seen(id_of(up)) ? toy::program_of(x - 1000) : up, "step"};
    }
  };
  struct first_seed {
    selection select(const population_view&, rng&) { return {.parents = {0}}; }
  };
  std::vector<double> rewards;
  auto made = toy::parts({.evaluations = 3}, {});
  made.select = first_seed{};
  made.operators = {up_then_down{}};
  made.portfolio = memory{&rewards};
  made.archive = top_k(100);
  search engine(std::move(made), {});
  engine.add_seed(toy::program_of(5000), 0);  // a score of 50; the children have 60 and 40
  run_to_end(engine, any_fitness(toy::hill{}), [] { return 0.0; });
  REQUIRE(rewards.size() >= 2);
  CHECK(rewards[0] == doctest::Approx(10.0 / 50));
  CHECK(rewards[1] == 0);  // kept, because there is room, but worse than its parent
}

TEST_CASE("the best score of a run is one that stands: it falls with the candidate that had it") {
  struct next_number {
    std::string name() const { return "next_number"; }
    variation_result vary(const variation_request& request, rng&) {
      return proposal{toy::program_of(static_cast<int>(request.job) + 1), "next"};
    }
  };
  auto made = toy::parts({.evaluations = 100}, {});
  made.operators = {next_number{}};
  search engine(std::move(made), {.confirm = {.decides = false}});
  engine.add_seed(toy::program_of(1), 0);
  const auto tell_next = [&](std::optional<evaluation_stage> only, double score) {
    for (int i = 0; i < 10; ++i) {
      job next = engine.ask({.vary = !only, .evaluate = true}, 0);
      if (auto* vary = std::get_if<variation_job>(&next)) {
        rng random = vary->random;
        engine.tell(vary->id, engine.operators()[0].vary(vary->request, random), {}, {}, 0);
      } else {
        const auto& work = std::get<evaluation_job>(next);
        const bool confirms = work.request.wanted == evaluation_stage::confirmed;
        if (confirms && !only) {  // what is confirmed meanwhile stays what it is
          engine.tell(work.id,
                      toy::valued(engine.population().row(work.candidate).score, work.request.wanted), 0);
          continue;
        }
        engine.tell(work.id, toy::valued(score, work.request.wanted), 0);
        return work.candidate;
      }
    }
    return no_candidate;
  };
  tell_next({}, 10);
  tell_next({}, 12);
  const candidate_id lucky = tell_next({}, 50);
  CHECK(engine.progress(0).best_score == 50);
  CHECK(engine.progress(0).since_improvement == 0);
  CHECK(tell_next(evaluation_stage::confirmed, 0) == lucky);  // its confirmation disqualifies it
  CHECK(engine.progress(0).best_score == 12);
  tell_next({}, 13);  // an improvement on what stands
  CHECK(engine.progress(0).best_score == 13);
  CHECK(engine.progress(0).since_improvement == 0);
}

TEST_CASE("a broken parent goes to operators that repair, and to no other") {
  struct seed_then_broken {  // asks for candidate 1, which is not valid, whenever there is one
    selection select(const population_view& view, rng&) {
      return {.parents = {view.size() > 1 && view.row(1).evaluated ? 1U : 0U}};
    }
  };
  struct breaker : toy::step {
    std::string name() const { return "breaker"; }
    bool repairs() const { return false; }
    variation_result vary(const variation_request& request, rng&) {
      CHECK(request.parents.front()->evaluation->valid());
      return proposal{toy::program_of(-static_cast<int>(request.job)), "broken"};
    }
  };
  struct mender : toy::step {
    std::string name() const { return "mender"; }
    variation_result vary(const variation_request& request, rng&) {
      return proposal{toy::program_of(static_cast<int>(request.job)), "mended"};
    }
  };
  const auto operators_asked = [](std::vector<any_variation> operators) {
    std::vector<event> events;
    auto made = toy::parts({.evaluations = 6}, toy::recorder{&events});
    made.select = seed_then_broken{};
    made.operators = std::move(operators);
    search engine(std::move(made), {});
    engine.add_seed(toy::program_of(5000), 0);
    run_to_end(engine, any_fitness(toy::hill{}), [] { return 0.0; });
    std::vector<std::pair<operator_index, candidate_id>> asked;
    for (const event& e : events) {
      if (const auto* turn = std::get_if<variation_asked>(&e.payload))
        asked.emplace_back(turn->op, turn->selection.parents.front());
    }
    return asked;
  };
  const auto both = operators_asked({breaker{}, mender{}});
  REQUIRE(both.size() >= 4);
  CHECK(both.front() == std::pair<operator_index, candidate_id>(0, 0));
  for (std::size_t i = 1; i < both.size(); ++i) {
    if (both[i].second == 1) CHECK(both[i].first == 1);
  }
  CHECK(both.back().second == 1);
  // Without such an operator a valid candidate is varied instead.
  for (const auto& turn : operators_asked({breaker{}})) CHECK(turn.second != 1);
}

TEST_CASE("without a valid seed operators that repair get turns, and only they") {
  struct rescue {
    std::string name() const { return "rescue"; }
    variation_result vary(const variation_request& request, rng&) {
      const int x = toy::number_in(*request.parents.front()->program);
      if (request.parents.front()->evaluation->valid()) return no_proposal{"nothing to repair"};
      return proposal{toy::program_of(x + 2), "nearer to 0"};
    }
  };
  struct tuner : toy::step {
    std::string name() const { return "tuner"; }
    bool repairs() const { return false; }
  };
  std::vector<event> events;
  auto made = toy::parts({.evaluations = 100}, toy::recorder{&events});
  made.operators = {tuner{}, rescue{}};
  search engine(std::move(made), {.seed = 2});
  engine.add_seed(toy::program_of(-9), 0);
  engine.add_seed(toy::program_of(-8), 0);
  play(engine, minimal{.summit = 100});
  CHECK(engine.stopped() == "100 evaluations");
  CHECK(engine.population().ranked() > 10);
  CHECK(engine.best().id != no_candidate);
  bool valid = false;
  for (const event& e : events) {
    if (const auto* told = std::get_if<evaluation_told>(&e.payload)) valid = valid || told->result->valid();
    if (const auto* asked = std::get_if<variation_asked>(&e.payload); asked != nullptr && !valid)
      CHECK(asked->op == 1);
  }
  CHECK(valid);
}

TEST_CASE(
    "values for models keep the order of scores of any sign, and are logarithms of speedups and of costs") {
  const auto values = [](std::vector<double> scores) {
    kevo::to_model_values(scores);
    return scores;
  };
  CHECK(values({}).empty());
  CHECK(values({1, 2, 0.5}) == std::vector<double>{0, std::log(2), std::log(0.5)});
  CHECK(values({-1, -2, -0.5}) == std::vector<double>{0, -std::log(2), -std::log(0.5)});
  CHECK(values({0, 0}) == std::vector<double>{0, 0});
  kevo::rng random(7);
  for (int round = 0; round < 200; ++round) {
    std::vector<double> scores(1 + random.below(20));
    for (double& score : scores) score = random.chance(0.1) ? 0 : random.uniform(-40, 60);
    const auto found = values(scores);
    for (std::size_t i = 0; i < scores.size(); ++i) {
      CHECK(std::isfinite(found[i]));
      for (std::size_t k = 0; k < scores.size(); ++k) CHECK((scores[i] < scores[k]) == (found[i] < found[k]));
    }
  }
}
