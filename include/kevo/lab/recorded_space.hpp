#pragma once
// A tuning space of which all configurations were measured in advance. A search on it gives the results that
// it would have had on the device, in microseconds for each candidate. (Willemsen et al., "A methodology for
// comparing optimization algorithms for auto-tuning", 2024, compare tuners on such spaces.)

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <kevo/error.hpp>
#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>

namespace kevo {

/// A tunable parameter.
struct recorded_parameter {
  std::string name;                 ///< name in the file
  std::vector<std::string> values;  ///< as written in the file; neighbouring values are next to each other
  std::vector<double> numbers;      ///< the values as numbers; NaN for a value that is not a number
};

/// A configuration: for each parameter, the index of its value.
using recorded_setting = std::vector<std::uint32_t>;

/// The record of one configuration.
struct recorded_result {
  recorded_setting setting;                      ///< the configuration
  kevo::outcome outcome = kevo::outcome::valid;  ///< its recorded outcome
  double objective = 0;         ///< the recorded time, or another objective of tuning; positive if valid
  std::vector<double> samples;  ///< single measurements of the objective; may be empty
  double build_s = 0;           ///< [s] recorded time of the build
  double run_s = 0;             ///< [s] recorded time of checking and measuring
};

/// A recorded space. Immutable: any number of threads may read it.
class recorded_space {
 public:
  /// `larger_is_better`: whether the objective is a rate and not a time. Throws kevo::error (input) if a
  /// configuration occurs twice or has a value that its parameter does not have, if no configuration is
  /// valid, or if there are 9e18 combinations or more.
  recorded_space(std::vector<recorded_parameter> parameters, std::vector<recorded_result> results,
                 bool larger_is_better = false)
      : parameters_(std::move(parameters)),
        results_(std::move(results)),
        larger_is_better_(larger_is_better) {
    double combinations = 1;
    for (const auto& p : parameters_) combinations *= static_cast<double>(p.values.size());
    if (combinations >= 9e18) throw error(error_code::input, "the space has more than 2^63 combinations");
    for (std::size_t i = 0; i < results_.size(); ++i) {
      const auto code = code_of(results_[i].setting);
      if (!code)
        throw error(error_code::input,
                    "a configuration has a value that is not in the list of its parameter");
      if (!index_.emplace(*code, i).second)
        throw error(error_code::input, "duplicate configuration: " + text_of(results_[i].setting));
      if (results_[i].outcome == outcome::valid) valid_.push_back(i);
    }
    if (valid_.empty()) throw error(error_code::input, "no recorded configuration is valid");
    std::sort(valid_.begin(), valid_.end(), [this](std::size_t a, std::size_t b) {
      return speed(a) != speed(b) ? speed(a) > speed(b) : a < b;
    });
  }

  /// The parameters, in the order of the file.
  const std::vector<recorded_parameter>& parameters() const { return parameters_; }
  /// The number of recorded configurations.
  std::size_t size() const { return results_.size(); }
  /// The record with index i, which must be less than size().
  const recorded_result& at(std::size_t i) const { return results_[i]; }
  /// The indices of the valid configurations, fastest first.
  const std::vector<std::size_t>& ranked() const { return valid_; }

  /// The index of a configuration; nothing if it was not recorded. O(parameters).
  std::optional<std::size_t> find(const recorded_setting& setting) const {
    const auto code = code_of(setting);
    if (!code) return std::nullopt;
    const auto it = index_.find(*code);
    return it == index_.end() ? std::nullopt : std::optional(it->second);
  }
  /// The speed of a configuration: the inverse of the objective or, if larger is better, the objective
  /// itself. 0 unless valid. Only ratios of speeds have a meaning.
  double speed(std::size_t i) const { return speed_of(results_[i], results_[i].objective); }
  /// The same for another objective than the recorded one, such as a single measurement.
  double speed_of(const recorded_result& r, double objective) const {
    if (r.outcome != outcome::valid) return 0;
    return larger_is_better_ ? objective : 1 / objective;
  }

  /// A configuration as source text, with one line for each parameter: `NAME = value # kevo: {domain}`. The
  /// operator `tune` can read it, too.
  program to_source(const recorded_setting& setting) const {
    std::string text;
    for (std::size_t p = 0; p < parameters_.size(); ++p) {
      text += parameters_[p].name + " = " + parameters_[p].values[setting[p]] + "  # kevo: {";
      for (std::size_t v = 0; v < parameters_[p].values.size(); ++v)
        text += (v == 0 ? "" : ", ") + parameters_[p].values[v];
      text += "}\n";
    }
    return single_file_program("python", "setting.py", std::move(text));
  }
  /// The configuration in a text that `to_source`, or an operator on its tunables, has written; nothing for
  /// other texts.
  std::optional<recorded_setting> setting_in(std::string_view text) const {
    recorded_setting setting;
    for (const auto& p : parameters_) {
      const std::size_t end = text.find('\n');
      const std::size_t mark = text.find("  # kevo:");
      const std::string_view head = text.substr(0, p.name.size());
      if (end == std::string_view::npos || mark > end || head != p.name) return std::nullopt;
      if (text.substr(head.size(), 3) != " = ") return std::nullopt;
      const std::string_view value = text.substr(head.size() + 3, mark - head.size() - 3);
      const auto at = std::find(p.values.begin(), p.values.end(), value);
      if (at == p.values.end()) return std::nullopt;
      setting.push_back(static_cast<std::uint32_t>(at - p.values.begin()));
      text.remove_prefix(end + 1);
    }
    return setting;
  }

 private:
  std::string text_of(const recorded_setting& setting) const {
    std::string text;
    for (std::size_t p = 0; p < parameters_.size(); ++p)
      text += (p == 0 ? "" : ", ") + parameters_[p].name + '=' + parameters_[p].values[setting[p]];
    return text;
  }
  std::optional<std::uint64_t> code_of(const recorded_setting& setting) const {
    if (setting.size() != parameters_.size()) return std::nullopt;
    std::uint64_t code = 0;
    for (std::size_t p = 0; p < setting.size(); ++p) {
      if (setting[p] >= parameters_[p].values.size()) return std::nullopt;
      code = code * parameters_[p].values.size() + setting[p];
    }
    return code;
  }

  std::vector<recorded_parameter> parameters_;
  std::vector<recorded_result> results_;
  std::unordered_map<std::uint64_t, std::size_t> index_;
  std::vector<std::size_t> valid_;
  bool larger_is_better_ = false;
};

}  // namespace kevo
