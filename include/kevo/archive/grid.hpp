#pragma once
// An archive that keeps the best candidate of each cell of a grid over named measures: MAP-Elites (Mouret &
// Clune, 2015).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/archive/soft_threshold.hpp>
#include <kevo/detail/cell_elites.hpp>
#include <kevo/error.hpp>

namespace kevo {

/// Whether equal parts of a range are equal in the value (`linear`) or in its logarithm (`log`).
enum class axis_scale : std::uint8_t { linear, log };

/// One axis of a grid: the range [low, high] of a measure in `bins` equal parts.
struct grid_axis {
  std::string measure;                    ///< name of the measure
  std::size_t bins = 10;                  ///< number of bins, without that of unknown values
  double low = 0;                         ///< lower end of the range; above 0 if the scale is logarithmic
  double high = 1;                        ///< upper end of the range
  axis_scale scale = axis_scale::linear;  ///< equal widths of bins in the value or its logarithm

  /// The bin of a value. Values outside the range, including infinities, are in the first or the last bin. An
  /// unknown value (NaN) has a bin of its own after the last, so that a candidate that could not be measured
  /// is kept, but does not compete with measured ones.
  std::size_t bin_of(double value) const {
    if (std::isnan(value)) return bins;
    if (!(value > low)) return 0;
    if (!(value < high)) return bins - 1;
    const double part = scale == axis_scale::log ? std::log(value / low) / std::log(high / low)
                                                 : (value - low) / (high - low);
    return std::min(static_cast<std::size_t>(part * static_cast<double>(bins)), bins - 1);
  }
  /// The lower edge of a bin; `edge(bins)` is the upper end of the range.
  double edge(std::size_t bin) const {
    const double part = static_cast<double>(bin) / static_cast<double>(bins);
    return scale == axis_scale::log ? low * std::pow(high / low, part) : low + (high - low) * part;
  }
};

/// MAP-Elites (Mouret & Clune, "Illuminating search spaces by mapping elites", arXiv 1504.04909, 2015): a
/// candidate competes only with the elite of its cell. Of equal scores the older candidate stays. With a soft
/// threshold a cell also accepts some candidates that are worse than its elite, see soft_threshold.
///
/// `add` is O(axes), plus O(log elites) after the first rank query, independent of the number of cells.
/// `sample` and `at` are O(1). The rank queries (`nth_best`, `total_score`, `at_mass`) are O(log elites), the
/// first one O(elites log elites).
class grid {
 public:
  /// Throws kevo::error (input) for an axis without bins or with an empty range, a logarithmic axis whose
  /// range does not begin above 0, an invalid soft threshold, or more than 2^62 cells.
  explicit grid(std::vector<grid_axis> axes, soft_threshold soft = {}) : axes_(std::move(axes)) {
    check(soft);
    std::uint64_t cells = 1;  // each axis has one more bin, for unknown values
    for (const grid_axis& a : axes_) {
      const auto fail = [&a](const char* why, const char* hint = "") {
        throw error(error_code::input, why, {{}, 0, 0, a.measure}, hint);
      };
      if (a.bins == 0) fail("a grid axis needs at least one bin");
      if (!(a.low < a.high) || !std::isfinite(a.low) || !std::isfinite(a.high)) {
        fail("the range of a grid axis must be [low, high] with low < high");
      }
      if (a.scale == axis_scale::log && !(a.low > 0)) fail("a logarithmic range must begin above 0");
      if (a.bins >= (std::uint64_t{1} << 62U) / cells)
        fail("the grid would have more than 2^62 cells", "use fewer bins or fewer measures");
      cells *= a.bins + 1;
    }
    elites_ = detail::cell_elites(cells, soft);
  }

  archive_result add(const archive_entry& entry) {
    return elites_.add(entry.id, entry.score, cell_of(entry.measures));
  }
  /// A kept candidate keeps its cell whatever its new score: `improved` if the score increased, else
  /// `rejected`. If its measures changed so that its cell changed, it is removed and offered to the new cell.
  /// A candidate that is not kept is offered.
  archive_result update(const archive_entry& entry) {
    return elites_.update(entry.id, entry.score, cell_of(entry.measures));
  }
  bool remove(candidate_id id) { return elites_.remove(id); }
  archive_forecast forecast(const archive_entry& entry, candidate_id without) const {
    return elites_.forecast(entry.score, cell_of(entry.measures), without);
  }
  /// At most `count` elites that are at most two bins away on every axis (OpenEvolve's neighbourhood),
  /// nearest first by Euclidean distance in bins. Of equally near elites, the older one comes first.
  /// O(min(5^axes, elites)).
  std::vector<candidate_id> neighbours(candidate_id id, std::size_t count) const;

  std::optional<elite> sample(rng& random) const { return elites_.sample(random); }
  std::size_t size() const { return elites_.size(); }
  elite at(std::size_t i) const { return elites_.at(i); }
  bool contains(candidate_id id) const { return elites_.contains(id); }
  candidate_id nth_best(std::size_t rank) const { return elites_.order().nth(rank); }
  double total_score() const { return elites_.order().total(); }
  candidate_id at_mass(double mass) const { return elites_.order().at_mass(mass); }

  std::vector<std::string> measures() const {
    std::vector<std::string> names;
    for (const grid_axis& a : axes_) names.push_back(a.measure);
    return names;
  }
  /// The number of cells, without those for unknown measures.
  std::size_t cells() const {
    std::size_t product = 1;
    for (const grid_axis& a : axes_) product *= a.bins;
    return product;
  }
  /// The axes that were given to the constructor.
  const std::vector<grid_axis>& axes() const { return axes_; }

  /// The bin of a cell on each axis, in the order of `axes()`; `bins` of the axis for an unknown measure.
  std::vector<std::size_t> bins_of(std::uint64_t cell) const {
    std::vector<std::size_t> bins(axes_.size());
    for (std::size_t i = axes_.size(); i-- > 0;) {
      bins[i] = static_cast<std::size_t>(cell % (axes_[i].bins + 1));
      cell /= axes_[i].bins + 1;
    }
    return bins;
  }
  /// The elite of a cell; nothing if the cell is empty or does not exist.
  std::optional<elite> at_cell(std::uint64_t cell) const { return elites_.at_cell(cell); }
  /// The cell of the given measures, in the order of `axes()`; missing ones count as unknown.
  std::uint64_t cell_of(std::span<const double> measures) const {
    std::uint64_t cell = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      cell =
          cell * (axes_[i].bins + 1) + (i < measures.size() ? axes_[i].bin_of(measures[i]) : axes_[i].bins);
    }
    return cell;
  }
  /// The ranges of an elite's cell as text, such as "code_bytes 64..152, vector_fraction unknown".
  std::string describe(const elite& one) const {
    std::string text;
    const auto bins = bins_of(one.cell);
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      if (i > 0) text += ", ";
      text += axes_[i].measure + ' ';
      text += bins[i] == axes_[i].bins
                  ? "unknown"
                  : short_number(axes_[i].edge(bins[i])) + ".." + short_number(axes_[i].edge(bins[i] + 1));
    }
    return text;
  }

 private:
  /// The squared distance in bins; nothing if the cells are more than `reach` apart on an axis, or if a
  /// measure is known for only one of them.
  std::optional<std::size_t> distance(std::span<const std::size_t> a, std::span<const std::size_t> b,
                                      std::size_t reach) const {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      const std::size_t apart = a[i] < b[i] ? b[i] - a[i] : a[i] - b[i];
      if (apart > reach) return std::nullopt;
      if (apart > 0 && (a[i] == axes_[i].bins || b[i] == axes_[i].bins)) return std::nullopt;
      sum += apart * apart;
    }
    return sum;
  }
  static std::string short_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
  }

  std::vector<grid_axis> axes_;
  detail::cell_elites elites_;
};

inline std::vector<candidate_id> grid::neighbours(candidate_id id, std::size_t count) const {
  constexpr std::size_t reach = 2;
  const auto here = elites_.find(id);
  if (!here || count == 0) return {};
  const auto home = bins_of(here->cell);
  std::vector<std::pair<std::size_t, candidate_id>> near;
  const auto look = [&](const elite& one) {
    if (one.id == id) return;
    if (const auto away = distance(home, bins_of(one.cell), reach)) near.emplace_back(*away, one.id);
  };
  double cube = 1;
  for (std::size_t i = 0; i < axes_.size(); ++i) cube *= 2 * reach + 1;
  if (cube > static_cast<double>(size())) {
    for (std::size_t i = 0; i < size(); ++i) look(at(i));
  } else {
    std::vector<std::size_t> step(axes_.size(), 0);  // enumerates all cells of the cube
    for (bool more = true; more;) {
      std::uint64_t cell = 0;
      bool inside = true;
      for (std::size_t i = 0; i < axes_.size(); ++i) {
        const std::size_t bin = home[i] + step[i];  // shifted up by `reach`, to stay unsigned
        inside = inside && bin >= reach && bin - reach <= axes_[i].bins;
        cell = cell * (axes_[i].bins + 1) + (bin - reach);
      }
      if (inside) {
        if (const auto one = at_cell(cell)) look(*one);
      }
      more = false;
      for (std::size_t i = 0; i < step.size() && !more; ++i) {
        more = ++step[i] <= 2 * reach;
        if (!more) step[i] = 0;
      }
    }
  }
  std::sort(near.begin(), near.end());
  std::vector<candidate_id> result;
  for (std::size_t i = 0; i < std::min(count, near.size()); ++i) result.push_back(near[i].second);
  return result;
}

}  // namespace kevo
