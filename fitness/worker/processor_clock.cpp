#include "fitness/worker/processor_clock.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <unistd.h>
#include <utility>

#include <kevo/error.hpp>

#include "fitness/process/proc.hpp"

namespace kevo {
namespace {

// The second number of a schedstat: nanoseconds on a run queue without a processor.
double delay_in(int file) noexcept {
  char text[128];
  const auto size = file < 0 ? -1 : ::pread(file, text, sizeof text - 1, 0);
  if (size <= 0) return 0;
  text[size] = 0;
  const char* space = std::strchr(text, ' ');
  return space == nullptr ? 0 : std::strtod(space, nullptr);
}

}  // namespace

processor_clock::processor_clock(pid_t process) {
  const std::string id = std::to_string(process);
  const int failure = ::clock_getcpuclockid(process, &clock_);
  if (failure == 0) {
    const std::string folder = "/proc/" + id + "/task/" + id;
    stat_ = ::open((folder + "/stat").c_str(), O_RDONLY | O_CLOEXEC);
    delay_ = ::open((folder + "/schedstat").c_str(), O_RDONLY | O_CLOEXEC);
    status_ = ::open((folder + "/status").c_str(), O_RDONLY | O_CLOEXEC);
  }
  if (failure != 0 || stat_ < 0 || status_ < 0) {
    throw error(
        error_code::environment,
        "cannot read the CPU time of process " + id + ": " + std::strerror(failure != 0 ? failure : errno),
        {}, "kevo needs a /proc that shows its own child processes");
  }
}

processor_clock::processor_clock(processor_clock&& other) noexcept
    : clock_(other.clock_),
      stat_(std::exchange(other.stat_, -1)),
      delay_(std::exchange(other.delay_, -1)),
      status_(std::exchange(other.status_, -1)) {}

processor_clock::~processor_clock() {
  if (stat_ >= 0) ::close(stat_);
  if (delay_ >= 0) ::close(delay_);
  if (status_ >= 0) ::close(status_);
}

double processor_clock::used_ns() const noexcept {
  timespec time = {};
  if (::clock_gettime(clock_, &time) != 0) return -1;
  return 1e9 * static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec);
}

double processor_clock::delayed_ns() const noexcept {
  return delay_in(delay_);
}

long processor_clock::rests() const noexcept {
  char text[4096];
  const auto size = ::pread(status_, text, sizeof text - 1, 0);
  if (size <= 0) return -1;
  text[size] = 0;
  constexpr char key[] = "\nvoluntary_ctxt_switches:";
  const char* found = std::strstr(text, key);
  return found == nullptr ? -1 : std::strtol(found + sizeof key - 1, nullptr, 10);
}

bool processor_clock::at_rest() const noexcept {
  const auto now = detail::read_stat(stat_);
  return !now || now->state != 'R';
}

bool processor_clock::stands_still() const noexcept {
  const auto now = detail::read_stat(stat_);
  return now && (now->state == 'T' || (now->state == 'Z' && now->threads > 1));
}

}  // namespace kevo
