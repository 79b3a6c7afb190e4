#pragma once
// An archive that keeps the best candidate of each cell of a grid over features of the source: the feature
// map of OpenEvolve.

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/detail/cell_elites.hpp>
#include <kevo/error.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// Length, number of lines and set of byte values of a text, for OpenEvolve's fast distance of two texts. The
/// distance is 0.1 for each byte of difference in length, plus 10 for each line of difference in the number
/// of lines, plus 0.5 for each byte value that occurs in only one of the texts.
class text_traits {
 public:
  text_traits() = default;
  /// Reads a text. O(length of the text).
  explicit text_traits(std::string_view text)
      : length_(static_cast<double>(text.size())),
        lines_(static_cast<double>(std::count(text.begin(), text.end(), '\n'))) {
    bool has[256] = {};  // storing a byte for each character is several times as fast as setting bits
    for (const char c : text) has[static_cast<unsigned char>(c)] = true;
    for (unsigned code = 0; code < 256; ++code) has_[code / 64U] |= std::uint64_t{has[code]} << (code % 64U);
  }
  /// The length of the text, in bytes.
  double length() const { return length_; }
  /// The distance to the traits of another text, as described above; 0 for equal traits.
  double distance(const text_traits& other) const {
    double differing = 0;
    for (std::size_t i = 0; i < 4; ++i) differing += std::popcount(has_[i] ^ other.has_[i]);
    return 0.1 * std::abs(length_ - other.length_) + 10 * std::abs(lines_ - other.lines_) + 0.5 * differing;
  }

 private:
  double length_ = 0;
  double lines_ = 0;
  std::uint64_t has_[4] = {};
};

/// OpenEvolve's feature map: MAP-Elites over features of which `complexity` and `diversity` need no
/// evaluator. A candidate competes only with the elite of its cell. The features are `complexity` (length of
/// the source in bytes), `diversity` (mean distance of the source to the first `references` candidates, see
/// text_traits), `score`, and every measure by its name. Each feature has `bins` equal parts of the range of
/// the values seen so far. An elite keeps its cell when the ranges grow, as in OpenEvolve. Unknown values
/// (NaN) have a bin of their own, after the last one. An offer costs O(features + references) and one pass
/// over the source.
///
/// Differences from OpenEvolve: the references are the first candidates, where OpenEvolve chooses a diverse
/// subset of its first programs. Only offers change the ranges; in OpenEvolve selections change them, too.
class feature_map {
 public:
  /// Throws kevo::error (input) if there are no features or no bins, or for more than 2^40 cells.
  explicit feature_map(std::vector<std::string> features, std::size_t bins = 10, std::size_t references = 20)
      : features_(std::move(features)), bins_(bins), references_(references), seen_(features_.size()) {
    if (features_.empty()) throw error(error_code::input, "a feature map needs at least one feature");
    if (bins_ == 0) throw error(error_code::input, "a feature map needs at least one bin for each feature");
    std::uint64_t cells = 1;
    for (const std::string& name : features_) {
      if (bins_ >= (std::uint64_t{1} << 40U) / cells)
        throw error(error_code::input, "the feature map would have more than 2^40 cells", {{}, 0, 0, name},
                    "use fewer bins or fewer features");
      cells *= bins_ + 1;
      if (!is_own(name)) measures_.push_back(name);
    }
    elites_ = detail::cell_elites(cells);
  }

  archive_result add(const archive_entry& entry) {
    if (!std::isfinite(entry.score)) return {};
    const text_traits traits = traits_of(entry);
    const auto values = values_of(entry, traits);
    widen(seen_, values);
    const std::uint64_t cell = cell_of(values, seen_);
    if (known_.size() < references_) known_.push_back(traits);
    return elites_.add(entry.id, entry.score, cell);
  }
  /// A kept candidate keeps its cell; only its score changes. A candidate that is not kept is offered.
  archive_result update(const archive_entry& entry) {
    const auto here = elites_.find(entry.id);
    return here ? elites_.update(entry.id, entry.score, here->cell) : add(entry);
  }
  bool remove(candidate_id id) { return elites_.remove(id); }
  archive_forecast forecast(const archive_entry& entry, candidate_id without) const {
    const auto values = values_of(entry, traits_of(entry));
    std::vector<range> ranges = seen_;
    widen(ranges, values);
    return elites_.forecast(entry.score, cell_of(values, ranges), without);
  }
  /// At most `count` elites that are at most two bins away in every feature (OpenEvolve's neighbourhood),
  /// nearest first by Euclidean distance in bins. Of equally near elites, the older one comes first.
  /// O(elites).
  std::vector<candidate_id> neighbours(candidate_id id, std::size_t count) const {
    const auto here = elites_.find(id);
    if (!here) return {};
    const auto home = bins_of(here->cell);
    std::vector<std::pair<std::size_t, candidate_id>> near;
    for (std::size_t i = 0; i < elites_.size(); ++i) {
      const elite one = elites_.at(i);
      if (one.id == id) continue;
      const auto bins = bins_of(one.cell);
      std::size_t sum = 0;
      bool reached = true;
      for (std::size_t k = 0; k < bins.size(); ++k) {
        const std::size_t apart = bins[k] < home[k] ? home[k] - bins[k] : bins[k] - home[k];
        reached = reached && apart <= 2 && (apart == 0 || (bins[k] < bins_ && home[k] < bins_));
        sum += apart * apart;
      }
      if (reached) near.emplace_back(sum, one.id);
    }
    std::sort(near.begin(), near.end());
    std::vector<candidate_id> result;
    for (std::size_t i = 0; i < std::min(count, near.size()); ++i) result.push_back(near[i].second);
    return result;
  }

  std::optional<elite> sample(rng& random) const { return elites_.sample(random); }
  std::size_t size() const { return elites_.size(); }
  elite at(std::size_t i) const { return elites_.at(i); }
  bool contains(candidate_id id) const { return elites_.contains(id); }
  candidate_id nth_best(std::size_t rank) const { return elites_.order().nth(rank); }
  double total_score() const { return elites_.order().total(); }
  candidate_id at_mass(double mass) const { return elites_.order().at_mass(mass); }
  bool wants_source() const { return true; }
  /// The names of the features that are measures.
  std::vector<std::string> measures() const { return measures_; }
  /// The number of cells, without those for unknown values.
  std::size_t cells() const {
    std::size_t product = 1;
    for (std::size_t i = 0; i < features_.size(); ++i) product *= bins_;
    return product;
  }
  /// The bin of a cell for each feature, in the order of the features; `bins` for an unknown value.
  std::vector<std::size_t> bins_of(std::uint64_t cell) const {
    std::vector<std::size_t> bins(features_.size());
    for (std::size_t i = features_.size(); i-- > 0; cell /= bins_ + 1)
      bins[i] = static_cast<std::size_t>(cell % (bins_ + 1));
    return bins;
  }
  /// The bins of an elite as text, such as "complexity bin 3 of 10, score bin 9 of 10"; here bins count from
  /// 1.
  std::string describe(const elite& one) const {
    std::string text;
    const auto bins = bins_of(one.cell);
    for (std::size_t i = 0; i < bins.size(); ++i) {
      text += (i == 0 ? "" : ", ") + features_[i];
      text += bins[i] == bins_ ? std::string(" unknown")
                               : " bin " + std::to_string(bins[i] + 1) + " of " + std::to_string(bins_);
    }
    return text;
  }

 private:
  /// The range of the values of a feature so far.
  struct range {
    double least = std::numeric_limits<double>::infinity();
    double greatest = -std::numeric_limits<double>::infinity();

    void widen(double value) {
      if (!std::isfinite(value)) return;
      least = std::min(least, value);
      greatest = std::max(greatest, value);
    }
    /// The value scaled to [0, 1]; 0.5 while all values are equal.
    double scaled(double value) const {
      return greatest > least ? std::clamp((value - least) / (greatest - least), 0.0, 1.0) : 0.5;
    }
  };

  static bool is_own(std::string_view name) {
    return name == "complexity" || name == "diversity" || name == "score";
  }
  static text_traits traits_of(const archive_entry& entry) {
    return entry.source ? text_traits(entry.source->text()) : text_traits();
  }
  double diversity_of(const text_traits& traits) const {
    double sum = 0;
    for (const text_traits& one : known_) sum += traits.distance(one);
    return known_.empty() ? 0 : sum / static_cast<double>(known_.size());
  }
  std::vector<double> values_of(const archive_entry& entry, const text_traits& traits) const {
    std::vector<double> values;
    std::size_t next = 0;  // index of the next measure
    for (const std::string& name : features_) {
      if (name == "complexity") {
        values.push_back(traits.length());
      } else if (name == "diversity") {
        values.push_back(diversity_of(traits));
      } else if (name == "score") {
        values.push_back(entry.score);
      } else {
        values.push_back(next < entry.measures.size() ? entry.measures[next]
                                                      : std::numeric_limits<double>::quiet_NaN());
        ++next;
      }
    }
    return values;
  }
  std::uint64_t cell_of(std::span<const double> values, std::span<const range> ranges) const {
    std::uint64_t cell = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      std::size_t bin = bins_;
      if (!std::isnan(values[i])) {
        const double part = ranges[i].scaled(values[i]) * static_cast<double>(bins_);
        bin = std::min(static_cast<std::size_t>(part), bins_ - 1);
      }
      cell = cell * (bins_ + 1) + bin;
    }
    return cell;
  }
  static void widen(std::vector<range>& ranges, std::span<const double> values) {
    for (std::size_t i = 0; i < values.size(); ++i) ranges[i].widen(values[i]);
  }

  std::vector<std::string> features_;
  std::size_t bins_;
  std::size_t references_;
  std::vector<range> seen_;
  std::vector<text_traits> known_;  // the references
  std::vector<std::string> measures_;
  detail::cell_elites elites_;
};

}  // namespace kevo
