// Policies that choose among actions, and the file of a trained one.

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "operators/policy/learnt_policy.hpp"
#include "tests/support/shell.hpp"

namespace {

kevo::action_features features() {
  return {{"size"}, {"tile", "unroll"}, {"innermost", "long"}};
}

kevo::action_choice choice() {
  return {{0.5},
          {{"tile", "loop i in line 1", 1, {0, 1}},
           {"tile", "loop j in line 2", 3, {1, 0}},
           {"unroll", "loop j in line 2", 1, {1, 0}}}};
}

kevo::learnt_policy some_policy(std::size_t hidden) {
  kevo::learnt_policy made{"rewrite", features(), kevo::net_for(features(), hidden), {{"seed", "1"}}};
  kevo::rng random(3);
  for (auto& w : made.net.weights) w = random.normal();
  return made;
}

std::string message_of(const std::string& text) {
  try {
    kevo::policy_from_json(text, "policy.json");
  } catch (const kevo::error& wrong) {
    CHECK(wrong.code() == kevo::error_code::input);
    CHECK(std::string(wrong.what()).find("policy.json") != std::string::npos);
    return wrong.message();
  }
  return "";
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE(at != std::string::npos);
  return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a policy file is read as it was written, bit for bit") {
  for (const std::size_t hidden : {0U, 3U}) {
    const auto written = some_policy(hidden);
    const auto read = kevo::policy_from_json(kevo::to_json(written), "policy.json");
    CHECK(read.features == written.features);
    CHECK(read.net.weights == written.net.weights);
    CHECK(read.net.hidden() == hidden);
    CHECK(read.trained == written.trained);
  }
}

TEST_CASE("a wrong policy file is an error that names it") {
  const std::string good = kevo::to_json(some_policy(0));
  CHECK(message_of(good).empty());
  CHECK(message_of("{").find("not JSON") != std::string::npos);
  CHECK(message_of("{}").find("not a file of kevo learn policy") != std::string::npos);
  CHECK(message_of(replaced(good, "\"kevo_policy\":1", "\"kevo_policy\":2")).find("format 2") !=
        std::string::npos);
  CHECK(message_of(replaced(good, "\"hidden\":0", "\"hidden\":1")).find("'weights'") != std::string::npos);
  CHECK(message_of(replaced(good, "\"hidden\":0", "\"hidden\":-1")).find("'hidden'") != std::string::npos);
  CHECK(message_of(replaced(good, "[\"tile\",\"unroll\"]", "[\"tile\",\"tile\"]")).find("twice") !=
        std::string::npos);
  CHECK(message_of(replaced(good, "\"weights\":[", "\"weights\":[\"x\",")).find("'weights'") !=
        std::string::npos);
  CHECK_THROWS_AS(kevo::read_policy("no/such/policy.json"), kevo::error);

  CHECK_NOTHROW(kevo::require_features(some_policy(0), features(), "rewrite"));
  CHECK_THROWS_AS(kevo::require_features(some_policy(0), features(), "ordered_step"), kevo::error);
  kevo::action_features fewer = features();
  fewer.regions = {"innermost"};
  CHECK_THROWS_AS(kevo::require_features(some_policy(0), fewer, "rewrite"), kevo::error);
}

TEST_CASE("a policy reads features by name, wherever they stand") {
  const auto learnt = std::make_shared<const kevo::learnt_policy>(some_policy(2));
  kevo::action_features other{{"new", "size"}, {"unroll", "new", "tile"}, {"long", "innermost"}};
  kevo::action_choice moved = choice();
  moved.state = {9, 0.5};
  for (auto& one : moved.actions) std::swap(one.features[0], one.features[1]);
  CHECK(kevo::trained_actions(learnt, features(), 0).weights(choice(), {}) ==
        kevo::trained_actions(learnt, other, 0).weights(moved, {}));
}

TEST_CASE("without regions, a policy chooses the type and the operator's weights the place") {
  const auto learnt = std::make_shared<const kevo::learnt_policy>(some_policy(0));
  const auto whole = kevo::trained_actions(learnt, features(), 0).weights(choice(), {});
  const auto types = kevo::trained_actions(learnt, features(), 0, false).weights(choice(), {});
  CHECK(types[0] + types[1] == doctest::Approx(whole[0] + whole[1]));
  CHECK(types[1] == doctest::Approx(3 * types[0]));
  CHECK(types[2] == doctest::Approx(whole[2]));
  const auto own = kevo::trained_actions(learnt, features(), 1).weights(choice(), {});
  CHECK(own[1] == doctest::Approx(0.6));
}

TEST_CASE("bandits prefer what was rewarded") {
  std::vector<kevo::tried_action> tried;
  for (int i = 0; i < 40; ++i) {
    tried.push_back({"tile", {1, 0}, 0.9});
    tried.push_back({"tile", {0, 1}, 0.0});
    tried.push_back({"unroll", {1, 0}, 0.1});
  }
  const auto by_type = kevo::ucb_actions(0.1).weights(choice(), tried);
  CHECK(by_type[0] > 0);
  CHECK(by_type[1] > 0);
  CHECK(by_type[2] == 0);
  const auto by_place = kevo::bandit_actions(features()).weights(choice(), tried);
  CHECK(by_place[0] == 0);
  CHECK(by_place[1] > 0);
  CHECK(by_place[2] == 0);
  // What was never tried comes first.
  tried.erase(
      std::remove_if(tried.begin(), tried.end(), [](const auto& one) { return one.type == "unroll"; }),
      tried.end());
  CHECK(kevo::ucb_actions(0.1).weights(choice(), tried)[0] == 0);
}
