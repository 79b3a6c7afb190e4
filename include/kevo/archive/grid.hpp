#pragma once
// MAP-Elites: the best candidate of every cell of a grid over named measures.

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
  explicit grid(std::vector<grid_axis> axes) : axes_(std::move(axes)) {
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
    elites_ = detail::cell_elites(cells);
  }

  archive_result add(const archive_entry& entry) {
    return elites_.add(entry.id, entry.score, cell_of(entry.measures));
  }
  /// See detail::cell_elites::update.
  archive_result update(const archive_entry& entry) {
    return elites_.update(entry.id, entry.score, cell_of(entry.measures));
  }
  bool remove(candidate_id id) { return elites_.remove(id); }

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
  static std::string short_number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.4g", value);
    return text;
  }

  std::vector<grid_axis> axes_;
  detail::cell_elites elites_;
};

}  // namespace kevo
