// Published strategies of tuners on a made-up space: they ask for different settings, end, and learn.
#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/lab/strategies/recorded_strategy.hpp"

using namespace kevo;

namespace {

/// A bowl over 8^4 settings, whose corners are not in the space and in which every ninth setting fails;
/// `layout` has values that are no numbers.
std::shared_ptr<const recorded_space> bowl() {
  std::vector<recorded_parameter> parameters;
  for (const char* name : {"x", "y", "z"}) {
    recorded_parameter one{name, {}, {}};
    for (int v = 0; v < 8; ++v) {
      one.values.push_back(std::to_string(1 << v));
      one.numbers.push_back(1 << v);
    }
    parameters.push_back(one);
  }
  parameters.push_back({"layout", {"a", "b", "c", "d"}, std::vector<double>(4, std::nan(""))});
  std::vector<recorded_result> results;
  for (std::uint32_t i = 0; i < 8 * 8 * 8 * 4; ++i) {
    const recorded_setting s = {i % 8, i / 8 % 8, i / 64 % 8, i / 512};
    if (s[0] + s[1] + s[2] > 18) continue;
    recorded_result r;
    r.setting = s;
    const auto square = [](double a) { return a * a; };
    r.objective = 1 + square(s[0] - 5.0) + square(s[1] - 2.0) + square(s[2] - 3.0) + 3 * std::abs(s[3] - 2.0);
    if (i % 9 == 4) {
      r.outcome = outcome::build_failed;
      r.objective = 0;
    }
    results.push_back(r);
  }
  return std::make_shared<const recorded_space>(std::move(parameters), std::move(results));
}

double best_of(const recorded_space& space, const std::vector<std::size_t>& asked) {
  double best = 0;
  for (const std::size_t place : asked) best = std::max(best, space.speed(place));
  return best;
}

}  // namespace

TEST_CASE("strategies ask for different settings, the same ones again from the same seed, and end") {
  const auto space = bowl();
  for (const auto& strategy : published_strategies()) {
    CAPTURE(std::string(strategy.name));
    std::vector<std::vector<std::size_t>> searches;
    for (const std::uint64_t seed : {1U, 1U, 2U}) {
      strategies::trial on(*space, 90);
      rng random(seed);
      strategy.search(on, random);
      CHECK(on.asked().size() == 90);
      CHECK(std::set<std::size_t>(on.asked().begin(), on.asked().end()).size() == 90);
      searches.push_back(on.asked());
    }
    CHECK(searches[0] == searches[1]);
    CHECK(searches[0] != searches[2]);
  }
}

TEST_CASE("strategies find better settings than random drawing does") {
  const auto space = bowl();
  constexpr int seeds = 20;
  const auto ratio = [&](auto&& search) {
    double sum = 0;
    for (int seed = 1; seed <= seeds; ++seed) {
      strategies::trial on(*space, 150);
      rng random(static_cast<std::uint64_t>(seed));
      search(on, random);
      sum += std::log(space->speed(space->ranked().front()) / best_of(*space, on.asked()));
    }
    return sum / seeds;
  };
  const double drawn = ratio([](strategies::trial& on, rng& random) {
    while (!on.done()) (void)on.cost(on.any(random));
  });
  for (const auto& strategy : published_strategies()) {
    CAPTURE(std::string(strategy.name));
    CHECK(ratio(strategy.search) < 0.75 * drawn);
  }
}

TEST_CASE("each copy of the operator makes a search of its own, and proposes what it asked for") {
  const auto space = bowl();
  for (const auto& strategy : published_strategies()) {
    recorded_strategy op;
    op.space = space;
    op.strategy = &strategy;
    op.evaluations = 30;
    any_variation first(op);
    any_variation second(first);
    for (any_variation* one : {&first, &second}) {
      std::set<std::string> proposed;
      variation_request request;
      rng random(4);
      for (int i = 0; i < 30; ++i) {
        const auto made = one->vary(request, random);
        REQUIRE(std::holds_alternative<proposal>(made));
        proposed.insert(std::string(std::get<proposal>(made).program.text()));
      }
      CHECK(proposed.size() == 30);
      CHECK(std::holds_alternative<no_proposal>(one->vary(request, random)));
    }
  }
}
