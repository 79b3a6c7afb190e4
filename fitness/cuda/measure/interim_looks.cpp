#include "fitness/cuda/measure/interim_looks.hpp"

#include <algorithm>

#include <kevo/evaluate/statistics.hpp>

namespace kevo::cuda {

double alpha_of_width(double alpha) {
  return alpha / 4;
}

double alpha_of_standing(double alpha, int pairs, int first, int last) {
  int looks = 0;
  int number = 0;
  for (int at = std::max(first, 1); at <= std::max(first, last); at *= 2) {
    ++looks;
    if (at == pairs) number = looks;
  }
  return number == 0 ? 0 : alpha_of_look(alpha / 2, number, looks);
}

int pairs_of_next_look(int pairs, int last) {
  return std::min(last, pairs + std::max(1, pairs / 16));
}

std::size_t batches_of_pairs(std::size_t pairs) {
  return std::min(pairs, std::clamp<std::size_t>(pairs / 2, 16, 32));
}

}  // namespace kevo::cuda
