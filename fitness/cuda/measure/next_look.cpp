#include "fitness/cuda/measure/next_look.hpp"

#include <algorithm>
#include <cmath>

#include <kevo/evaluate/statistics.hpp>

namespace kevo::cuda {
namespace {

// A look that finds the interval a little too wide costs another one.
constexpr double margin = 0.93;

// What the width of an interval of so many pairs is proportional to.
double relative_width(const look_plan& plan, int pairs, int number, double alpha) {
  const auto batches = location_batches(static_cast<std::size_t>(pairs));
  const double freedom = std::max(1.0, static_cast<double>(batches) - 1);
  return student_t(alpha_of_look(alpha, number, plan.looks), freedom) / std::sqrt(pairs);
}

}  // namespace

look_plan plan_looks(int first, int last) {
  look_plan plan{first, std::max(first, last), 1};
  if (plan.last == plan.first) return plan;
  const double growth = static_cast<double>(plan.last) / first;
  plan.looks = 1 + std::max(1, static_cast<int>(std::lround(std::log2(growth)))) + (growth > 2 ? 2 : 0);
  return plan;
}

int pairs_of_next_look(const look_plan& plan, int done, int number, double width, double target,
                       double alpha) {
  const int left = plan.looks - number;  // looks, the next one included
  if (left <= 1 || done >= plan.last) return plan.last;
  const int reaches = static_cast<int>(std::ceil(plan.last / std::pow(2.0, left - 1)));
  const int least = std::max(reaches, done + std::max(1, done / 8));
  const int most = std::max(least, std::min(plan.last, 2 * done));
  const double now = relative_width(plan, done, number, alpha);
  for (int pairs = least; pairs < most; ++pairs) {
    if (width * relative_width(plan, pairs, number + 1, alpha) < margin * target * now) return pairs;
  }
  return std::min(most, plan.last);
}

}  // namespace kevo::cuda
