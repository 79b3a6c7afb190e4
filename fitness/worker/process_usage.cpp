#include "fitness/worker/process_usage.hpp"

#include <cstdlib>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

namespace kevo {

std::optional<process_usage> usage_of(pid_t process) {
  const std::string folder = "/proc/" + std::to_string(process);
  std::ifstream stat(folder + "/stat");
  const std::string text{std::istreambuf_iterator<char>(stat), {}};
  // The name of the program, in parentheses, may contain anything; the fields behind it are numbers.
  const auto name_end = text.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(text.substr(name_end + 1));
  constexpr int first = 3;  // the numbers of proc(5)
  constexpr int major_faults = 12;
  process_usage usage;
  std::string field;
  for (int number = first; number <= major_faults; ++number) {
    if (!(fields >> field)) return std::nullopt;
  }
  usage.major_faults = std::strtol(field.c_str(), nullptr, 10);
  std::ifstream io(folder + "/io");
  for (std::string key; io >> key >> field;) {
    if (key == "read_bytes:") usage.read_bytes = std::strtod(field.c_str(), nullptr);
  }
  return usage;
}

double writable_bytes_of(pid_t process) {
  std::ifstream maps("/proc/" + std::to_string(process) + "/maps");
  double sum = 0;
  for (std::string line; std::getline(maps, line);) {  // "BEGIN-END rw-p ..."
    char* rest = nullptr;
    const auto begin = std::strtoull(line.c_str(), &rest, 16);
    if (*rest != '-') continue;
    const auto end = std::strtoull(rest + 1, &rest, 16);
    if (std::string_view(rest).starts_with(" rw")) sum += static_cast<double>(end - begin);
  }
  return sum;
}

}  // namespace kevo
