#pragma once
// One elite a cell: what grid and CVT archives share.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <boost/unordered/unordered_flat_map.hpp>

#include <kevo/archive.hpp>
#include <kevo/detail/elite_order.hpp>

namespace kevo::detail {

/// The best candidate of every cell, of equal ones the older. The index from cells to elites is an array up
/// to 2^22 cells and a hash map above; the elites are a dense list, so that `sample` and `at` are O(1).
/// Nothing depends on the number of cells. Rank queries cost O(log elites), after a first one of O(elites log
/// elites).
class cell_elites {
 public:
  explicit cell_elites(std::uint64_t cells = 1) : cells_(cells) {
    if (cells <= dense_limit) dense_.assign(cells, nobody);
  }

  archive_result add(candidate_id id, double score, std::uint64_t cell) {
    if (!std::isfinite(score)) return {};
    if (slot_of_.contains(id)) return update(id, score, cell);
    const std::uint32_t slot = slot_at(cell);
    if (slot == nobody) {
      set_slot(cell, static_cast<std::uint32_t>(elites_.size()));
      slot_of_[id] = static_cast<std::uint32_t>(elites_.size());
      elites_.push_back({id, score, cell});
      order_.insert(id, score);
      return {archive_status::new_cell, score};
    }
    elite& holder = elites_[slot];
    const double gain = score - holder.score;
    if (!(gain > 0)) return {};
    order_.erase(holder.id, holder.score);
    order_.insert(id, score);
    slot_of_.erase(holder.id);
    slot_of_[id] = slot;
    holder.id = id;
    holder.score = score;
    return {archive_status::improved, gain};
  }

  /// A kept candidate keeps its cell whatever its new score (those it once displaced are not known any more):
  /// improved if it rose, rejected if not. If its cell changed, it leaves and is offered to the other one.
  archive_result update(candidate_id id, double score, std::uint64_t cell) {
    const auto it = slot_of_.find(id);
    if (it == slot_of_.end()) return add(id, score, cell);
    elite& kept = elites_[it->second];
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
    const auto it = slot_of_.find(id);
    if (it == slot_of_.end()) return false;
    const std::uint32_t slot = it->second;
    order_.erase(id, elites_[slot].score);
    set_slot(elites_[slot].cell, nobody);
    slot_of_.erase(it);
    if (slot + 1 < elites_.size()) {  // the last elite moves into the gap
      elites_[slot] = elites_.back();
      set_slot(elites_[slot].cell, slot);
      slot_of_[elites_[slot].id] = slot;
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
  bool contains(candidate_id id) const { return slot_of_.contains(id); }
  std::optional<elite> at_cell(std::uint64_t cell) const {
    const std::uint32_t slot = cell < cells_ ? slot_at(cell) : nobody;
    if (slot == nobody) return std::nullopt;
    return elites_[slot];
  }
  const ranking& order() const { return order_.of(*this); }

 private:
  static constexpr std::uint32_t nobody = ~std::uint32_t{0};
  static constexpr std::uint64_t dense_limit = std::uint64_t{1} << 22U;

  std::uint32_t slot_at(std::uint64_t cell) const {
    if (!dense_.empty()) return dense_[cell];
    const auto it = sparse_.find(cell);
    return it == sparse_.end() ? nobody : it->second;
  }
  void set_slot(std::uint64_t cell, std::uint32_t slot) {
    if (!dense_.empty()) {
      dense_[cell] = slot;
    } else if (slot == nobody) {
      sparse_.erase(cell);
    } else {
      sparse_[cell] = slot;
    }
  }

  std::uint64_t cells_;
  std::vector<elite> elites_;
  std::vector<std::uint32_t> dense_;  // from cell to slot in elites_, or
  boost::unordered_flat_map<std::uint64_t, std::uint32_t> sparse_;
  boost::unordered_flat_map<candidate_id, std::uint32_t> slot_of_;
  elite_order order_;
};

}  // namespace kevo::detail
