#pragma once
// The model by which `tune` proposes settings: it learns from results what unseen settings are worth.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <kevo/random.hpp>

#include "operators/tune/setting_space.hpp"

namespace kevo {

/// What is known of a setting.
struct tried_setting {
  tunable_setting setting;
  double value = 0;  ///< the logarithm of its score; of no meaning if it failed
  bool failed = false;
  double error = 0;   ///< standard deviation of `value`, 0 if unknown
  double cost_s = 0;  ///< [s] what its evaluation took, 0 if unknown
};

/// Settings as numbers: a row for each setting. A tunable whose values are all numbers is one column from 0
/// to 1, on a logarithmic scale if its values are positive and the largest is at least four times the
/// smallest; any other has a column for each value. Tunables without a choice have none. With `divisibility`
/// a tunable of positive integers has one more column, from 0 to 1: how many times 2 divides the value, at
/// most 6 times (64, the widest group of threads that devices execute together). Sizes that fit the widths of
/// a device are often alike although sizes between them are not. Domains of less than three values, or whose
/// values are all one number times powers of two, have no such column: their own column says it already.
class setting_features {
 public:
  explicit setting_features(const setting_space& space, bool divisibility = false);
  std::size_t columns() const { return columns_; }
  /// Writes the row of `setting` to `into`, which has `columns()` elements.
  void write(const tunable_setting& setting, std::span<double> into) const;
  std::vector<double> row(const tunable_setting& setting) const;

 private:
  std::vector<std::vector<std::vector<double>>> parts_;  ///< of each tunable and value: its columns
  std::size_t columns_ = 0;
};

enum class setting_model_kind { gaussian_process, forest };

struct setting_model_settings {
  setting_model_kind kind = setting_model_kind::gaussian_process;
  std::size_t memory =
      250;  ///< number of results that the model is fitted to: the best, and some of the rest
  double cost_exponent = 0;   ///< the expected improvement is divided by the expected cost to this power
  bool divisibility = false;  ///< whether the model sees how often 2 divides values
  /// Results of other runs, on another device or with other sizes, from which the model starts; null if there
  /// are none. Not owned.
  const std::vector<tried_setting>* prior = nullptr;
};

/// What one fit of the lengths gave, kept so that it is not repeated: it never changes an answer.
struct fitted_lengths {
  std::size_t results = 0;  ///< number of results that they were fitted to
  std::vector<double> logarithms;
  std::vector<double> prior;  ///< those of the results of other runs
};

/// The places of `pool` in descending order of expected improvement (Jones, Schonlau & Welch, "Efficient
/// global optimization of expensive black-box functions", 1998), at most `count`, for a model of `results` in
/// the order in which they were told; a setting that comes twice counts with its latest. Failed settings
/// count as the worst that the model tells apart: values below the best 70 % of the valid ones are taken as
/// equal, because what matters is which settings are good. `pending`: settings that are being evaluated; they
/// are taken to be what the model expects of them ("kriging believer", Ginsbourger, Le Riche & Carraro,
/// 2010). With a `prior`, a Gaussian process of these results predicts first, and the model learns how the
/// results of this run differ from its predictions times a factor from 0 to 1, which is fitted by least
/// squares and is 1 while there are few results: other runs that say nothing of this one soon count for
/// nothing. Requires a valid result.
std::vector<std::size_t> best_expected(const setting_space& space, const std::vector<tried_setting>& results,
                                       const std::vector<tunable_setting>& pending,
                                       const std::vector<tunable_setting>& pool, std::size_t count,
                                       const setting_model_settings& how, fitted_lengths& lengths);

/// The places of `pool` in descending order of what `prior` makes expect, at most `count`. Requires a valid
/// result in `prior`, and `divisibility` as in the settings of the model that shares `lengths`.
std::vector<std::size_t> best_of_prior(const setting_space& space, const std::vector<tried_setting>& prior,
                                       const std::vector<tunable_setting>& pool, std::size_t count,
                                       bool divisibility, fitted_lengths& lengths);

}  // namespace kevo
