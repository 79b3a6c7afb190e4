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
// What the host takes is missing in the middle of calls.
constexpr double noticeable_stolen = 0.05;
constexpr double least_ticks = 10;

std::string text_of(const char* path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::optional<double> stalled_now() {
  return stalled_time(text_of("/proc/pressure/cpu"));
}

std::optional<processor_ticks> ticks_now() {
  return ticks_of(text_of("/proc/stat"));
}

}  // namespace

std::optional<double> stalled_time(const std::string& pressure) {
  constexpr const char* key = "total=";
  const auto some = pressure.find("some ");
  const auto place = some == std::string::npos ? some : pressure.find(key, some);
  if (place == std::string::npos) return std::nullopt;
  return std::strtod(pressure.c_str() + place + 6, nullptr);
}

std::optional<processor_ticks> ticks_of(const std::string& stat) {
  constexpr int columns = 8;  // user nice system idle iowait irq softirq steal; guests are in user and nice
  std::istringstream line(stat.substr(0, stat.find('\n')));
  std::string name;
  if (!(line >> name) || name != "cpu") return std::nullopt;
  processor_ticks ticks;
  for (int i = 0; i < columns; ++i) {
    if (!(line >> ticks.stolen)) return std::nullopt;
    ticks.all += ticks.stolen;
  }
  return ticks;
}

std::optional<double> stolen_share(const processor_ticks& before, const processor_ticks& after) {
  const double all = after.all - before.all;
  if (all < least_ticks) return std::nullopt;
  return std::clamp((after.stolen - before.stolen) / all, 0.0, 1.0);
}

neighbour_watch::neighbour_watch()
    : start_(std::chrono::steady_clock::now()), stalled_us_(stalled_now()), ticks_(ticks_now()) {}

std::optional<double> neighbour_watch::contention() const {
  const std::chrono::duration<double, std::micro> passed = std::chrono::steady_clock::now() - start_;
  const auto stalled = stalled_now();
  if (!stalled || !stalled_us_ || passed.count() < 1000) return std::nullopt;
  return std::clamp((*stalled - *stalled_us_) / passed.count(), 0.0, 1.0);
}

std::optional<double> neighbour_watch::stolen() const {
  const auto now = ticks_now();
  if (!now || !ticks_) return std::nullopt;
  return stolen_share(*ticks_, *now);
}

std::string neighbour_watch::disturbance() const {
  std::string text;
  if (const auto share = contention(); share && *share >= noticeable) {
    const auto load = std::strtod(text_of("/proc/loadavg").c_str(), nullptr);
    text = fmt::format(
        "programs waited for a processor during {:.0f} % of the timing (the load of the machine is {:.1f})",
        100 * *share, load);
  }
  if (const auto share = stolen(); share && *share >= noticeable_stolen) {
    text += fmt::format("{}the host of this virtual machine gave {:.0f} % of the processors' time to others",
                        text.empty() ? "" : "; ", 100 * *share);
  }
  return text;
}

}  // namespace kevo
