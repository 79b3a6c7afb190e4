#include "src/report/ticks.hpp"

#include <cmath>

namespace kevo::html {

std::vector<double> linear_ticks(double low, double high, int about) {
  const double rough = (high - low) / about;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double part = rough / power;
  const double step = power * (part > 5 ? 10 : part > 2 ? 5 : part > 1 ? 2 : 1);
  std::vector<double> ticks;
  // Counted, because a step may be too small to change a large number.
  const double first = std::ceil(low / step - 1e-9) * step;
  for (int i = 0; i <= 2 * about; ++i) {
    const double t = first + i * step;
    if (!(t <= high * (1 + 1e-12) + 1e-12)) break;
    if (ticks.empty() || t > ticks.back()) ticks.push_back(std::abs(t) < step * 1e-9 ? 0 : t);
  }
  return ticks;
}

std::vector<double> log_ticks(double low, double high) {
  const double decades = std::log10(high / low);
  const std::vector<double> steps = decades > 4     ? std::vector<double>{1}
                                    : decades > 1.4 ? std::vector<double>{1, 2, 5}
                                                    : std::vector<double>{1, 1.5, 2, 3, 4, 5, 7};
  std::vector<double> ticks;
  for (double power = std::pow(10, std::floor(std::log10(low))); power <= high; power *= 10) {
    for (const double s : steps) {
      if (power * s >= low * 0.999 && power * s <= high * 1.001) ticks.push_back(power * s);
    }
  }
  return ticks;
}

}  // namespace kevo::html
