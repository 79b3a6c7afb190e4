// Recorded trees: rewards, episodes, searches, and a policy that is trained on some tasks and tried on
// another.

#include "src/learn/macro_tree.hpp"

#include <doctest/doctest.h>

#include "src/learn/train.hpp"

namespace {

// Tasks of which the first action must be "tile" of the inner loop; "vectorize" then pays. All else fails.
kevo::macro_tree some_tree(std::size_t tasks) {
  kevo::macro_tree tree;
  tree.features = {{"tiled"}, {"tile", "vectorize", "unroll"}, {"inner"}};
  const auto node = [&tree](std::size_t task, kevo::outcome outcome, double speedup) {
    tree.nodes.push_back({task, outcome, outcome == kevo::outcome::valid ? std::log(speedup) : 0, {}, {}});
    return tree.nodes.size() - 1;
  };
  for (std::size_t task = 0; task < tasks; ++task) {
    tree.tasks.push_back("task" + std::to_string(task));
    const std::size_t root = node(task, kevo::outcome::valid, 1);
    tree.roots.push_back(root);
    std::size_t tiled = 0;
    for (const bool done : {false, true}) {
      const std::size_t from = done ? tiled : root;
      kevo::action_choice choice{{done ? 1.0 : 0.0}, {}};
      std::map<std::size_t, std::vector<std::size_t>> children;
      for (const char* type : {"unroll", "vectorize", "tile"}) {
        for (const double inner : {0.0, 1.0}) {
          const bool right = inner == 1 && std::string(type) == (done ? "vectorize" : "tile");
          const std::size_t child =
              node(task, right ? kevo::outcome::valid : kevo::outcome::incorrect, done ? 4 : 1.5);
          children[choice.actions.size()] = {child};
          choice.actions.push_back({type, inner == 1 ? "loop j" : "loop i", 1, {inner}});
          if (right && !done) tiled = child;
        }
      }
      tree.nodes[from].choice = std::move(choice);
      tree.nodes[from].children = std::move(children);
    }
  }
  return tree;
}

}  // namespace

TEST_CASE("the stages of a step add up") {
  const kevo::stage_rewards how{.gain = 0};
  kevo::tree_node before{0, kevo::outcome::valid, 0, {}, {}};
  const auto after = [&](kevo::outcome outcome, double log_score) {
    return kevo::reward_of(before, {0, outcome, log_score, {}, {}}, how);
  };
  CHECK(after(kevo::outcome::build_failed, 0) == doctest::Approx(-1));
  CHECK(after(kevo::outcome::incorrect, 0) == doctest::Approx(0.1 - 0.5));
  CHECK(after(kevo::outcome::valid, -1) == doctest::Approx(0.1 + 0.5));
  CHECK(after(kevo::outcome::valid, 0.01) == doctest::Approx(0.1 + 0.5));
  CHECK(after(kevo::outcome::valid, 0.1) == doctest::Approx(0.1 + 0.5 + 1));
  const kevo::stage_rewards with_gain;
  CHECK(kevo::reward_of(before, {0, kevo::outcome::valid, std::log(2.0), {}, {}}, with_gain) ==
        doctest::Approx(1.6 + with_gain.gain));
}

TEST_CASE("an episode goes on from valid programs, and takes no action twice at one program") {
  const auto tree = some_tree(1);
  kevo::tree_world world(tree, {0}, {}, 20);
  kevo::rng random(1);
  for (int i = 0; i < 20; ++i) {
    world.begin(random);
    std::size_t steps = 0;
    while (const auto at = world.decision()) {
      world.act(random.below(static_cast<std::size_t>(at->actions.cols())), random);
      ++steps;
    }
    CHECK(steps <= 12);  // six actions at each of the two programs
  }
  CHECK(kevo::tree_world(tree, {}).empty());
}

TEST_CASE("a search of the tree finds its best program, and says after how many evaluations") {
  const auto tree = some_tree(1);
  CHECK(kevo::best_of_task(tree, 0) == doctest::Approx(std::log(4.0)));
  const auto curve = kevo::search_tree(tree, 0, kevo::uniform_actions(), 1);
  CHECK(curve.size() == 13);
  CHECK(curve.back() == doctest::Approx(std::log(4.0)));
  CHECK(curve == kevo::search_tree(tree, 0, kevo::uniform_actions(), 1));
  CHECK(kevo::evaluations_needed({0, 0, 0.5, 1}, 1, 0.5) == 2.0);
  CHECK(kevo::evaluations_needed({0, 0, 0.5, 1}, 1, 0.9) == 3.0);
  CHECK_FALSE(kevo::evaluations_needed({0, 0}, 0, 0.9));
}

TEST_CASE("a policy that was trained on other tasks needs fewer evaluations than uniform choice") {
  const auto tree = some_tree(4);
  kevo::training_settings how;
  how.ppo.iterations = 20;
  const auto trained = kevo::train_policy(tree, {3}, how);
  CHECK(trained.curve.back().held_out_return > trained.uniform_return + 1);
  CHECK(trained.policy.net.weights == kevo::train_policy(tree, {3}, how).policy.net.weights);
  const auto learnt = std::make_shared<const kevo::learnt_policy>(trained.policy);
  std::size_t tasks = 0;
  const auto compared = kevo::compare_policies(
      tree, {3},
      [&](std::size_t) {
        return std::vector<kevo::action_policy>{kevo::uniform_actions(),
                                                kevo::trained_actions(learnt, tree.features, 0)};
      },
      20, 0.9, &tasks);
  REQUIRE(compared.size() == 2);
  CHECK(tasks == 1);
  CHECK(compared[0].to_uniform.value == 1);
  CHECK(compared[1].to_uniform.high < 0.6);
  CHECK(compared[1].evaluations < 4);
}
