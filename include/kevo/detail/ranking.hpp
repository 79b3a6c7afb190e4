#pragma once
// A set of (score, id) pairs, ordered with the best first, with access by rank and draws with weights that
// follow the scores.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace kevo::detail {

/// Candidates ordered by falling score, equal scores by rising id. Scores must be finite. The weight of a
/// candidate is its score while all scores are positive. Otherwise the scores are shifted so that every
/// weight is positive: the worst of n candidates has the weight (best score - worst score) / n, or 1 if all
/// scores are equal.
///
/// The entries are in sorted chunks of at most 256, under a binary tree of counts and masses (sums of
/// scores). Every operation costs O(log n) plus work within one chunk. About once in 128 insertions a chunk
/// splits, which moves the n/128 chunk headers. The masses along the changed path are computed again from the
/// entries, never updated by differences, so rounding errors do not accumulate in long runs.
class ranking {
 public:
  using id_type = std::uint32_t;

  std::size_t size() const { return tree_.empty() ? 0 : tree_[1].count; }
  bool empty() const { return size() == 0; }
  /// Sum of all weights.
  double total() const { return empty() ? 0 : weight(tree_[1], shift()); }

  /// Adds a pair that is not in the set.
  void insert(id_type id, double score) {
    const entry added{score, id};
    if (chunks_.empty()) {
      chunks_.emplace_back().reserve(capacity);
      last_.push_back(added);
      leaves_ = 1;
      tree_.assign(2, {});
    }
    const std::size_t c = std::min(chunk_of(added), chunks_.size() - 1);
    auto& entries = chunks_[c];
    entries.insert(std::lower_bound(entries.begin(), entries.end(), added, before), added);
    last_[c] = entries.back();
    if (entries.size() < capacity) {
      refresh(c);
    } else {
      split(c);
    }
  }

  /// Removes a pair; does nothing if it is not in the set.
  void erase(id_type id, double score) {
    const entry gone{score, id};
    const std::size_t c = chunk_of(gone);
    if (c == chunks_.size()) return;
    auto& entries = chunks_[c];
    const auto it = std::lower_bound(entries.begin(), entries.end(), gone, before);
    if (it == entries.end() || before(gone, *it)) return;
    entries.erase(it);
    if (!entries.empty()) last_[c] = entries.back();
    if (entries.empty() || merges(c)) {
      absorb(c);
    } else {
      refresh(c);
    }
  }

  /// The id of the candidate of rank `rank`, which must be less than size(). Rank 0 is the best.
  id_type nth(std::size_t rank) const {
    std::size_t at = 1;
    while (at < leaves_) {
      at *= 2;
      if (rank >= tree_[at].count) rank -= tree_[at++].count;
    }
    return chunks_[at - leaves_][rank].id;
  }

  /// The number of entries before the pair.
  std::size_t rank(id_type id, double score) const {
    const entry sought{score, id};
    const std::size_t c = chunk_of(sought);
    if (c == chunks_.size()) return size();
    const auto& entries = chunks_[c];
    auto result = static_cast<std::size_t>(std::lower_bound(entries.begin(), entries.end(), sought, before) -
                                           entries.begin());
    for (std::size_t at = c + leaves_; at > 1; at /= 2) {
      if (at % 2 == 1) result += tree_[at - 1].count;
    }
    return result;
  }

  /// The first entry at which the running sum of weights, best first, exceeds `mass`; the last entry if none
  /// does. The set must not be empty.
  id_type at_mass(double mass) const {
    const double up = shift();
    std::size_t at = 1;
    while (at < leaves_) {
      at *= 2;
      if (mass >= weight(tree_[at], up) && tree_[at + 1].count > 0) mass -= weight(tree_[at++], up);
    }
    const auto& entries = chunks_[at - leaves_];
    for (const entry& e : entries) {
      mass -= e.score + up;
      if (mass < 0) return e.id;
    }
    return entries.back().id;
  }

 private:
  struct entry {
    double score;
    id_type id;
  };
  struct node {
    std::size_t count = 0;
    double mass = 0;  ///< sum of scores
  };
  static constexpr std::size_t capacity = 256;

  static bool before(const entry& a, const entry& b) {
    return a.score > b.score || (a.score == b.score && a.id < b.id);
  }

  /// What is added to a score to get a weight.
  double shift() const {
    const double worst = chunks_.back().back().score;
    if (worst > 0) return 0;
    const double range = chunks_.front().front().score - worst;
    return (range > 0 ? range / static_cast<double>(size()) : 1) - worst;
  }
  static double weight(const node& n, double shift) { return n.mass + static_cast<double>(n.count) * shift; }

  /// The first chunk whose last entry does not come before `e`; the number of chunks if there is none.
  std::size_t chunk_of(const entry& e) const {
    return static_cast<std::size_t>(std::lower_bound(last_.begin(), last_.end(), e, before) - last_.begin());
  }

  static node sum(const std::vector<entry>& entries) {
    double lanes[4] = {0, 0, 0, 0};  // independent sums are faster, and the order of additions is fixed
    for (std::size_t i = 0; i < entries.size(); ++i) lanes[i % 4] += entries[i].score;
    return {entries.size(), (lanes[0] + lanes[1]) + (lanes[2] + lanes[3])};
  }

  /// Computes an inner node from its children.
  void combine(std::size_t at) {
    const node &left = tree_[2 * at], &right = tree_[2 * at + 1];
    tree_[at] = {left.count + right.count, left.mass + right.mass};
  }

  /// Computes the leaf of chunk `c` and the nodes above it again.
  void refresh(std::size_t c) {
    std::size_t at = c + leaves_;
    tree_[at] = sum(chunks_[c]);
    while ((at /= 2) >= 1) combine(at);
  }

  /// Whether chunk `c` and the next one are small enough to become one.
  bool merges(std::size_t c) const {
    return c + 1 < chunks_.size() && chunks_[c].size() + chunks_[c + 1].size() < capacity / 2;
  }

  /// Removes chunk `c` after moving its remaining entries to the next chunk.
  void absorb(std::size_t c) {
    const auto at = static_cast<std::ptrdiff_t>(c);
    if (!chunks_[c].empty()) {
      chunks_[c + 1].insert(chunks_[c + 1].begin(), chunks_[c].begin(), chunks_[c].end());
      tree_[c + 1 + leaves_] = sum(chunks_[c + 1]);
    }
    chunks_.erase(chunks_.begin() + at);
    last_.erase(last_.begin() + at);
    const auto leaf = tree_.begin() + static_cast<std::ptrdiff_t>(leaves_);
    std::move(leaf + at + 1, tree_.end(), leaf + at);
    tree_.back() = {};
    combine_all();
  }

  void combine_all() {
    for (std::size_t at = leaves_ - 1; at >= 1; --at) combine(at);
  }

  void split(std::size_t c) {
    auto& full = chunks_[c];
    // Insertions at one end only would leave every chunk half full, so the end chunks split unevenly.
    const std::size_t cut = c + 1 == chunks_.size() ? capacity * 7 / 8 : c == 0 ? capacity / 8 : capacity / 2;
    std::vector<entry> upper;
    upper.reserve(capacity);
    upper.assign(full.begin() + static_cast<std::ptrdiff_t>(cut), full.end());
    full.resize(cut);
    last_[c] = full.back();
    last_.insert(last_.begin() + static_cast<std::ptrdiff_t>(c) + 1, upper.back());
    chunks_.insert(chunks_.begin() + static_cast<std::ptrdiff_t>(c) + 1, std::move(upper));
    if (chunks_.size() > leaves_) {
      std::vector<node> wider(4 * leaves_);
      std::copy(tree_.begin() + static_cast<std::ptrdiff_t>(leaves_), tree_.end(),
                wider.begin() + static_cast<std::ptrdiff_t>(2 * leaves_));
      tree_ = std::move(wider);
      leaves_ *= 2;
    }
    const auto leaf = tree_.begin() + static_cast<std::ptrdiff_t>(leaves_ + c);
    std::move_backward(leaf + 1, tree_.end() - 1, tree_.end());
    leaf[0] = sum(chunks_[c]);
    leaf[1] = sum(chunks_[c + 1]);
    combine_all();
  }

  std::vector<std::vector<entry>> chunks_;
  std::vector<entry> last_;  // the last entry of each chunk, contiguous for the search
  std::vector<node> tree_;   // root 1, children of i: 2i and 2i + 1, first leaf: leaves_
  std::size_t leaves_ = 0;
};

}  // namespace kevo::detail
