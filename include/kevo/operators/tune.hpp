#pragma once
// The operator `tune`: it changes the values of the tunables that a source declares in `// kevo:` lines. It
// needs no language model. Compiled: link kevo::kevo.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <kevo/content_id.hpp>
#include <kevo/vary.hpp>

namespace kevo {

class setting_space;
class setting_sampler;

struct tried_setting;

/// The result of a setting in another run.
struct tune_experience {
  std::map<std::string, std::string> values;  ///< values of the tunables, by name
  double value = 0;                           ///< logarithm of its score
  bool failed = false;                        ///< whether it was not valid; `value` has no meaning then
};

/// The model by which `tune` chooses settings, if any.
enum class tune_model { none, gaussian_process, forest };

/// Proposes a setting (one value for each tunable) that satisfies every `require` and that the run does not
/// contain yet.
///   - While the run has fewer than `draws` candidates, a valid setting is drawn at random, with equal
///     probabilities if the space is small enough to be enumerated. A search that only takes steps from the
///     seed may stay near a local optimum.
///   - Later, one or several tunables of the parent change, to a neighbouring value in the domain or to any
///     value; or the values come from the parent and another selected candidate (crossover).
///   - A setting that violates a condition is replaced by the nearest valid one.
///   - If only known settings were found, spaces of up to `enumerate` valid settings are searched for an
///     unknown one. If there is none, the operator is exhausted on this source.
///   - With a `model`, the operator proposes the setting with the greatest expected improvement, as the model
///     predicts it from the results of this source. It chooses among `pool` unseen settings and all settings
///     that differ from one of the ten best in a single tunable. With probability `moves` it takes a step as
///     above instead, because a model alone may miss a good setting. The first settings are drawn far from
///     each other. The result depends only on the request and the random numbers, also with a model.
struct tune {
  std::size_t draws = 10;  ///< number of candidates, seeds included, up to which settings are drawn at random
  double crossover = 0.3;  ///< probability of crossover, if another selected candidate has the same tunables
  double neighbour = 0.7;  ///< probability that a step goes to a neighbouring value
  double another_step = 0.35;     ///< probability of each further step
  std::size_t tries = 24;         ///< number of known settings that may be found before the space is searched
  std::size_t enumerate = 50000;  ///< maximum number of valid settings of a space that is enumerated

  tune_model model = tune_model::none;  ///< the model that chooses settings, if any
  double moves = 0.33;                  ///< with a model, probability of steps instead of its proposal
  /// With a model, probability that it chooses only among the neighbours of the best setting.
  double climb = 0;
  /// With a model, number of unseen settings from which it chooses, in addition to the neighbours of the
  /// best.
  std::size_t pool = 1500;
  std::size_t memory = 250;  ///< with a model, maximum number of results to which it is fitted
  /// With a Gaussian process, whether its features include how often 2 divides each value.
  bool divisibility = true;
  double cost = 0;  ///< with a model, the expected improvement is divided by the expected cost to this power
  /// Results of other runs of the same source, on other devices or with other sizes, from which a model
  /// starts; null if there are none. Those with other tunables or values are ignored.
  std::shared_ptr<const std::vector<tune_experience>> experience{};
  /// All settings that may be proposed, sorted, as indexes into the domains in file order, instead of those
  /// that fulfil every `require`; null does not restrict.
  std::shared_ptr<const std::vector<std::vector<std::uint32_t>>> only{};

  std::string name() const { return "tune"; }
  bool repairs() const { return false; }
  bool learns() const { return model != tune_model::none; }
  variation_result vary(const variation_request& request, rng& random);

 private:
  /// Only for the Gaussian process: the effect on a forest was not measured.
  bool sees_divisibility() const { return divisibility && model == tune_model::gaussian_process; }
  /// A setting: for each tunable, in file order, the index of its value in its domain.
  using indexes = std::vector<std::uint32_t>;
  /// A cache for one source without its settings. It saves work and never changes a result.
  struct walk {
    std::vector<indexes> settings;  ///< all valid settings
    std::vector<bool> seen;         ///< true: the setting is known to be in the run; false: not known
    bool small = false;             ///< whether there are few enough valid settings to enumerate them
    std::shared_ptr<const setting_sampler> sampler;  ///< draws settings, however many there are
    std::size_t lengths_at = 0;                      ///< number of results that `lengths` was fitted to
    std::vector<double> lengths;                     ///< lengths of the model
    std::vector<double> prior_lengths;               ///< lengths of the model of other runs
    /// `experience` in terms of this source; may be null.
    std::shared_ptr<const std::vector<tried_setting>> prior;
  };
  /// The setting of a candidate, and the source without it.
  struct placed {
    content_id skeleton;
    indexes setting;
  };
  /// The data of a request to which the model is fitted.
  struct learnt;
  /// The settings and results of the run's candidates that differ from `source` in their setting alone.
  learnt learn(const variation_request& request, const content_id& skeleton);
  /// A valid setting that is far from all known ones.
  std::optional<indexes> far_setting(const walk& all, const setting_space& space, const learnt& known,
                                     rng& random) const;
  /// The results of other runs in the tunables of `space`; null if they are too few to learn from.
  std::shared_ptr<const std::vector<tried_setting>> prior_for(const setting_space& space) const;
  /// The unknown setting with the greatest expected improvement by the results of other runs.
  std::optional<indexes> remembered_setting(walk& all, const setting_space& space, const learnt& known,
                                            rng& random) const;
  /// The unknown settings with the greatest expected improvement, best first.
  std::vector<indexes> expected_best(walk& all, const setting_space& space, const learnt& known,
                                     rng& random) const;
  /// The unknown settings that differ from the best one in one tunable.
  std::vector<indexes> near_best(const setting_space& space, const learnt& known) const;
  std::vector<indexes> pool_of(const walk& all, const setting_space& space, const learnt& known,
                               rng& random) const;
  walk& walk_of(const content_id& skeleton, const setting_space& space);
  /// The first enumerated setting that `offer` accepts, from a random one on. Settings that it does not
  /// accept are marked as seen.
  template <class Offer>
  static variation_result walked(walk& all, const indexes& own, const variation_request& request, Offer offer,
                                 rng& random);

  /// An unknown setting that differs from `own` in some tunables, or crosses it with another candidate.
  template <class Offer>
  std::optional<proposal> stepped(const setting_space& space, const indexes& own,
                                  const variation_request& request, Offer offer, rng& random) const;
  indexes mutated(const setting_space& space, indexes setting, double more, rng& random) const;

  std::map<content_id, walk> walks_;
  std::vector<placed> placed_;  ///< of each candidate; found once, because programs do not change
};

}  // namespace kevo
