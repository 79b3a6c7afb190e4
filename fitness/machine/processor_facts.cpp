#include "fitness/machine/processor_facts.hpp"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <string_view>

#include <fmt/format.h>

namespace kevo {
namespace {

std::string first_line(const std::string& path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

double number_in(std::string_view text) {
  double value = 0;
  text.remove_prefix(std::min(text.find_first_of("0123456789"), text.size()));
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

std::string caches(const std::string& root) {
  std::string text;
  for (int i = 0; i < 8; ++i) {
    const std::string folder = fmt::format("{}/sys/devices/system/cpu/cpu0/cache/index{}/", root, i);
    const std::string type = first_line(folder + "type");
    const std::string size = first_line(folder + "size");  // "32K", or "36608K" of a level that is shared
    if (type.empty() || type == "Instruction" || size.empty()) continue;
    const double kib = number_in(size) * (size.back() == 'M' ? 1024 : 1);
    text += fmt::format("{}L{}{} {}", text.empty() ? "" : ", ", first_line(folder + "level"),
                        type == "Data" ? "d" : "",
                        kib < 1024 ? fmt::format("{:g} KiB", kib) : fmt::format("{:.3g} MiB", kib / 1024));
  }
  return text;
}

double clock_ghz(const std::string& root) {
  const double khz = number_in(first_line(root + "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq"));
  if (khz > 0) return khz / 1e6;
  std::ifstream file(root + "/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("cpu MHz")) return number_in(line) / 1e3;
  }
  return 0;
}

}  // namespace

std::string processor_facts(const std::string& root) {
  std::string text = caches(root);
  if (const double ghz = clock_ghz(root); ghz > 0)
    text += fmt::format("{}{:.2f} GHz", text.empty() ? "" : ", ", ghz);
  return text;
}

}  // namespace kevo
