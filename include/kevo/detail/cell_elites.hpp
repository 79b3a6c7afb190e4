#pragma once
// At most one elite for each cell: the storage of archives with cells (grid, cvt, sliding, feature_map).

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/archive/soft_threshold.hpp>
#include <kevo/detail/elite_order.hpp>

namespace kevo::detail {

/// The best candidate of every cell; of equal scores the older one. With a soft threshold it is the latest
/// candidate that was above the threshold of its cell. The index from cells to elites is an array for up to
/// 2^22 cells and a hash map above. The index from candidates to elites is an array, because ids are dense.
/// The elites are a dense list, so that `sample` and `at` are O(1). Except for construction, no cost depends
/// on the number of cells. The first rank query costs O(elites log elites), further ones O(log elites).
class cell_elites {
 public:
  explicit cell_elites(std::uint64_t cells = 1, soft_threshold soft = {}) : cells_(cells), soft_(soft) {
    if (cells <= dense_limit) dense_.assign(cells, no_slot);
  }

  archive_result add(candidate_id id, double score, std::uint64_t cell) {
    if (!std::isfinite(score)) return {};
    if (contains(id)) return update(id, score, cell);
    const std::uint32_t slot = slot_at(cell);
    double bar = slot == no_slot ? 0 : elites_[slot].score;
    if (soft_.on()) {
      double& threshold = thresholds_.try_emplace(cell, soft_.least).first->second;
      bar = threshold;
      if (score > bar) threshold += soft_.rate * (score - threshold);
    }
    if (slot == no_slot) {
      if (soft_.on() && !(score > bar)) return {};
      set_slot(cell, static_cast<std::uint32_t>(elites_.size()));
      remember(id, static_cast<std::uint32_t>(elites_.size()));
      elites_.push_back({id, score, cell});
      order_.insert(id, score);
      return {archive_status::new_cell, soft_.on() ? score - bar : score};
    }
    const double gain = score - bar;
    if (!(gain > 0)) return {};
    elite& holder = elites_[slot];
    order_.erase(holder.id, holder.score);
    order_.insert(id, score);
    remember(id, slot);
    holder.id = id;
    holder.score = score;
    return {archive_status::improved, gain};
  }

  /// A kept candidate keeps its cell whatever its new score, because the candidates that it displaced are no
  /// longer known: `improved` if the score increased, else `rejected`. If its cell changed, it is removed and
  /// offered to the new cell.
  archive_result update(candidate_id id, double score, std::uint64_t cell) {
    const std::uint32_t slot = slot_of(id);
    if (slot == no_slot) return add(id, score, cell);
    elite& kept = elites_[slot];
    if (!std::isfinite(score) || cell != kept.cell) {
      remove(id);
      return add(id, score, cell);
    }
    const double gain = score - kept.score;
    order_.erase(kept.id, kept.score);
    order_.insert(kept.id, score);
    kept.score = score;
    return gain > 0 ? archive_result{archive_status::improved, gain} : archive_result{};
  }

  bool remove(candidate_id id) {
    const std::uint32_t slot = slot_of(id);
    if (slot == no_slot) return false;
    order_.erase(id, elites_[slot].score);
    set_slot(elites_[slot].cell, no_slot);
    if (slot + 1 < elites_.size()) {  // the last elite moves into the gap
      elites_[slot] = elites_.back();
      set_slot(elites_[slot].cell, slot);
      remember(elites_[slot].id, slot);
    }
    elites_.pop_back();
    return true;
  }

  std::optional<elite> sample(rng& random) const {
    if (elites_.empty()) return std::nullopt;
    return elites_[random.below(elites_.size())];
  }
  std::size_t size() const { return elites_.size(); }
  elite at(std::size_t i) const { return elites_[i]; }
  bool contains(candidate_id id) const { return slot_of(id) != no_slot; }
  std::optional<elite> find(candidate_id id) const {
    const std::uint32_t slot = slot_of(id);
    if (slot == no_slot) return std::nullopt;
    return elites_[slot];
  }
  std::optional<elite> at_cell(std::uint64_t cell) const {
    const std::uint32_t slot = cell < cells_ ? slot_at(cell) : no_slot;
    if (slot == no_slot) return std::nullopt;
    return elites_[slot];
  }
  archive_forecast forecast(double score, std::uint64_t cell, candidate_id without) const {
    auto holder = at_cell(cell);
    if (holder && holder->id == without) holder.reset();
    double bar = holder ? holder->score : -INFINITY;
    if (soft_.on()) {
      const auto it = thresholds_.find(cell);
      bar = it == thresholds_.end() ? soft_.least : it->second;
    }
    archive_forecast result{true, std::isfinite(score) && score > bar, {}};
    if (result.kept && holder) result.displaced = {holder->id};
    return result;
  }
  const ranking& order() const { return order_.of(*this); }

 private:
  static constexpr std::uint32_t no_slot = ~std::uint32_t{0};
  static constexpr std::uint64_t dense_limit = std::uint64_t{1} << 22U;

  /// Entries of `slots_` are never removed: an entry is valid only if the elite in its slot has this id.
  std::uint32_t slot_of(candidate_id id) const {
    if (id >= slots_.size()) return no_slot;
    const std::uint32_t slot = slots_[id];
    return slot < elites_.size() && elites_[slot].id == id ? slot : no_slot;
  }
  void remember(candidate_id id, std::uint32_t slot) {
    if (id >= slots_.size()) slots_.resize(id + std::size_t{1});
    slots_[id] = slot;
  }
  std::uint32_t slot_at(std::uint64_t cell) const {
    if (!dense_.empty()) return dense_[cell];
    const auto it = sparse_.find(cell);
    return it == sparse_.end() ? no_slot : it->second;
  }
  void set_slot(std::uint64_t cell, std::uint32_t slot) {
    if (!dense_.empty()) {
      dense_[cell] = slot;
    } else if (slot == no_slot) {
      sparse_.erase(cell);
    } else {
      sparse_[cell] = slot;
    }
  }

  std::uint64_t cells_;
  soft_threshold soft_;
  std::vector<elite> elites_;
  std::vector<std::uint32_t> dense_;  // from cell to slot in elites_; empty if sparse_ is used
  std::unordered_map<std::uint64_t, std::uint32_t> sparse_;
  std::vector<std::uint32_t> slots_;                      // from candidate to slot, with stale entries
  std::unordered_map<std::uint64_t, double> thresholds_;  // of cells that were offered something
  elite_order order_;
};

}  // namespace kevo::detail
