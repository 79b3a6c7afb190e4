#pragma once
// A grid whose cell boundaries follow the measures of recent candidates: MAP-Elites with sliding boundaries
// (Fontaine et al., 2019).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/detail/cell_elites.hpp>
#include <kevo/error.hpp>

namespace kevo {

/// A measure and its number of bins; the range is learned from the candidates.
struct sliding_axis {
  std::string measure;    ///< name of the measure
  std::size_t bins = 10;  ///< number of bins, without that of unknown values
};

/// MAP-Elites with sliding boundaries (Fontaine et al., "Mapping Hearthstone deck spaces through MAP-Elites
/// with sliding boundaries", GECCO 2019): the boundaries of every axis are percentiles of its measure over
/// the last `window` candidates. They are computed again after every `remap` candidates; then all elites and
/// all candidates of the window are put into their new cells, and the best one of each cell stays. Use it for
/// measures whose range is not known in advance. Unknown measures (NaN) have a bin of their own. A candidate
/// that is removed, for example after it failed a confirmation, is also removed from the window, so it does
/// not return.
///
/// `add` is O(axes log bins) between two remaps, plus O(log elites) after a rank query; a remap costs O(cells
/// + (elites + window) log window).
class sliding {
 public:
  /// Throws kevo::error (input) if there is no axis, for an axis without bins, or for more than 2^22 cells.
  explicit sliding(std::vector<sliding_axis> axes, std::size_t remap = 100, std::size_t window = 1000)
      : axes_(std::move(axes)),
        remap_(std::max<std::size_t>(remap, 1)),
        window_(std::max<std::size_t>(window, 1)) {
    if (axes_.empty())
      throw error(error_code::input, "an archive with sliding boundaries needs at least one measure");
    for (const sliding_axis& a : axes_) {
      if (a.bins == 0 || a.bins >= (std::uint64_t{1} << 22U) / all_cells_) {
        throw error(error_code::input,
                    a.bins == 0 ? "the measure needs at least one bin"
                                : "the archive would have more than 2^22 cells",
                    {{}, 0, 0, a.measure}, a.bins == 0 ? "" : "use fewer bins or fewer measures");
      }
      all_cells_ *= a.bins + 1;
    }
    bounds_.resize(axes_.size());
    elites_ = detail::cell_elites(all_cells_);
  }

  archive_result add(const archive_entry& entry) {
    if (!std::isfinite(entry.score)) return {};
    if (elites_.contains(entry.id)) return update(entry);
    std::vector<double> measures(entry.measures.begin(), entry.measures.end());
    measures.resize(axes_.size(), NAN);
    recent_.push_back({entry.id, entry.score, measures});
    if (recent_.size() > window_) recent_.pop_front();
    const std::uint64_t cell = cell_of(measures);
    const auto rival = elites_.forecast(entry.score, cell, entry.id).displaced;
    archive_result result = elites_.add(entry.id, entry.score, cell);
    if (result.status != archive_status::rejected) {
      for (const candidate_id gone : rival) measures_.erase(gone);
      measures_[entry.id] = std::move(measures);
    }
    if (++offers_ % remap_ == 0) {
      remap();
      const bool kept = elites_.contains(entry.id);
      if (!kept) result = {};
      if (kept && result.status == archive_status::rejected) result = {archive_status::new_cell, entry.score};
    }
    return result;
  }
  /// A kept candidate keeps its cell whatever its new score: `improved` if the score increased, else
  /// `rejected`. If its measures changed so that its cell changed, it is removed and offered to the new cell.
  /// A candidate that is not kept is offered.
  archive_result update(const archive_entry& entry) {
    if (!elites_.contains(entry.id)) return add(entry);
    std::vector<double> measures(entry.measures.begin(), entry.measures.end());
    measures.resize(axes_.size(), NAN);
    for (seen& one : recent_) {
      if (one.id == entry.id) one.score = entry.score, one.measures = measures;
    }
    const std::uint64_t cell = cell_of(measures);
    const auto rival = elites_.forecast(entry.score, cell, entry.id).displaced;
    const archive_result result = elites_.update(entry.id, entry.score, cell);
    for (const candidate_id id : rival) {
      if (!elites_.contains(id)) measures_.erase(id);
    }
    measures_.erase(entry.id);
    if (elites_.contains(entry.id)) measures_[entry.id] = std::move(measures);
    return result;
  }
  bool remove(candidate_id id) {
    std::erase_if(recent_, [id](const seen& one) { return one.id == id; });
    measures_.erase(id);
    return elites_.remove(id);
  }

  std::optional<elite> sample(rng& random) const { return elites_.sample(random); }
  std::size_t size() const { return elites_.size(); }
  elite at(std::size_t i) const { return elites_.at(i); }
  bool contains(candidate_id id) const { return elites_.contains(id); }
  candidate_id nth_best(std::size_t rank) const { return elites_.order().nth(rank); }
  double total_score() const { return elites_.order().total(); }
  candidate_id at_mass(double mass) const { return elites_.order().at_mass(mass); }
  std::vector<std::string> measures() const {
    std::vector<std::string> names;
    for (const sliding_axis& a : axes_) names.push_back(a.measure);
    return names;
  }
  /// The number of cells, without those for unknown measures.
  std::size_t cells() const {
    std::size_t product = 1;
    for (const sliding_axis& a : axes_) product *= a.bins;
    return product;
  }
  /// The inner boundaries of an axis in rising order; none before the first remap, when all values share one
  /// bin.
  const std::vector<double>& boundaries(std::size_t axis) const { return bounds_[axis]; }
  /// The cell of the given measures, in the order of the axes; missing ones count as unknown.
  std::uint64_t cell_of(std::span<const double> measures) const {
    std::uint64_t cell = 0;
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      const double x = i < measures.size() ? measures[i] : NAN;
      const auto& edges = bounds_[i];
      const auto bin =
          std::isnan(x)
              ? axes_[i].bins
              : static_cast<std::size_t>(std::upper_bound(edges.begin(), edges.end(), x) - edges.begin());
      cell = cell * (axes_[i].bins + 1) + bin;
    }
    return cell;
  }

 private:
  struct seen {
    candidate_id id = no_candidate;
    double score = 0;
    std::vector<double> measures;
  };

  void remap() {
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      std::vector<double> values;
      for (const seen& one : recent_) {
        if (!std::isnan(one.measures[i])) values.push_back(one.measures[i]);
      }
      if (values.empty()) continue;
      std::sort(values.begin(), values.end());
      bounds_[i].clear();
      for (std::size_t b = 1; b < axes_[i].bins; ++b) {
        bounds_[i].push_back(values[std::min(b * values.size() / axes_[i].bins, values.size() - 1)]);
      }
    }
    std::map<candidate_id, seen> all;  // by age, so that of equal scores the older candidate stays
    for (std::size_t i = 0; i < elites_.size(); ++i) {
      const elite one = elites_.at(i);
      all[one.id] = {one.id, one.score, measures_.at(one.id)};
    }
    for (const seen& one : recent_) all.try_emplace(one.id, one);
    elites_ = detail::cell_elites(all_cells_);
    for (const auto& [id, one] : all) elites_.add(id, one.score, cell_of(one.measures));
    measures_.clear();
    for (auto& [id, one] : all) {
      if (elites_.contains(id)) measures_[id] = std::move(one.measures);
    }
  }

  std::vector<sliding_axis> axes_;
  std::size_t remap_;
  std::size_t window_;
  std::uint64_t all_cells_ = 1;
  std::vector<std::vector<double>> bounds_;
  std::deque<seen> recent_;
  std::unordered_map<candidate_id, std::vector<double>> measures_;  // of elites
  detail::cell_elites elites_;
  std::size_t offers_ = 0;
};

}  // namespace kevo
