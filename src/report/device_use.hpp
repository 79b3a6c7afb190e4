#pragma once
// What the evaluations of a run say of the devices that they were made on, where there were several.

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <kevo/candidate.hpp>
#include <kevo/evaluation.hpp>

#include "src/base/text/counted.hpp"

namespace kevo {

/// Gathered from contexts of evaluations (fitness/pool/device_pool.hpp says what they contain).
struct device_use {
  std::map<std::string, std::uint64_t> evaluations;                 ///< by number of the device
  std::vector<std::string> losses;                                  ///< "device 1: it fell off the bus"
  std::vector<std::pair<candidate_id, std::string>> disagreements;  ///< what two devices said of a candidate

  void see(candidate_id who, const evaluation& e) {
    if (const auto at = e.context.find("device_number"); at != e.context.end() && !e.cached)
      ++evaluations[at->second];
    if (const auto lost = e.context.find("devices_lost"); lost != e.context.end())
      losses.push_back(lost->second);
    if (const auto differ = e.context.find("devices_disagree"); differ != e.context.end())
      disagreements.emplace_back(who, differ->second);
  }
  /// "0: 31 evaluations, 1: 29 evaluations"; empty if no evaluation says where it was made.
  std::string shares() const {
    std::string text;
    for (const auto& [device, count] : evaluations)
      text += fmt::format("{}{}: {}", text.empty() ? "" : ", ", device, format::counted(count, "evaluation"));
    return text;
  }
};

}  // namespace kevo
