// links: core
// The models by which `tune` proposes settings, against functions that are known.
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include <kevo/learn/matern_process.hpp>
#include <kevo/learn/regression_forest.hpp>
#include <kevo/random.hpp>

namespace {

struct known_function {
  Eigen::MatrixXd rows;
  Eigen::VectorXd targets;
};

// The second of three features does not matter.
double worth(double a, double c) {
  return std::sin(6 * a) + c * c;
}
known_function draw(Eigen::Index n, std::uint64_t seed) {
  kevo::rng random(seed);
  known_function made{Eigen::MatrixXd(n, 3), Eigen::VectorXd(n)};
  for (Eigen::Index i = 0; i < n; ++i) {
    for (Eigen::Index j = 0; j < 3; ++j) made.rows(i, j) = random.uniform();
    made.targets(i) = worth(made.rows(i, 0), made.rows(i, 2));
  }
  return made;
}
double error_of(const kevo::process_prediction& made, const known_function& truth) {
  return std::sqrt((made.mean - truth.targets).squaredNorm() / static_cast<double>(truth.targets.size()));
}

}  // namespace

TEST_CASE("the process learns which features matter, and predicts") {
  const known_function known = draw(60, 1);
  const known_function asked = draw(200, 2);
  kevo::matern_process plain, learnt;
  learnt.learn_lengths(known.rows, known.targets);
  CHECK(learnt.logarithms().size() == 4);
  CHECK(learnt.logarithms()[1] > learnt.logarithms()[0] + 1);
  plain.fit(known.rows, known.targets);
  learnt.fit(known.rows, known.targets);
  CHECK(error_of(learnt.predict(asked.rows), asked) < 0.7 * error_of(plain.predict(asked.rows), asked));
  CHECK(error_of(learnt.predict(asked.rows), asked) < 0.1);
  const auto here = learnt.predict(known.rows);
  CHECK(error_of(here, known) < 0.05);
  CHECK(here.deviation.maxCoeff() < 0.5 * learnt.predict(5 * asked.rows).deviation.maxCoeff());

  kevo::matern_process same;
  same.learn_lengths(known.rows, known.targets);
  CHECK(same.logarithms() == learnt.logarithms());
}

TEST_CASE("the process believes targets less whose errors are large") {
  known_function known = draw(40, 3);
  const double right = known.targets(7);
  known.targets(7) += 3;
  Eigen::VectorXd errors = Eigen::VectorXd::Zero(40);
  kevo::matern_process model;
  model.fit(known.rows, known.targets, errors);
  const double misled = model.predict(known.rows.row(7)).mean(0);
  errors(7) = 3;
  model.fit(known.rows, known.targets, errors);
  const double warned = model.predict(known.rows.row(7)).mean(0);
  CHECK(std::abs(warned - right) < 0.5 * std::abs(misled - right));
}

TEST_CASE("equal targets and a single row are no fault") {
  kevo::matern_process model;
  const Eigen::MatrixXd rows = Eigen::MatrixXd::Constant(1, 2, 0.5);
  model.learn_lengths(rows, Eigen::VectorXd::Constant(1, 4.0));
  model.fit(rows, Eigen::VectorXd::Constant(1, 4.0));
  CHECK(model.predict(rows).mean(0) == doctest::Approx(4));
  const known_function known = draw(5, 4);
  model.learn_lengths(known.rows, Eigen::VectorXd::Constant(5, 2.0));
  model.fit(known.rows, Eigen::VectorXd::Constant(5, 2.0));
  CHECK(model.predict(draw(3, 5).rows).mean(0) == doctest::Approx(2));
}

TEST_CASE("the forest predicts, says where it does not know, and is the same for the same data") {
  const known_function known = draw(200, 6);
  const known_function asked = draw(200, 7);
  kevo::regression_forest forest, again;
  forest.fit(known.rows, known.targets);
  again.fit(known.rows, known.targets);
  const auto made = forest.predict(asked.rows);
  CHECK(error_of(made, asked) < 0.35);
  CHECK(made.mean == again.predict(asked.rows).mean);
  CHECK(made.deviation.minCoeff() > 0);
  const double off = (made.mean - asked.targets).cwiseAbs().sum();
  const double expected = made.deviation.sum();
  CHECK(off < 3 * expected);
  CHECK(off > expected / 10);
}
