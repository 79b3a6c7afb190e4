#include "fitness/worker/own_results.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include <kevo/error.hpp>

namespace kevo {
namespace {

// A strided output is read with all that lies between its elements, up to so many times its size.
constexpr std::size_t most_between = 4;
// Addresses of a process lie below; a claim must not overflow.
constexpr std::int64_t most_address = std::int64_t{1} << 56U;

// How far the elements reach from the first one. [elements] Nothing if several of them are one place: in the
// order of strides, each step must be longer than all that the shorter ones reach together.
std::optional<std::int64_t> reach_of(std::span<const std::int64_t> extents,
                                     std::span<const std::int64_t> strides) {
  std::vector<std::pair<std::int64_t, std::int64_t>> steps;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    if (extents[i] > 1) steps.emplace_back(strides[i], extents[i]);
  }
  std::sort(steps.begin(), steps.end());
  std::int64_t reach = 0;
  for (const auto& [stride, extent] : steps) {
    std::int64_t further = 0;
    if (stride <= reach || __builtin_mul_overflow(extent - 1, stride, &further) ||
        further > most_address - reach)
      return std::nullopt;
    reach += further;
  }
  return reach;
}

// Of elements in row-major order, how many in a row lie side by side.
std::size_t run_of(std::span<const std::int64_t> extents, std::span<const std::int64_t> strides) {
  std::int64_t run = 1;
  for (std::size_t i = extents.size(); i-- > 0;) {
    if (extents[i] == 1) continue;
    if (strides[i] != run) break;
    run *= extents[i];
  }
  return static_cast<std::size_t>(run);
}

}  // namespace

void result_reader::begin(std::span<const std::int64_t> extents) {
  std::size_t at = what_.input_extents;
  shapes_.resize(what_.outputs.size());
  for (std::size_t i = 0; i < what_.outputs.size(); ++i) {
    const auto& kind = what_.outputs[i];
    if (at + kind.rank > extents.size())
      throw error(error_code::internal, "a call has too few extents for its results");
    auto& shape = shapes_[i];
    const auto from = extents.begin() + static_cast<std::ptrdiff_t>(at);
    shape.extents.assign(from, from + static_cast<std::ptrdiff_t>(kind.rank));
    shape.elements = 1;
    for (const auto extent : shape.extents) shape.elements *= static_cast<std::size_t>(extent);
    shape.bytes = shape.elements * kind.element_bytes;
    at += kind.rank;
  }
  places_.clear();
}

std::size_t result_reader::bytes() const {
  return std::accumulate(shapes_.begin(), shapes_.end(), std::size_t{0},
                         [](std::size_t sum, const shape_of_output& one) { return sum + one.bytes; });
}

std::vector<result_line> result_reader::draw_lines(std::size_t count, rng& random) const {
  std::vector<result_line> lines;
  std::vector<std::size_t> counts;
  std::size_t total = 0;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    counts.push_back((shapes_[i].bytes + line_bytes - 1) / line_bytes);
    total += counts.back();
  }
  const auto add = [&](std::size_t output, std::size_t index) {
    const std::size_t each = line_bytes / what_.outputs[output].element_bytes;
    const std::size_t first = index * each;
    lines.push_back({output, first, std::min(each, shapes_[output].elements - first)});
  };
  // What an ordered program writes last is read first.
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (counts[i] > 0) add(i, counts[i] - 1);
  }
  const bool all = total <= count;
  for (std::size_t n = 0; n < (all ? total : count); ++n) {
    std::size_t flat = all ? n : random.below(total);
    std::size_t output = 0;
    while (flat >= counts[output]) flat -= counts[output++];
    if (!all || flat + 1 < counts[output]) add(output, flat);
  }
  return lines;
}

bool result_reader::locate(std::span<const std::int64_t> claim) {
  places_.clear();
  std::size_t at = 0;
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    const auto& shape = shapes_[i];
    if (at + 1 + shape.extents.size() > claim.size()) return false;
    result_place one;
    one.address = static_cast<std::uint64_t>(claim[at++]);
    one.strides.assign(claim.begin() + static_cast<std::ptrdiff_t>(at),
                       claim.begin() + static_cast<std::ptrdiff_t>(at + shape.extents.size()));
    at += shape.extents.size();
    if (shape.elements > 0) {
      const auto reach = reach_of(shape.extents, one.strides);
      if (!reach || one.address == 0 || one.address > static_cast<std::uint64_t>(most_address)) return false;
      one.side_by_side = run_of(shape.extents, one.strides);
    }
    places_.push_back(std::move(one));
  }
  return true;
}

std::uint64_t result_reader::address_of(std::size_t output, std::size_t element) const {
  const auto& extents = shapes_[output].extents;
  std::int64_t offset = 0;
  for (std::size_t i = extents.size(); i-- > 0;) {
    const auto extent = static_cast<std::size_t>(extents[i]);
    offset += static_cast<std::int64_t>(element % extent) * places_[output].strides[i];
    element /= extent;
  }
  return places_[output].address + static_cast<std::uint64_t>(offset) * what_.outputs[output].element_bytes;
}

bool result_reader::snapshot(pid_t process, std::span<result_line> lines, std::byte* target) const {
  std::vector<memory_piece> pieces;
  pieces.reserve(lines.size());
  for (auto& line : lines) {
    const std::size_t run = places_[line.output].side_by_side;
    line.count = std::min(line.count, run - line.first % run);
    pieces.push_back(
        {address_of(line.output, line.first), line.count * what_.outputs[line.output].element_bytes});
  }
  return read_memory(process, pieces, target);
}

bool result_reader::read_strided(pid_t process, std::size_t output, std::byte* into) {
  const auto& shape = shapes_[output];
  const auto& at = places_[output];
  const std::size_t size = what_.outputs[output].element_bytes;
  const std::size_t run = at.side_by_side;
  const auto reach = static_cast<std::size_t>(*reach_of(shape.extents, at.strides)) + 1;
  if (reach > most_between * shape.elements) {
    std::vector<memory_piece> pieces;
    pieces.reserve(shape.elements / run);
    for (std::size_t i = 0; i < shape.elements; i += run)
      pieces.push_back({address_of(output, i), run * size});
    return read_memory(process, pieces, into);
  }
  span_.resize(reach * size);
  const memory_piece all = {at.address, span_.size()};
  if (!read_memory(process, {&all, 1}, span_.data())) return false;
  for (std::size_t i = 0; i < shape.elements; i += run)
    std::memcpy(into + i * size, span_.data() + (address_of(output, i) - at.address), run * size);
  return true;
}

bool result_reader::read(pid_t process) {
  kept_.resize(bytes());
  std::byte* into = kept_.data();
  for (std::size_t i = 0; i < shapes_.size(); ++i) {
    if (shapes_[i].elements == 0) continue;
    const memory_piece whole = {places_[i].address, shapes_[i].bytes};
    const bool done = places_[i].side_by_side == shapes_[i].elements ? read_memory(process, {&whole, 1}, into)
                                                                     : read_strided(process, i, into);
    if (!done) return false;
    into += shapes_[i].bytes;
  }
  return true;
}

bool result_reader::same(std::span<const result_line> lines, const std::byte* snapshot) const {
  for (const auto& line : lines) {
    const std::size_t size = what_.outputs[line.output].element_bytes;
    if (std::memcmp(snapshot, output(line.output).data() + line.first * size, line.count * size) != 0)
      return false;
    snapshot += line.count * size;
  }
  return true;
}

std::span<const std::byte> result_reader::output(std::size_t index) const {
  std::size_t before = 0;
  for (std::size_t i = 0; i < index; ++i) before += shapes_[i].bytes;
  return std::span(kept_).subspan(before, shapes_[index].bytes);
}

}  // namespace kevo
