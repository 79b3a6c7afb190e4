#include "fitness/machine/neighbours.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include <fmt/format.h>

namespace kevo {
namespace {

// Below this share a neighbour widens intervals little.
constexpr double noticeable = 0.1;

std::string text_of(const char* path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<double> stalled_now() {
  return stalled_time(text_of("/proc/pressure/cpu"));
}

}  // namespace

std::optional<double> stalled_time(const std::string& pressure) {
  constexpr const char* key = "total=";
  const auto some = pressure.find("some ");
  const auto place = some == std::string::npos ? some : pressure.find(key, some);
  if (place == std::string::npos) return std::nullopt;
  return std::strtod(pressure.c_str() + place + 6, nullptr);
}

neighbour_watch::neighbour_watch() : start_(std::chrono::steady_clock::now()), stalled_us_(stalled_now()) {}

std::optional<double> neighbour_watch::contention() const {
  const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - start_;
  const auto stalled = stalled_now();
  if (!stalled || !stalled_us_ || passed.count() < 1000) return std::nullopt;
  return std::clamp((*stalled - *stalled_us_) / passed.count(), 0.0, 1.0);
}

std::string neighbour_watch::disturbance() const {
  const auto share = contention();
  if (!share || *share < noticeable) return "";
  const auto load = std::strtod(text_of("/proc/loadavg").c_str(), nullptr);
  return fmt::format(
      "programs waited for a processor during {:.0f} % of the timing (the load of the machine is {:.1f})",
      100 * *share, load);
}

}  // namespace kevo
