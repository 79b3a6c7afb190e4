#pragma once
// The role of an archive: it decides which candidates are kept as elites. This header has the concept
// `archive` and the type-erased `any_archive`; the shipped archives are in archive/*.hpp.

#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <kevo/candidate.hpp>
#include <kevo/detail/clone_ptr.hpp>
#include <kevo/detail/elite_order.hpp>
#include <kevo/random.hpp>

namespace kevo {

/// What an archive did with a candidate. `rejected`: it is not kept, or it was kept already and its score has
/// not risen. `improved`: it displaced another elite, or its own score has risen. `new_cell`: it is kept and
/// displaced nothing.
enum class archive_status : std::uint8_t { rejected, improved, new_cell };

/// The names of the values of `archive_status`, in their order.
inline constexpr std::array<std::string_view, 3> archive_status_names = {"rejected", "improved", "new_cell"};
/// The name of a status, as the journal stores it.
inline constexpr std::string_view to_string(archive_status s) {
  return archive_status_names[static_cast<std::size_t>(s)];
}

/// The answer of an archive to a candidate that was offered. `value` is the gain in score over the elite that
/// was displaced, or over the candidate's own earlier score. For `new_cell` it is the score itself, which may
/// be any finite number.
struct archive_result {
  archive_status status = archive_status::rejected;
  double value = 0;
  friend bool operator==(const archive_result&, const archive_result&) = default;
};

/// A candidate that is offered to an archive. `measures` are in the order of the archive's `measures()`; NaN
/// for a measure that is missing. `parents` may be empty. `source` is null unless the archive asks for it
/// (`wants_source()`).
struct archive_entry {
  candidate_id id = no_candidate;
  double score = 0;
  std::span<const double> measures;
  std::span<const candidate_id> parents{};
  std::shared_ptr<const program> source{};
};

/// A prediction of what `add` would do. `known` is false if the archive cannot predict it.
struct archive_forecast {
  bool known = false;
  bool kept = false;                    ///< whether the entry would be kept
  std::vector<candidate_id> displaced;  ///< the elites that would be removed
};

/// A candidate that is kept. `cell` is the number that the archive gives to its niche; 0 if the archive has
/// no niches.
struct elite {
  candidate_id id = no_candidate;
  double score = 0;
  std::uint64_t cell = 0;
  friend bool operator==(const elite&, const elite&) = default;
};

/// A container of elites. Required:
///   - `add(entry)` offers a valid candidate.
///   - `update(entry)` changes the score of an elite after another evaluation; if it is not kept, offers it.
///   - `remove(id)` removes a candidate whose later evaluation was not valid; returns whether it was kept.
///   - `sample(random)` draws an elite uniformly; nothing if there is none.
///   - `size()` is the number of elites, and `at(i)`, i < size(), returns them in a deterministic order.
///
/// Optional:
///   - `measures()`: names of the measures by which candidates are assigned to niches.
///   - `cells()`: number of niches.
///   - `describe(elite)`: description of the niche of an elite.
///   - `contains(id)`: whether a candidate is kept. Without it, `any_archive` searches through all elites.
///   - `wants_source()`: whether entries must contain their program.
///   - `neighbours(id, count)`: the elites nearest to an elite, nearest first.
///   - `forecast(entry, without)`: what `add(entry)` would do if the elite `without` were not kept.
///     Islands ask this before a migration.
///   - `nth_best(rank)`, `total_score()` and `at_mass(mass)`, all three or none: as in `population`, for
///     selectors that draw elites by rank or score. Without them, `any_archive` sorts the elites again after
///     every change.
///
/// The shipped archives (kevo/archive/) describe these functions only where they do more than is said here.
template <class T>
concept archive = requires(T& kept, const T& view, const archive_entry& entry, candidate_id id, rng& random,
                           std::size_t i) {
  { kept.add(entry) } -> std::same_as<archive_result>;
  { kept.update(entry) } -> std::same_as<archive_result>;
  { kept.remove(id) } -> std::same_as<bool>;
  { view.sample(random) } -> std::same_as<std::optional<elite>>;
  { view.size() } -> std::convertible_to<std::size_t>;
  { view.at(i) } -> std::same_as<elite>;
  // This must be last: for a class that can be constructed from any_archive, it asks again whether that class
  // is an archive.
  requires std::copy_constructible<T>;
};

/// A type-erased archive with value semantics: a copy copies the archive. Its functions call those of the
/// held archive, see the concept `archive`. A default-constructed one is empty: only its conversion to bool
/// may be called. Not thread-safe, not even the const functions, because the rank queries sort the elites
/// when they are first asked.
class any_archive {
 public:
  any_archive() = default;
  /// Holds a copy of `kept`.
  template <class T>
  requires(!std::same_as<std::remove_cvref_t<T>, any_archive> && archive<std::remove_cvref_t<T>>)
      any_archive(T&& kept)  // NOLINT(google-explicit-constructor,bugprone-forwarding-reference-overload)
      : object_(new model<std::remove_cvref_t<T>>(std::forward<T>(kept))) {}

  archive_result add(const archive_entry& entry) { return object_->add(entry); }
  archive_result update(const archive_entry& entry) { return object_->update(entry); }
  bool remove(candidate_id id) { return object_->remove(id); }
  std::optional<elite> sample(rng& random) const { return object_->sample(random); }
  std::size_t size() const { return object_->size(); }
  elite at(std::size_t i) const { return object_->at(i); }
  /// Whether a candidate is kept.
  bool contains(candidate_id id) const { return object_->contains(id); }
  /// The elite with this rank, which must be less than size(); rank 0 is the best. Of equal scores, the older
  /// candidate comes first.
  candidate_id nth_best(std::size_t rank) const { return object_->nth_best(rank); }
  /// Sum of the weights of all elites. The weights are the scores if all scores are positive; otherwise see
  /// population.hpp.
  double total_score() const { return object_->total_score(); }
  /// The elite at which the running sum of weights, best first, exceeds `mass`. The archive must not be
  /// empty.
  candidate_id at_mass(double mass) const { return object_->at_mass(mass); }
  /// Names of the measures that entries must contain, in order; empty if the archive uses none.
  std::vector<std::string> measures() const { return object_->measures(); }
  /// The number of niches; 0 if it is not bounded.
  std::size_t cells() const { return object_->cells(); }
  /// A readable description of the niche of an elite; empty if the archive has none.
  std::string describe(const elite& kept) const { return object_->describe(kept); }
  /// Whether entries must contain their program.
  bool wants_source() const { return object_->wants_source(); }
  /// At most `count` elites of the niches nearest to the niche of elite `id`, nearest first; empty if `id` is
  /// not kept or the archive defines no distance.
  std::vector<candidate_id> neighbours(candidate_id id, std::size_t count) const {
    return object_->neighbours(id, count);
  }
  /// What `add(entry)` would do if the elite `without` were not kept.
  archive_forecast forecast(const archive_entry& entry, candidate_id without = no_candidate) const {
    return object_->forecast(entry, without);
  }
  /// The held archive if its type is T, else null. For reports that draw a particular type of archive.
  template <class T>
  const T* as() const {
    const auto* held = dynamic_cast<const model<T>*>(object_.operator->());
    return held ? &held->kept : nullptr;
  }
  explicit operator bool() const { return static_cast<bool>(object_); }

 private:
  struct interface {
    interface() = default;
    interface(const interface&) = default;
    interface& operator=(const interface&) = delete;
    virtual ~interface() = default;
    virtual interface* clone() const = 0;
    virtual archive_result add(const archive_entry& entry) = 0;
    virtual archive_result update(const archive_entry& entry) = 0;
    virtual bool remove(candidate_id id) = 0;
    virtual std::optional<elite> sample(rng& random) const = 0;
    virtual std::size_t size() const = 0;
    virtual elite at(std::size_t i) const = 0;
    virtual bool contains(candidate_id id) const = 0;
    virtual candidate_id nth_best(std::size_t rank) const = 0;
    virtual double total_score() const = 0;
    virtual candidate_id at_mass(double mass) const = 0;
    virtual std::vector<std::string> measures() const = 0;
    virtual std::size_t cells() const = 0;
    virtual std::string describe(const elite& one) const = 0;
    virtual bool wants_source() const = 0;
    virtual std::vector<candidate_id> neighbours(candidate_id id, std::size_t count) const = 0;
    virtual archive_forecast forecast(const archive_entry& entry, candidate_id without) const = 0;
  };
  template <class T>
  struct model final : interface {
    explicit model(T value) : kept(std::move(value)) {}
    interface* clone() const override {
      return new model(kept);
    }
    archive_result add(const archive_entry& entry) override {
      const archive_result result = kept.add(entry);
      if (result.status != archive_status::rejected) order.forget();
      return result;
    }
    archive_result update(const archive_entry& entry) override { return order.forget(), kept.update(entry); }
    bool remove(candidate_id id) override { return order.forget(), kept.remove(id); }
    std::optional<elite> sample(rng& random) const override { return kept.sample(random); }
    std::size_t size() const override { return kept.size(); }
    elite at(std::size_t i) const override { return kept.at(i); }
    bool contains(candidate_id id) const override {
      if constexpr (requires { kept.contains(id); }) return kept.contains(id);
      for (std::size_t i = 0; i < static_cast<std::size_t>(kept.size()); ++i) {
        if (kept.at(i).id == id) return true;
      }
      return false;
    }
    candidate_id nth_best(std::size_t rank) const override {
      if constexpr (requires { kept.nth_best(rank); }) return kept.nth_best(rank);
      return order.of(kept).nth(rank);
    }
    double total_score() const override {
      if constexpr (requires { kept.total_score(); }) return kept.total_score();
      return order.of(kept).total();
    }
    candidate_id at_mass(double mass) const override {
      if constexpr (requires { kept.at_mass(mass); }) return kept.at_mass(mass);
      return order.of(kept).at_mass(mass);
    }
    std::vector<std::string> measures() const override {
      if constexpr (requires { kept.measures(); }) return kept.measures();
      return {};
    }
    std::size_t cells() const override {
      if constexpr (requires { kept.cells(); }) return kept.cells();
      return 0;
    }
    std::string describe(const elite& one) const override {
      if constexpr (requires { kept.describe(one); }) return kept.describe(one);
      return {};
    }
    bool wants_source() const override {
      if constexpr (requires { kept.wants_source(); }) return kept.wants_source();
      return false;
    }
    std::vector<candidate_id> neighbours(candidate_id id, std::size_t count) const override {
      if constexpr (requires { kept.neighbours(id, count); }) return kept.neighbours(id, count);
      return {};
    }
    archive_forecast forecast(const archive_entry& entry, candidate_id without) const override {
      if constexpr (requires { kept.forecast(entry, without); }) return kept.forecast(entry, without);
      return {};
    }
    T kept;
    detail::elite_order order;  // not used by archives that have `nth_best` and so on themselves
  };
  detail::clone_ptr<interface> object_;
};

}  // namespace kevo
