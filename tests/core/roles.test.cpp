// links: core
// What satisfies a role and what does not: a model with a mistyped member must fail to compile with the name
// of the missing expression, not later, and not silently.
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/models.hpp>

namespace {

namespace good {

struct selector {
  kevo::selection select(const kevo::population_view& view, kevo::rng&) { return {{view.nth_best(0)}, {}}; }
};
struct variation {
  std::string name() const { return "nothing"; }
  kevo::variation_result vary(const kevo::variation_request&, kevo::rng&) { return kevo::no_proposal{}; }
};
struct fitness {
  kevo::evaluation evaluate(const kevo::evaluation_request&) { return {}; }
};
struct archive {
  kevo::archive_result add(const kevo::archive_entry&) { return {}; }
  kevo::archive_result update(const kevo::archive_entry&) { return {}; }
  bool remove(kevo::candidate_id) { return false; }
  std::optional<kevo::elite> sample(kevo::rng&) const { return std::nullopt; }
  std::size_t size() const { return 0; }
  kevo::elite at(std::size_t) const { return {}; }
};
struct stop_rule {
  std::optional<std::string> stop(const kevo::progress&) { return std::nullopt; }
};
struct portfolio {
  std::size_t pick(std::span<const bool>, kevo::rng&) { return 0; }
  void observe(const kevo::operator_turn&) {}
  std::vector<kevo::operator_credit> credits() const { return {}; }
};
struct sink {
  void consume(const kevo::event&) {}
};

}  // namespace good

static_assert(kevo::selector<good::selector>);
static_assert(kevo::variation<good::variation>);
static_assert(kevo::fitness<good::fitness>);
static_assert(kevo::archive<good::archive>);
static_assert(kevo::stop_rule<good::stop_rule>);
static_assert(kevo::portfolio_policy<good::portfolio>);
static_assert(kevo::sink<good::sink>);

static_assert(kevo::selector<kevo::greedy> && kevo::selector<kevo::tournament>);
static_assert(kevo::selector<kevo::power_law> && kevo::selector<kevo::fitness_proportional>);
static_assert(kevo::archive<kevo::top_k> && kevo::archive<kevo::grid>);
static_assert(kevo::portfolio_policy<kevo::ucb1> && kevo::portfolio_policy<kevo::uniform_portfolio>);
static_assert(kevo::stop_rule<kevo::stop::evaluations> && kevo::stop_rule<kevo::stop::any_of>);

// Erased values are models of their own roles, so that combinations nest.
static_assert(kevo::selector<kevo::any_selector> && kevo::archive<kevo::any_archive>);
static_assert(kevo::variation<kevo::any_variation> && kevo::stop_rule<kevo::any_stop_rule>);
static_assert(kevo::portfolio_policy<kevo::any_portfolio> && kevo::sink<kevo::any_sink>);

// selector
struct wrong_name : good::selector {
  kevo::selection select(const kevo::population_view&) { return {}; }  // hides the right one: rng forgotten
};
struct returns_an_id {
  kevo::candidate_id select(const kevo::population_view&, kevo::rng&) { return 0; }
};
struct wants_to_change_the_view {
  kevo::selection select(kevo::population_view&, kevo::rng&) { return {}; }
};
struct cannot_be_copied : good::selector {
  std::unique_ptr<int> state;
};
static_assert(!kevo::selector<wrong_name> && !kevo::selector<returns_an_id>);
static_assert(!kevo::selector<wants_to_change_the_view> && !kevo::selector<cannot_be_copied>);
static_assert(!kevo::selector<int> && !kevo::selector<good::variation>);
static_assert(!std::is_constructible_v<kevo::any_selector, returns_an_id>);

// variation
struct nameless {
  kevo::variation_result vary(const kevo::variation_request&, kevo::rng&) { return kevo::no_proposal{}; }
};
struct returns_optional : good::variation {
  std::optional<kevo::program> vary(const kevo::variation_request&, kevo::rng&) { return std::nullopt; }
};
struct random_by_constant_reference : good::variation {
  kevo::variation_result vary(kevo::variation_request&, const kevo::rng&) { return kevo::no_proposal{}; }
};
static_assert(!kevo::variation<nameless> && !kevo::variation<returns_optional>);
static_assert(!kevo::variation<random_by_constant_reference>);
static_assert(!std::is_constructible_v<kevo::any_variation, nameless>);

// fitness
struct returns_a_number {
  double evaluate(const kevo::evaluation_request&) { return 1; }
};
struct takes_a_program {
  kevo::evaluation evaluate(const kevo::program&) { return {}; }
};
static_assert(!kevo::fitness<returns_a_number> && !kevo::fitness<takes_a_program>);

// archive
struct add_says_nothing : good::archive {
  void add(const kevo::archive_entry&) {}
};
struct samples_nothing_empty : good::archive {
  kevo::elite sample(kevo::rng&) const { return {}; }
};
struct changes_when_read : good::archive {
  kevo::elite at(std::size_t) { return {}; }
};
struct remove_says_nothing : good::archive {
  void remove(kevo::candidate_id) {}
};
static_assert(!kevo::archive<add_says_nothing> && !kevo::archive<samples_nothing_empty>);
static_assert(!kevo::archive<changes_when_read> && !kevo::archive<remove_says_nothing>);

// stop rule
struct says_yes_or_no {
  bool stop(const kevo::progress&) { return false; }
};
static_assert(!kevo::stop_rule<says_yes_or_no>);

// portfolio
struct without_credits {
  std::size_t pick(std::span<const bool>, kevo::rng&) { return 0; }
  void observe(const kevo::operator_turn&) {}
};
struct picks_a_sign : good::portfolio {
  int pick(std::span<const bool>, kevo::rng&) { return 0; }
};
static_assert(!kevo::portfolio_policy<without_credits> && !kevo::portfolio_policy<picks_a_sign>);

// sink
struct deaf {};
static_assert(!kevo::sink<deaf>);

struct counting_rule {
  int calls = 0;
  std::optional<std::string> stop(const kevo::progress&) {
    return ++calls >= 2 ? std::optional<std::string>("twice") : std::nullopt;
  }
};

}  // namespace

TEST_CASE("erased values copy deeply: a copy and its original have separate futures") {
  kevo::any_stop_rule rule = counting_rule{};
  CHECK_FALSE(rule.stop({}));
  kevo::any_stop_rule copy = rule;
  CHECK(rule.stop({}));
  CHECK(copy.stop({}));  // its own second call
  copy = counting_rule{};
  CHECK_FALSE(copy.stop({}));
  const kevo::any_stop_rule moved = std::move(copy);
  CHECK(static_cast<bool>(moved));
}

TEST_CASE("erased values say whether they hold anything, and optional members have defaults") {
  CHECK_FALSE(static_cast<bool>(kevo::any_selector{}));
  CHECK_FALSE(kevo::any_stop_rule{}.stop({}));
  kevo::any_archive kept = good::archive{};
  CHECK(kept.measures().empty());
  CHECK(kept.cells() == 0);
  CHECK(kept.describe({}).empty());
  CHECK(kept.total_score() == 0);
  kevo::any_variation op = good::variation{};
  CHECK(op.name() == "nothing");
  CHECK(op.concurrency() == 1);
  CHECK(op.replayable());
  CHECK(kevo::any_fitness(good::fitness{}).describe().empty());
}
