#pragma once
// An archive that keeps the best candidate of every cell of a grid over named measures: MAP-Elites (Mouret &
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

enum class axis_scale : std::uint8_t { linear, log };

/// One axis of a grid: `bins` equal parts of [low, high], equal in the logarithm if the scale is log.
struct grid_axis {
  std::string measure;
  std::size_t bins = 10;
  double low = 0;
  double high = 1;
  axis_scale scale = axis_scale::linear;

  /// The bin of a value: values outside the range count for the first and the last bin, infinities too; an
  /// unknown value (NaN) gets the bin after the last, so that a candidate that could not be measured neither
  /// is lost nor competes with others.
  std::size_t bin_of(double value) const {
    if (std::isnan(value)) return bins;
    if (!(value > low)) return 0;
    if (!(value < high)) return bins - 1;
    const double part = scale == axis_scale::log ? std::log(value / low) / std::log(high / low)
                                                 : (value - low) / (high - low);
    return std::min(static_cast<std::size_t>(part * static_cast<double>(bins)), bins - 1);
  }
  /// The lower edge of a bin; `edge(bins)` is the upper end.
  double edge(std::size_t bin) const {
    const double part = static_cast<double>(bin) / static_cast<double>(bins);
    return scale == axis_scale::log ? low * std::pow(high / low, part) : low + (high - low) * part;
  }
};

/// MAP-Elites (Mouret & Clune, "Illuminating search spaces by mapping elites", arXiv 1504.04909, 2015): a
/// candidate competes only with the one that holds its cell. Of equal scores the older one stays.
///
/// `add` is O(axes) and does not depend on the number of cells; `sample` and `at` are O(1), rank queries
/// O(log elites), after a first one of O(elites log elites).
class grid {
 public:
  /// Throws kevo::error (input) for an axis without bins or range, a logarithmic one that touches zero, or
  /// more than 2^62 cells.
  explicit grid(std::vector<grid_axis> axes, soft_threshold soft = {}) : axes_(std::move(axes)) {
    check(soft);
    std::uint64_t cells = 1;  // with one more bin an axis for unknown values
    for (const grid_axis& a : axes_) {
      const auto fail = [&a](const char* why) { throw error(error_code::input, why, {{}, 0, 0, a.measure}); };
      if (a.bins == 0) fail("a grid axis needs at least one bin");
      if (!(a.low < a.high) || !std::isfinite(a.low) || !std::isfinite(a.high)) {
        fail("the range of a grid axis must be [low, high] with low < high");
      }
      if (a.scale == axis_scale::log && !(a.low > 0)) fail("a logarithmic range must begin above 0");
      if (a.bins >= (std::uint64_t{1} << 62U) / cells) fail("the grid has too many cells");
      cells *= a.bins + 1;
    }
    elites_ = detail::cell_elites(cells, soft);
  }

  archive_result add(const archive_entry& entry) {
    return elites_.add(entry.id, entry.score, cell_of(entry.measures));
  }
  /// See detail::cell_elites::update.
  archive_result update(const archive_entry& entry) {
    return elites_.update(entry.id, entry.score, cell_of(entry.measures));
  }
  bool remove(candidate_id id) { return elites_.remove(id); }
  archive_forecast forecast(const archive_entry& entry, candidate_id without) const {
    return elites_.forecast(entry.score, cell_of(entry.measures), without);
  }
  /// Elites at most two bins away on every axis (OpenEvolve's neighbourhood), nearest first by Euclidean
  /// distance in bins, of equally near ones the older. O(min(5^axes, elites)).
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
  /// Cells of known measures; those of unknown ones come on top.
  std::size_t cells() const {
    std::size_t product = 1;
    for (const grid_axis& a : axes_) product *= a.bins;
    return product;
  }
  const std::vector<grid_axis>& axes() const { return axes_; }

  /// The bin on every axis, in their order; `bins` of the axis for an unknown measure.
  std::vector<std::size_t> bins_of(std::uint64_t cell) const {
    std::vector<std::size_t> bins(axes_.size());
    for (std::size_t i = axes_.size(); i-- > 0;) {
      bins[i] = static_cast<std::size_t>(cell % (axes_[i].bins + 1));
      cell /= axes_[i].bins + 1;
    }
    return bins;
  }
  /// The elite of a cell, e.g. of one that `neighbour` arithmetic on `bins_of` found.
  std::optional<elite> at_cell(std::uint64_t cell) const { return elites_.at_cell(cell); }
  /// The cell of measures, in the order of `axes()`; missing ones count as unknown.
  std::uint64_t cell_of(std::span<const double> measures) const {
    std::uint64_t cell = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      cell =
          cell * (axes_[i].bins + 1) + (i < measures.size() ? axes_[i].bin_of(measures[i]) : axes_[i].bins);
    }
    return cell;
  }
  /// "code_bytes 64..152, vector_fraction unknown"
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
  /// Squared; nothing if they are further than `reach` apart on an axis, or known on one side alone.
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
    std::vector<std::size_t> step(axes_.size(), 0);  // counts through the cube
    for (bool more = true; more;) {
      std::uint64_t cell = 0;
      bool inside = true;
      for (std::size_t i = 0; i < axes_.size(); ++i) {
        const std::size_t bin = home[i] + step[i];  // shifted up by `reach`
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
