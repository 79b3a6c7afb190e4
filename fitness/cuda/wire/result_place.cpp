#include "fitness/cuda/wire/result_place.hpp"

#include <algorithm>
#include <cstddef>

namespace kevo::cuda {
namespace {

// No device has more memory, and no driver copies rows that lie farther apart.
constexpr std::uint64_t most_bytes = std::uint64_t{1} << 46U;
constexpr std::uint64_t most_pitch = (std::uint64_t{1} << 31U) - 1;

struct claimed_axis {
  std::size_t number = 0;
  std::uint64_t extent = 1;
  std::uint64_t stride = 0;  // [elements]
};

// The axes of more than one element, the closest neighbours first. False: their elements lie at no places, or
// not each at one of its own.
bool axes_of(const result_claim& claim, std::vector<claimed_axis>& axes) {
  for (std::size_t i = 0; i < claim.rank; ++i) {
    if (claim.extents[i] == 1) continue;
    if (claim.strides[i] <= 0) return false;
    axes.push_back({i, claim.extents[i], static_cast<std::uint64_t>(claim.strides[i])});
  }
  std::stable_sort(axes.begin(), axes.end(),
                   [](const auto& a, const auto& b) { return a.stride < b.stride; });
  std::uint64_t reach = 0;
  for (const auto& one : axes) {
    if (one.stride <= reach || one.stride > most_bytes / one.extent) return false;
    reach += (one.extent - 1) * one.stride;
    if (reach > most_bytes) return false;
  }
  return true;
}

}  // namespace

std::string place_of(const result_claim& claim, std::uint64_t count, std::uint64_t element_bytes,
                     result_place& made) {
  made = {};
  if (claim.rank > most_rank) return "it has too many axes";
  std::uint64_t elements = 1;
  for (std::size_t i = 0; i < claim.rank; ++i) {
    const auto extent = claim.extents[i];
    if (extent != 0 && elements > most_bytes / extent) return "it has more elements than there can be";
    elements *= extent;
  }
  if (elements != count) return "it has another number of elements";
  if (count == 0) return {};
  if (claim.offset > most_bytes) return "it lies outside of its block";
  std::vector<claimed_axis> axes;
  if (!axes_of(claim, axes)) return "its elements do not lie at places of their own";
  // Axes of which one continues the other are one.
  std::vector<claimed_axis> steps;
  for (const auto& one : axes) {
    if (!steps.empty() && one.stride == steps.back().extent * steps.back().stride) {
      steps.back().extent *= one.extent;
    } else {
      steps.push_back(one);
    }
  }
  const bool dense_row = steps.empty() || steps.front().stride == 1;
  const std::size_t outer = dense_row && !steps.empty() ? 1 : 0;
  if (steps.size() > outer + 1) return "its elements do not lie in rows at equal distances";
  made.offset = claim.offset;
  made.row_bytes = (outer == 1 ? steps.front().extent : 1) * element_bytes;
  made.rows = steps.size() > outer ? steps[outer].extent : 1;
  made.pitch = steps.size() > outer ? steps[outer].stride * element_bytes : made.row_bytes;
  if (made.rows > 1 && made.pitch > most_pitch) return "its rows lie too far apart";
  // In the copy every axis steps over all that the closer ones have.
  std::vector<std::uint64_t> distances(claim.rank, 0);
  std::uint64_t distance = 1;
  for (const auto& one : axes) {
    distances[one.number] = distance;
    distance *= one.extent;
  }
  std::uint64_t usual = 1;
  bool in_order = true;
  for (std::size_t i = claim.rank; i-- > 0;) {
    in_order = in_order && (claim.extents[i] == 1 || distances[i] == usual);
    usual *= claim.extents[i];
  }
  if (in_order) return {};
  made.order.assign(claim.extents.begin(), claim.extents.begin() + claim.rank);
  made.order.insert(made.order.end(), distances.begin(), distances.end());
  return {};
}

}  // namespace kevo::cuda
