// Input data of every variety leave honest float32 sums accurate: otherwise right programs, and the baselines
// of tasks, would fail by chance.

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "fitness/oracle/element_type.hpp"
#include "fitness/oracle/generate.hpp"

namespace {

std::vector<double> uniform_row(std::size_t count, kevo::variety kind, kevo::rng& random) {
  const auto& type = *kevo::find_element_type("float32");
  return kevo::load_reals(type, kevo::generate_elements(type, count, {"uniform", -8, 8}, kind,
                                                        kevo::variety_strength::mild, random));
}

/// The relative error of the sum of a softmax that adds float32 numbers in order, as in a textbook.
double error_of_softmax_sum(const std::vector<double>& row) {
  const double largest = *std::max_element(row.begin(), row.end());
  float sum = 0;
  double exact = 0;
  for (const double x : row) {
    sum += std::exp(static_cast<float>(x) - static_cast<float>(largest));
    exact += std::exp(x - largest);
  }
  return std::abs(sum - exact) / exact;
}

}  // namespace

TEST_CASE("a softmax that sums in order is right on input data of every variety") {
  constexpr std::size_t elements = 4099;
  constexpr double tolerance = 2e-5;  // of configs/tasks/softmax
  kevo::rng random(23);
  for (std::size_t v = 0; v < kevo::variety_count; ++v) {
    const auto kind = static_cast<kevo::variety>(v);
    // Without care 1 patchy content of 60 is beyond the tolerance, without spread 1 spiked one of 20.
    const bool composed = kind == kevo::variety::patchy || kind == kevo::variety::spiked;
    double worst = 0;
    for (int i = 0; i < (composed ? 1000 : 100); ++i)
      worst = std::max(worst, error_of_softmax_sum(uniform_row(elements, kind, random)));
    CHECK_MESSAGE(worst < 0.75 * tolerance, std::string(to_string(kind)), ": ", worst);
  }
}

TEST_CASE("a patchy content of uniform numbers still changes from patch to patch") {
  constexpr std::size_t elements = 4096;
  kevo::rng random(24);
  int changing = 0;
  for (int i = 0; i < 200; ++i) {
    const auto values = uniform_row(elements, kevo::variety::patchy, random);
    const auto below = [&](std::size_t from, std::size_t to) {
      return std::count_if(values.begin() + static_cast<std::ptrdiff_t>(from),
                           values.begin() + static_cast<std::ptrdiff_t>(to), [](double x) { return x < 0; });
    };
    // Half of the elements of a plain patch are below 0, none of a shifted one.
    std::ptrdiff_t least = elements;
    std::ptrdiff_t most = 0;
    for (std::size_t part = 0; part < elements; part += 256) {
      least = std::min(least, below(part, part + 256));
      most = std::max(most, below(part, part + 256));
    }
    changing += least < 10 && most > 90 ? 1 : 0;
  }
  CHECK(changing > 40);  // of 200; all patches are of one kind in the others
  CHECK(changing < 200);
}
