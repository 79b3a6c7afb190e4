#pragma once
// An archive made of several archives: islands whose candidates evolve separately and that exchange a few of
// them (FunSearch, OpenEvolve).

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include <kevo/archive.hpp>
#include <kevo/archive/topology.hpp>
#include <kevo/detail/point_elites.hpp>

namespace kevo {

/// Settings of migration, spawning and culling. An offer is an evaluation of a valid candidate that is not an
/// elite at that time.
struct islands_settings {
  /// Number of candidates that an island accepts between two of its migrations (OpenEvolve).
  std::size_t interval = 50;
  bool count_rejected = false;  ///< whether `interval` counts candidates that the island rejects, too
  /// Fraction of the elites of an island, the best ones, that a migration offers to its neighbours
  /// (OpenEvolve).
  double share = 0.1;
  std::size_t most = 0;  ///< maximum number of islands; values up to the initial number disable spawning
  /// Number of improvements per offer below which an island is spawned (AdaEvolve: per evaluation).
  double spawn_below = 0.015;
  std::size_t cooldown = 30;  ///< number of offers between two spawnings, and before the first (AdaEvolve)
  std::size_t cull_interval = 0;  ///< number of offers between two cullings; 0 disables culling
  double cull_share = 0.5;        ///< fraction of the islands, the worst, that are emptied (FunSearch)
};

/// Islands of any archive (FunSearch: Romera-Paredes et al., Nature 625, 2024; OpenEvolve; topologies as in
/// pagmo2). Children join the island of their first parent; seeds are assigned to the islands in turn. Each
/// candidate is on one island at most.
///
/// Migration: after `interval` accepted candidates (or offered ones, see `count_rejected`: OpenEvolve counts
/// all, and a full archive accepts few), an island offers its best `share` to its neighbours in turn, each
/// elite once at most. A migrant moves if its niche on the other island is free. If it is better than the one
/// elite in that niche, the two exchange places; otherwise it stays. Migration therefore neither adds nor
/// removes elites (an archive without `forecast` may lose one to a migrant that is better).
///
/// Culling: after every `cull_interval` offers, the worst `cull_share` of the islands, by their best elite,
/// are emptied, but never the island with the best candidate. Spawning: when the fraction of offers that
/// improve on the best elite of their island, averaged over about the last `interval` offers, falls below
/// `spawn_below`, an empty island is added next to the island with the best candidate, at most once in
/// `cooldown` offers. The next child born on another island becomes the first member of an empty island.
///
/// Selectors draw from all islands together, unless `on_islands` (select/on_islands.hpp) is used: it applies
/// a selector to one island at a time, which keeps the islands separate. An offer costs twice as much as in
/// the inner archive, plus O(log elites) for each move of a migration.
class islands {
 public:
  /// `kind` is an empty archive; every island gets a copy of it. `graph` gives the number of islands and the
  /// routes of migrants. Throws kevo::error (input) if there are no islands.
  islands(any_archive kind, topology graph, islands_settings settings = {})
      : kind_(std::move(kind)), graph_(std::move(graph)), settings_(settings) {
    if (graph_.size() == 0) throw error(error_code::input, "an archive of islands needs at least one island");
    for (std::size_t i = 0; i < graph_.size(); ++i) add_island();
  }

  archive_result add(const archive_entry& entry) {
    if (const auto here = island_of(entry.id)) return offer(*here, entry);
    if (settings_.cull_interval > 0 && ++offers_ % settings_.cull_interval == 0) cull();
    const std::size_t here = island_for(entry);
    const double best_before = best_of(here);
    const archive_result result = offer(here, entry);
    const bool kept = result.status != archive_status::rejected;
    const bool improved = kept && entry.score > best_before;
    productivity_ += ((improved ? 1.0 : 0.0) - productivity_) /
                     static_cast<double>(std::max<std::size_t>(settings_.interval, 1));
    ++since_spawn_;
    if ((kept || settings_.count_rejected) && ++islands_[here].since_migration >= settings_.interval)
      migrate(here);
    if (productivity_ < settings_.spawn_below && since_spawn_ >= settings_.cooldown &&
        islands_.size() < settings_.most)
      spawn();
    return result;
  }
  archive_result update(const archive_entry& entry) { return add(entry); }
  bool remove(candidate_id id) {
    const auto here = island_of(id);
    if (!here) return false;
    islands_[*here].kept.remove(id);
    forget(id);
    return true;
  }

  std::optional<elite> sample(rng& random) const { return all_.sample(random); }
  std::size_t size() const { return all_.size(); }
  /// The elite with index i; its `cell` is the number of its island.
  elite at(std::size_t i) const {
    elite one = all_.at(i);
    one.cell = *island_of(one.id);
    return one;
  }
  bool contains(candidate_id id) const { return all_.find(id).has_value(); }
  candidate_id nth_best(std::size_t rank) const { return all_.order().nth(rank); }
  double total_score() const { return all_.order().total(); }
  candidate_id at_mass(double mass) const { return all_.order().at_mass(mass); }
  std::vector<std::string> measures() const { return kind_.measures(); }
  std::size_t cells() const { return kind_.cells() * islands_.size(); }
  bool wants_source() const { return kind_.wants_source(); }
  std::string describe(const elite& one) const { return "island " + std::to_string(one.cell); }
  /// The nearest elites on the candidate's own island.
  std::vector<candidate_id> neighbours(candidate_id id, std::size_t count) const {
    const auto here = island_of(id);
    if (!here) return {};
    return islands_[*here].kept.neighbours(id, count);
  }

  /// The number of islands.
  std::size_t count() const { return islands_.size(); }
  /// The archive of island i. The reference is valid until the next change.
  const any_archive& island(std::size_t i) const { return islands_[i].kept; }
  /// The island of an elite; nothing if the candidate is not an elite.
  std::optional<std::size_t> island_of(candidate_id id) const {
    const auto it = residents_.find(id);
    if (it == residents_.end()) return std::nullopt;
    return it->second.island;
  }
  /// The island on which the children of a candidate are born, whether the candidate is kept or not; nothing
  /// if it was never offered or its island was culled.
  std::optional<std::size_t> home_of(candidate_id id) const {
    if (id >= home_.size() || home_[id] == 0) return std::nullopt;
    const std::size_t here = island_of_lifetime_[home_[id] - 1];
    return here == nowhere ? std::nullopt : std::optional(here);
  }
  /// The number of migrations so far; an exchange of two elites counts as one.
  std::size_t migrations() const { return migrations_; }

 private:
  struct island_state {
    any_archive kept;
    std::uint32_t lifetime = 0;       // a new number after culling, so that former elites have no home island
    std::size_t since_migration = 0;  // counted for `interval`
    std::size_t next_neighbour = 0;
    std::size_t elite_count = 0;
    detail::point_elites not_migrated{0};  // those elites that have not been offered to another island
  };
  /// What is needed to offer an elite again, to another island.
  struct resident {
    std::size_t island = 0;
    std::vector<double> measures;
    std::shared_ptr<const program> source;
    bool migrated = false;
  };
  static constexpr std::size_t nowhere = ~std::size_t{0};

  /// Adds an empty island.
  void add_island() {
    islands_.push_back({kind_, static_cast<std::uint32_t>(island_of_lifetime_.size())});
    island_of_lifetime_.push_back(islands_.size() - 1);
  }

  /// The island for a new candidate: for seeds the next one in turn; for children of candidates whose island
  /// was culled the island with the best candidate; otherwise an empty island if there is one, else the
  /// island of the first parent.
  std::size_t island_for(const archive_entry& entry) {
    if (entry.parents.empty()) return turn_++ % islands_.size();
    const candidate_id parent = entry.parents.front();
    const std::size_t home =
        parent < home_.size() && home_[parent] > 0 ? island_of_lifetime_[home_[parent] - 1] : nowhere;
    if (home == nowhere) return best_island();
    if (islands_[home].elite_count == 0) return home;
    for (std::size_t i = 0; i < islands_.size(); ++i) {
      if (islands_[i].elite_count == 0) return i;
    }
    return home;
  }

  /// Offers an entry to an island and updates the records of the entry and of the elites it displaced.
  archive_result offer(std::size_t here, const archive_entry& entry) {
    island_state& at = islands_[here];
    const auto rivals = at.kept.forecast(entry, entry.id).displaced;
    const archive_result result = at.kept.contains(entry.id) ? at.kept.update(entry) : at.kept.add(entry);
    for (const candidate_id rival : rivals) {
      if (rival != entry.id && !at.kept.contains(rival)) forget(rival);
    }
    if (at.kept.contains(entry.id)) {
      remember(here, entry);
    } else {
      forget(entry.id);
      set_home(entry.id, here);  // its children are born here although it is not kept
    }
    if (at.elite_count != at.kept.size()) forget_displaced(here);
    return result;
  }
  void remember(std::size_t here, const archive_entry& entry) {
    const auto it = residents_.find(entry.id);
    const bool migrated = it != residents_.end() && it->second.migrated;
    forget(entry.id);
    residents_[entry.id] = {here, {entry.measures.begin(), entry.measures.end()}, entry.source, migrated};
    if (!migrated) islands_[here].not_migrated.insert(entry.id, entry.score, {});
    all_.insert(entry.id, entry.score, {});
    ++islands_[here].elite_count;
    set_home(entry.id, here);
  }
  void forget(candidate_id id) {
    const auto it = residents_.find(id);
    if (it == residents_.end()) return;
    --islands_[it->second.island].elite_count;
    islands_[it->second.island].not_migrated.remove(id);
    residents_.erase(it);
    all_.remove(id);
  }
  void set_home(candidate_id id, std::size_t here) {
    if (id >= home_.size()) home_.resize(id + std::size_t{1});
    home_[id] = islands_[here].lifetime + 1;
  }
  /// Removes the records of displaced elites, for archives whose forecast does not name them.
  void forget_displaced(std::size_t here) {
    std::vector<candidate_id> gone;
    for (const auto& [id, one] : residents_) {
      if (one.island == here && !islands_[here].kept.contains(id)) gone.push_back(id);
    }
    for (const candidate_id id : gone) forget(id);
  }

  void migrate(std::size_t here) {
    island_state& from = islands_[here];
    from.since_migration = 0;
    const auto destinations = graph_.neighbours(here);
    if (destinations.empty()) return;
    const auto offered =
        static_cast<std::size_t>(std::ceil(settings_.share * static_cast<double>(from.elite_count)));
    if (offered == 0) return;
    // Of the best elites, most have migrated before, so only the others are considered.
    const elite last = *all_.find(from.kept.nth_best(std::min(offered, from.elite_count) - 1));
    std::vector<candidate_id> migrants;
    while (migrants.size() < from.not_migrated.size()) {
      const elite next = *all_.find(from.not_migrated.order().nth(migrants.size()));
      if (next.score < last.score || (next.score == last.score && next.id > last.id)) break;
      migrants.push_back(next.id);
    }
    for (const candidate_id id : migrants) {
      if (from.elite_count < 2) return;  // the last elite stays
      const std::size_t to = destinations[from.next_neighbour++ % destinations.size()];
      residents_.at(id).migrated = true;
      from.not_migrated.remove(id);
      move(id, here, to);
    }
  }
  void move(candidate_id id, std::size_t here, std::size_t there) {
    const resident mine = residents_.at(id);
    const archive_entry entry{id, all_.find(id)->score, mine.measures, {}, mine.source};
    any_archive &from = islands_[here].kept, &to = islands_[there].kept;
    const auto forecast_there = to.forecast(entry);
    if (!forecast_there.known) {
      if (to.add(entry).status == archive_status::rejected) return;
      from.remove(id);
    } else if (forecast_there.kept && forecast_there.displaced.empty()) {
      from.remove(id);
      to.add(entry);
    } else if (forecast_there.kept && forecast_there.displaced.size() == 1) {
      const candidate_id other = forecast_there.displaced.front();
      const resident theirs = residents_.at(other);
      const archive_entry back{other, all_.find(other)->score, theirs.measures, {}, theirs.source};
      const auto forecast_here = from.forecast(back, id), forecast_swap = to.forecast(entry, other);
      if (!forecast_here.kept || !forecast_here.displaced.empty() || !forecast_swap.kept ||
          !forecast_swap.displaced.empty())
        return;
      from.remove(id), to.remove(other);
      from.add(back), to.add(entry);
      relocate(other, there, here);
    } else {
      return;
    }
    relocate(id, here, there);
    if (islands_[there].elite_count != to.size()) forget_displaced(there);
    ++migrations_;
  }
  void relocate(candidate_id id, std::size_t from, std::size_t to) {
    residents_.at(id).island = to;
    if (islands_[from].not_migrated.remove(id))
      islands_[to].not_migrated.insert(id, all_.find(id)->score, {});
    set_home(id, to);
    --islands_[from].elite_count;
    ++islands_[to].elite_count;
  }

  double best_of(std::size_t i) const {
    return islands_[i].elite_count == 0 ? -INFINITY : all_.find(islands_[i].kept.nth_best(0))->score;
  }
  std::size_t best_island() const {
    std::size_t best = 0;
    for (std::size_t i = 1; i < islands_.size(); ++i) best = best_of(i) > best_of(best) ? i : best;
    return best;
  }
  void cull() {
    std::vector<std::size_t> order(islands_.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [this](auto a, auto b) { return best_of(a) > best_of(b); });
    const auto culled = static_cast<std::size_t>(settings_.cull_share * static_cast<double>(order.size()));
    for (std::size_t i = std::max<std::size_t>(1, order.size() - std::min(culled, order.size()));
         i < order.size(); ++i) {
      island_state& lost = islands_[order[i]];
      std::vector<candidate_id> ids;
      for (std::size_t k = 0; k < lost.kept.size(); ++k) ids.push_back(lost.kept.at(k).id);
      for (const candidate_id id : ids) forget(id);
      island_of_lifetime_[lost.lifetime] = nowhere;
      lost = {kind_, static_cast<std::uint32_t>(island_of_lifetime_.size())};
      island_of_lifetime_.push_back(order[i]);
    }
  }
  void spawn() {
    graph_.grow(best_island());
    add_island();
    productivity_ = 1;
    since_spawn_ = 0;
  }

  any_archive kind_;
  topology graph_;
  islands_settings settings_;
  std::vector<island_state> islands_;
  std::vector<std::size_t> island_of_lifetime_;
  std::vector<std::uint32_t> home_;  // by candidate, kept or not: lifetime + 1; 0 if not offered yet
  std::unordered_map<candidate_id, resident> residents_;
  detail::point_elites all_{0};
  std::size_t turn_ = 0;
  std::size_t offers_ = 0;
  std::size_t migrations_ = 0;
  double productivity_ = 1;
  std::size_t since_spawn_ = 0;  // offers
};

}  // namespace kevo
