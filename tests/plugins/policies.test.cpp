// Every selector and portfolio that a config can name is made with its published defaults, takes the
// parameters that it is given, and works.
#include <array>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/archive/top_k.hpp>
#include <kevo/registry.hpp>

#include "src/base/settings/yaml.hpp"
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
  CHECK(all.selectors.names().size() == 15);
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
    policy.observe(seen, w.view());
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
      policy.observe(seen, w.view());
    }
  }
}

TEST_CASE("every portfolio that a config can name picks what is available") {
  const auto all = policies();
  CHECK(all.portfolios.names().size() == 6);
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

namespace {

/// A selector and its world, driven by results that depend on nothing but the step.
struct session {
  kevo::test::world w;
  kevo::any_selector policy;
  kevo::rng random{6};
  int steps = 0;

  session(kevo::any_archive kept, kevo::any_selector selector)
      : w(std::move(kept)), policy(std::move(selector)) {
    take_in(w.add(1, {}, {0.5, 0.5}), 1);
  }
  void take_in(kevo::candidate_id id, double score) {
    kevo::observation seen;
    seen.candidate = id;
    seen.parents = w.parents_of[id];
    seen.outcome = w.all.row(id).outcome;
    seen.score = score;
    if (w.kept.contains(id)) seen.archived = {kevo::archive_status::new_cell, score};
    policy.observe(seen, w.view());
    seen_last = seen;
  }
  kevo::selection step() {
    const kevo::selection chosen = policy.select(w.view(), random);
    kevo::rng result = kevo::rng(7).split(static_cast<std::uint64_t>(steps++));
    const double score = result.chance(0.8) ? result.uniform(1, 3) : 0;
    const std::vector<double> measures = {result.uniform(), result.uniform()};
    if (chosen.reevaluate) {
      take_in(chosen.parents.front(), w.all.row(chosen.parents.front()).score);
    } else {
      take_in(w.add(score, chosen.parents, measures), score);
    }
    return chosen;
  }
  kevo::observation seen_last;
};

/// Policies are values: a copy is a saved state. And they are functions of what they are told: so is the
/// record of a run, from which `kevo resume` builds them again (docs/decisions/0002).
template <class MakeArchive, class MakeSelector>
void check_saved(MakeArchive archive, MakeSelector selector) {
  session live(archive(), selector());
  for (int i = 0; i < 300; ++i) live.step();
  kevo::any_selector copy = live.policy;
  kevo::rng copied_random = live.random;
  session rebuilt(archive(), selector());
  for (int i = 0; i < 300; ++i) rebuilt.step();
  bool same = true;
  for (int i = 0; i < 1000 && same; ++i) {
    const auto again = copy.select(live.w.view(), copied_random);
    const auto chosen = live.step();
    same = again == chosen && rebuilt.step() == chosen && live.w.kept.size() == rebuilt.w.kept.size();
    copy.observe(live.seen_last, live.w.view());
  }
  CHECK(same);
}

}  // namespace

TEST_CASE("a policy that is copied, or built again from its record, makes the same next thousand picks") {
  kevo::registry all;
  kevo::register_selectors(all);
  kevo::register_archives(all);
  kevo::register_portfolios(all);
  const kevo::build_context context{.plugins = &all};
  const auto top = [] { return kevo::any_archive(kevo::top_k(50)); };
  for (const auto& name : all.selectors.names()) {
    CAPTURE(name);
    check_saved(top, [&] {
      settings from = given({});
      return all.selectors.make_named(name, from, context);
    });
  }
  const std::string plane = "measures: {a: {range: [0, 1]}, b: {range: [0, 1]}}";
  const std::vector<std::string> archives = {
      "type: top_k",
      "type: grid, " + plane,
      "type: grid, soft: {rate: 0.1}, " + plane,
      "type: cvt, cells: 50, " + plane,
      "type: epsilon_net, " + plane,
      "type: novelty, " + plane,
      "type: sliding, measures: {a: {bins: 5}, b: {bins: 6}}",
      "type: pareto, minimize: [a]",
      "type: feature_map, bins: 6, features: [complexity, a, score]",
      "type: islands, count: 3, interval: 20, cull_interval: 100, of: {type: grid, " + plane + "}",
      "type: islands, count: 4, topology: free, ways: [0, 1, 1, 2, 2, 3], of: {type: top_k, k: 5}"};
  CHECK(all.archives.names().size() == 9);
  for (const auto& text : archives) {
    CAPTURE(text);
    for (const char* select : {"type: islands, of: {type: uniform}",
                               "type: curiosity, inspirations: {neighbours: 2, contrastive: 1}"}) {
      if (select[6] == 'c' && text.find("grid") == std::string::npos) continue;  // a few are enough
      const auto make = [&](const auto& table, const std::string& config) {
        settings from(kevo::parse_yaml("{" + config + "}", "test"));
        auto made = table.make(from, context);
        from.finish();
        return made;
      };
      check_saved([&] { return make(all.archives, text); }, [&] { return make(all.selectors, select); });
    }
  }
  for (const auto& name : all.portfolios.names()) {
    CAPTURE(name);
    settings one = given({}), two = given({});
    kevo::any_portfolio live = all.portfolios.make_named(name, one, context);
    kevo::any_portfolio rebuilt = all.portfolios.make_named(name, two, context), copy;
    kevo::rng random(8), other(8), third(8);
    const std::array<bool, 3> available = {true, true, true};
    bool same = true;
    for (int i = 0; i < 1300; ++i) {
      if (i == 300) copy = live, third = random;
      const auto chosen = live.pick(available, random);
      same = same && rebuilt.pick(available, other) == chosen;
      if (copy) same = same && copy.pick(available, third) == chosen;
      const kevo::operator_turn turn{chosen, chosen == 1 ? 0.2 : 0.0, 1.0 + static_cast<double>(chosen)};
      live.observe(turn), rebuilt.observe(turn);
      if (copy) copy.observe(turn);
    }
    CHECK(same);
  }
}

TEST_CASE("archives of sources, islands and stop rules made of others are named in a config") {
  kevo::registry all = kevo::builtin_plugins();
  const kevo::build_context context{.plugins = &all};
  const auto archive = [&](const std::string& config) {
    settings from(kevo::parse_yaml("{" + config + "}", "test"));
    auto made = all.archives.make(from, context);
    from.finish();
    return made;
  };
  CHECK(archive("type: epsilon_net").wants_source());
  CHECK(archive("type: novelty, embedding: {dimensions: 32}").wants_source());
  CHECK(archive("type: islands, of: {type: epsilon_net}").wants_source());
  CHECK_FALSE(archive("type: epsilon_net, measures: {a: {range: [0, 1]}}").wants_source());
  CHECK_THROWS_AS(archive("type: islands"), kevo::error);
  CHECK_THROWS_AS(archive("type: islands, topology: free, ways: [0, 9], of: {type: top_k}"), kevo::error);
  CHECK_THROWS_AS(archive("type: islands, ways: [0, 1], of: {type: top_k}"), kevo::error);
  CHECK_THROWS_AS(archive("type: sliding, measures: {}"), kevo::error);
  const auto stop = [&](const std::string& config) {
    settings from(kevo::parse_yaml("{" + config + "}", "test"));
    auto made = all.make_stop_rule(from, context);
    from.finish();
    return made;
  };
  kevo::progress now;
  now.since_kept = 20;
  CHECK(stop("any: [{saturation: 20}, {duplicates: 5}]").stop(now).has_value());
  CHECK_FALSE(stop("coverage: 0.9").stop(now).has_value());
  auto later = stop("after: {saturation: 20}, then: {evaluations: 3}");
  later.observe(now);
  CHECK_FALSE(later.stop(now).has_value());
  now.ledger.evaluations = 3;
  CHECK(later.stop(now).has_value());
  CHECK_THROWS_AS(stop("after: {saturation: 20}"), kevo::error);
  CHECK(all.rankers.names() == std::vector<std::string>{"gaussian_process", "ridge"});
}
