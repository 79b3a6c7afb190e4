// A model of kevo/learn in somebody else's project: it brings Eigen with it.
#include <cmath>

#include <kevo/learn/ridge.hpp>

int main() {
  kevo::ridge model;
  for (int i = 0; i < 400; ++i) {
    const double x[] = {i % 20 * 0.1, i % 7 * 1.0};
    model.learn(x, 3 * x[0] - x[1]);
  }
  const double unseen[] = {0.55, 2.5};
  return std::abs(model.predict(unseen) - (3 * 0.55 - 2.5)) < 0.05 ? 0 : 1;
}
