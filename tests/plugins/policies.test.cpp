// Every selector and portfolio that a config can name is made with its published defaults, takes the
// parameters that it is given, and works.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/registry.hpp>

#include "src/plugins/builtin.hpp"
#include "tests/select/world.hpp"

namespace {

using kevo::settings;
using kevo::settings_node;

kevo::registry policies() {
  kevo::registry all;
  kevo::register_selectors(all);
  kevo::register_portfolios(all);
  return all;
}

settings given(std::vector<std::pair<std::string, settings_node>> values) {
  settings_node map = settings_node::empty_map();
  for (auto& [key, value] : values) map.set(key, std::move(value));
  return settings(std::move(map));
}

}  // namespace

TEST_CASE("every selector that a config can name picks valid parents") {
  const auto all = policies();
  CHECK(all.selectors.names().size() == 13);
  for (const auto& name : all.selectors.names()) {
    CAPTURE(name);
    settings from = given({});
    kevo::any_selector policy = all.selectors.make_named(name, from, {});
    CHECK_NOTHROW(from.finish());
    CHECK_FALSE(from.descriptions().empty());
    CHECK_FALSE(all.selectors.doc(name).empty());
    kevo::test::world w;
    w.add(1);
    kevo::observation seen;
    seen.candidate = 0;
    seen.outcome = kevo::outcome::valid;
    seen.score = 1;
    policy.observe(seen);
    kevo::rng random(3);
    for (int i = 0; i < 300; ++i) {
      const auto chosen = policy.select(w.view(), random);
      REQUIRE_FALSE(chosen.parents.empty());
      REQUIRE(chosen.parents.front() < w.all.size());
      for (const auto id : chosen.inspirations) REQUIRE(id < w.all.size());
      seen.candidate = chosen.reevaluate
                           ? chosen.parents.front()
                           : w.add(random.chance(0.8) ? random.uniform(1, 3) : 0, chosen.parents);
      seen.parents = w.parents_of[seen.candidate];
      seen.outcome = w.all.row(seen.candidate).outcome;
      seen.score = w.all.row(seen.candidate).score;
      policy.observe(seen);
    }
  }
}

TEST_CASE("every portfolio that a config can name picks what is available") {
  const auto all = policies();
  CHECK(all.portfolios.names().size() == 5);
  for (const auto& name : all.portfolios.names()) {
    CAPTURE(name);
    settings from = given({});
    kevo::any_portfolio policy = all.portfolios.make_named(name, from, {});
    CHECK_NOTHROW(from.finish());
    kevo::rng random(4);
    const std::array<bool, 3> available = {true, false, true};
    for (int i = 0; i < 300; ++i) {
      const auto chosen = policy.pick(available, random);
      REQUIRE((chosen == 0 || chosen == 2));
      policy.observe({chosen, chosen == 0 ? 0.1 : 0.0, 1});
    }
    CHECK(policy.credits().size() == 3);
  }
}

TEST_CASE("archives of distances and fronts read their measures, and complain by name") {
  kevo::registry all;
  kevo::register_archives(all);
  const auto make = [&all](const char* name, std::vector<std::pair<std::string, settings_node>> values) {
    settings from = given(std::move(values));
    auto kept = all.archives.make_named(name, from, {});
    from.finish();
    return kept;
  };
  const auto one = [](std::vector<double> range, const char* scale) {
    settings_node axis = settings_node::empty_map(), measures = settings_node::empty_map();
    axis.set("range", settings_node::of(range));
    axis.set("scale", settings_node::of(scale));
    measures.set("code_bytes", std::move(axis));
    return measures;
  };
  auto cells =
      make("cvt", {{"measures", one({64, 65536}, "log")}, {"cells", settings_node::of(std::int64_t{20})}});
  CHECK(cells.cells() == 20);
  CHECK(cells.measures() == std::vector<std::string>{"code_bytes"});
  auto apart =
      make("epsilon_net", {{"measures", one({0, 100}, "linear")}, {"epsilon", settings_node::of(0.1)}});
  apart.add({1, 2, std::vector<double>{50}});
  CHECK(apart.add({2, 1, std::vector<double>{59}}).status == kevo::archive_status::rejected);
  CHECK(apart.add({2, 1, std::vector<double>{61}}).status == kevo::archive_status::new_cell);
  auto front = make("pareto", {{"minimize", settings_node::of(std::vector<std::string>{"code_bytes"})}});
  front.add({1, 2, std::vector<double>{50}});
  CHECK(front.add({2, 1, std::vector<double>{60}}).status == kevo::archive_status::rejected);
  CHECK(front.add({2, 1, std::vector<double>{40}}).status == kevo::archive_status::new_cell);
  CHECK_THROWS_AS(make("cvt", {{"measures", one({0, 65536}, "log")}}), kevo::error);
  CHECK_THROWS_AS(make("cvt", {{"measures", settings_node::empty_map()}}), kevo::error);
  CHECK_THROWS_AS(make("epsilon_net", {{"measures", one({1, 1}, "linear")}}), kevo::error);
  CHECK_THROWS_AS(make("pareto", {}), kevo::error);
  for (const auto& name : all.archives.names()) {  // described without a config
    settings probe = settings::probe();
    CHECK(static_cast<bool>(all.archives.make_named(name, probe, {})));
    CHECK_FALSE(probe.descriptions().empty());
  }
}

TEST_CASE("parameters of a config reach the policy") {
  const auto all = policies();
  kevo::test::world w;
  for (const double score : {1.0, 2.0, 3.0, 4.0}) w.add(score);
  kevo::rng random(5);
  const auto make = [&](const char* name, std::vector<std::pair<std::string, settings_node>> values) {
    settings from = given(std::move(values));
    auto policy = all.selectors.make_named(name, from, {});
    from.finish();
    return policy;
  };
  auto steep =
      make("weighted", {{"lambda", settings_node::of(1e6)}, {"from", settings_node::of("population")}});
  for (int i = 0; i < 50; ++i) CHECK(steep.select(w.view(), random).parents.front() >= 1);  // the worst never
  auto clean = make("uniform", {{"scope", settings_node::of("clean_slate")}});
  CHECK(clean.select(w.view(), random).scope == kevo::memory_scope::clean_slate);
  CHECK_THROWS_AS(make("island_mix", {{"exploration", settings_node::of(0.9)}}), kevo::error);
  CHECK_THROWS_AS(make("uct", {{"width", settings_node::of(std::int64_t{0})}}), kevo::error);
  CHECK_THROWS_AS(make("lineage", {{"inspirations", settings_node::empty_map()}}), kevo::error);
}
