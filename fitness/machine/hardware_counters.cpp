#include "fitness/machine/hardware_counters.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <linux/perf_event.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/format.h>

namespace kevo {
namespace {

struct known_counter {
  const char* name;
  std::uint32_t type;
  std::uint64_t config;
};

constexpr std::uint64_t cache_event(std::uint64_t cache, std::uint64_t result) {
  return cache | std::uint64_t{PERF_COUNT_HW_CACHE_OP_READ} << 8U | result << 16U;
}

/// Few enough that they seldom have to take turns.
constexpr std::array<known_counter, 7> known_counters = {{
    {"instructions", PERF_TYPE_HARDWARE, PERF_COUNT_HW_INSTRUCTIONS},
    {"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
    {"branch misses", PERF_TYPE_HARDWARE, PERF_COUNT_HW_BRANCH_MISSES},
    {"loads", PERF_TYPE_HW_CACHE, cache_event(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_RESULT_ACCESS)},
    {"load misses of the first-level cache", PERF_TYPE_HW_CACHE,
     cache_event(PERF_COUNT_HW_CACHE_L1D, PERF_COUNT_HW_CACHE_RESULT_MISS)},
    {"misses of the last-level cache", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CACHE_MISSES},
    {"load misses of the address cache (TLB)", PERF_TYPE_HW_CACHE,
     cache_event(PERF_COUNT_HW_CACHE_DTLB, PERF_COUNT_HW_CACHE_RESULT_MISS)},
}};

detail::descriptor open_counter(const known_counter& which, pid_t process, bool on_exec) {
  perf_event_attr wanted = {};
  wanted.size = sizeof wanted;
  wanted.type = which.type;
  wanted.config = which.config;
  wanted.disabled = 1;
  wanted.enable_on_exec = on_exec ? 1 : 0;
  wanted.inherit = 1;
  wanted.exclude_kernel = 1;
  wanted.exclude_hv = 1;
  wanted.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
  return detail::descriptor(
      static_cast<int>(::syscall(SYS_perf_event_open, &wanted, process, -1, -1, PERF_FLAG_FD_CLOEXEC)));
}

/// Why a counter could not be opened.
std::string reason_of(int code) {
  switch (code) {
    case ENOENT:
    case EOPNOTSUPP:
    case ENODEV:
      return "this processor offers no hardware counters here, as on most virtual machines";
    case EACCES:
    case EPERM:
      return "the kernel does not allow it: set /proc/sys/kernel/perf_event_paranoid to 2 or less, and in a "
             "container allow perf_event_open";
    case ENOSYS:
      return "this kernel has no performance events";
    default:
      return std::string("perf_event_open: ") + std::strerror(code);
  }
}

double count_of(const std::vector<counter_reading>& readings, const char* name) {
  for (const auto& one : readings) {
    if (one.name == name) return one.count;
  }
  return 0;
}

}  // namespace

hardware_counters::hardware_counters(pid_t process) {
  for (const auto& which : known_counters) {
    auto file = open_counter(which, process, true);
    if (file) {
      counters_.push_back({which.name, std::move(file)});
    } else if (counters_.empty() && missing_.empty()) {
      missing_ = reason_of(errno);
    }
  }
  if (!counters_.empty()) missing_.clear();
}

std::vector<counter_reading> hardware_counters::read() const {
  std::vector<counter_reading> all;
  for (const auto& one : counters_) {
    struct {
      std::uint64_t count;
      std::uint64_t enabled;
      std::uint64_t running;
    } said = {};
    if (::read(one.file.get(), &said, sizeof said) != sizeof said || said.running == 0) continue;
    all.push_back({one.name, static_cast<double>(said.count) * static_cast<double>(said.enabled) /
                                 static_cast<double>(said.running)});
  }
  return all;
}

std::string missing_counters() {
  const auto file = open_counter(known_counters[0], 0, false);
  return file ? std::string() : reason_of(errno);
}

std::string describe(const std::vector<counter_reading>& readings) {
  std::string text;
  const double instructions = count_of(readings, "instructions");
  const double cycles = count_of(readings, "cycles");
  const double loads = count_of(readings, "loads");
  for (const auto& one : readings) {
    text += fmt::format("{}{:.4g} {}", text.empty() ? "" : ", ", one.count, one.name);
    if (one.name == "cycles" && instructions > 0 && cycles > 0)
      text += fmt::format(" ({:.2f} instructions per cycle)", instructions / cycles);
    if (one.name == "branch misses" && instructions > 0)
      text += fmt::format(" ({:.2f} per 1000 instructions)", 1000 * one.count / instructions);
    if (one.name == "load misses of the first-level cache" && loads > 0)
      text += fmt::format(" ({:.1f} % of the loads)", 100 * one.count / loads);
  }
  return text;
}

}  // namespace kevo
