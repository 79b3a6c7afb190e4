#pragma once
// A simulated kernel of several regions whose best program needs an order: in each region, fusion, then
// tiling, then pipelining. What a policy can learn from some of these kernels holds for all; where the time
// goes differs. A model of kevo's own, for policies that choose an action by its type and region.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kevo/evaluation.hpp>
#include <kevo/operators/action_policy.hpp>
#include <kevo/program.hpp>
#include <kevo/random.hpp>

namespace kevo {

inline constexpr std::array<std::string_view, 4> ordered_step_types = {"fusion", "tiling", "pipelining",
                                                                       "reordering"};

/// A step: an index into `ordered_step_types`, and a region.
struct ordered_step {
  std::size_t type = 0;
  std::size_t region = 0;
  friend bool operator==(const ordered_step&, const ordered_step&) = default;
};

/// "fusion 2", a line for each step, behind a line "ordered".
inline program ordered_program(const std::vector<ordered_step>& steps) {
  std::string text = "ordered\n";
  for (const auto& one : steps)
    text += std::string(ordered_step_types.at(one.type)) + ' ' + std::to_string(one.region) + '\n';
  return single_file_program("ordered", "program.txt", std::move(text));
}

/// What `ordered_program` was made of; nothing if it is another text.
inline std::optional<std::vector<ordered_step>> ordered_steps_in(std::string_view text) {
  constexpr std::string_view head = "ordered\n";
  if (!text.starts_with(head)) return std::nullopt;
  text.remove_prefix(head.size());
  std::vector<ordered_step> steps;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::size_t blank = text.find(' ');
    if (end == std::string_view::npos || blank > end) return std::nullopt;
    const auto type = std::find(ordered_step_types.begin(), ordered_step_types.end(), text.substr(0, blank));
    ordered_step one{static_cast<std::size_t>(type - ordered_step_types.begin()), 0};
    for (const char digit : text.substr(blank + 1, end - blank - 1)) {
      if (digit < '0' || digit > '9' || one.region > 1000) return std::nullopt;
      one.region = 10 * one.region + static_cast<std::size_t>(digit - '0');
    }
    if (type == ordered_step_types.end()) return std::nullopt;
    steps.push_back(one);
    text.remove_prefix(end + 1);
  }
  return steps;
}

/// One such kernel. Equal arguments give equal kernels.
class ordered_kernel {
 public:
  ordered_kernel(std::size_t regions, std::uint64_t seed) {
    rng random = rng(seed).split("ordered");
    double sum = 0;
    for (std::size_t i = 0; i < regions; ++i) {
      shares_.push_back(std::exp(1.5 * random.normal()));
      sum += shares_.back();
    }
    for (auto& one : shares_) one /= sum;
  }
  std::size_t regions() const { return shares_.size(); }

  /// What became of the program, and its speedup over the one without steps; 0 unless valid. Pipelining a
  /// region that is not tiled gives wrong results. Tiling before fusion loses, and fusion is then lost.
  std::pair<outcome, double> judge(const std::vector<ordered_step>& steps) const {
    std::vector<std::array<bool, 4>> done(shares_.size());
    std::vector<double> times = shares_;
    for (const auto& [type, region] : steps) {
      if (region >= shares_.size() || done[region][type]) return {outcome::build_failed, 0};
      if (type == 0) times[region] *= done[region][1] ? 1.0 : 0.9;
      if (type == 1) times[region] *= done[region][0] ? 0.5 : 1.05;
      if (type == 2 && !done[region][1]) return {outcome::incorrect, 0};
      if (type == 2) times[region] *= done[region][0] ? 0.4 : 0.9;
      if (type == 3) times[region] *= 1.03;
      done[region][type] = true;
    }
    double time = 0;
    for (const double one : times) time += one;
    return {outcome::valid, 1 / time};
  }
  double optimum() const { return 1 / (0.9 * 0.5 * 0.4); }

  /// The steps that the program lacks, with what a policy may know: the share of the time that each region
  /// took at first, and what was done to it.
  action_choice choice(const std::vector<ordered_step>& steps) const {
    std::vector<std::array<double, 4>> done(shares_.size());
    for (const auto& [type, region] : steps) done.at(region)[type] = 1;
    action_choice made;
    made.state.push_back(static_cast<double>(steps.size()) / static_cast<double>(4 * shares_.size()));
    for (std::size_t region = 0; region < shares_.size(); ++region) {
      for (std::size_t type = 0; type < ordered_step_types.size(); ++type) {
        if (done[region][type] > 0) continue;
        made.actions.push_back(
            {std::string(ordered_step_types[type]),
             std::to_string(region),
             1,
             {shares_[region], done[region][0], done[region][1], done[region][2], done[region][3]}});
      }
    }
    return made;
  }
  static action_features features() {
    return {{"steps"},
            {ordered_step_types.begin(), ordered_step_types.end()},
            {"share", "fused", "tiled", "pipelined", "reordered"}};
  }

 private:
  std::vector<double> shares_;
};

}  // namespace kevo
