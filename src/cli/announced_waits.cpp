#include "src/cli/announced_waits.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "src/cli/standard_error.hpp"
#include "src/display/run_status.hpp"

namespace kevo::cli {
namespace {
using namespace std::chrono_literals;  // NOLINT(google-build-using-namespace)
constexpr auto between_looks = 250ms;
constexpr auto between_lines = 10s;
constexpr double worth_telling_s = 1;
}  // namespace

announced_waits::announced_waits() : announced_waits([](const std::string& line) { say("kevo: " + line); }) {}

announced_waits::announced_waits(std::function<void(const std::string&)> say)
    : say_(std::move(say)), watcher_([this](const std::stop_token& stop) { watch(stop); }) {}

wait_listener announced_waits::listener() {
  return [this](const std::optional<device_holder>& holder) { tell(holder); };
}

void announced_waits::tell(const std::optional<device_holder>& holder) {
  const std::scoped_lock lock(guard_);
  const auto mine = std::this_thread::get_id();
  if (!holder) {
    waits_.erase(mine);
    return;
  }
  const auto [known, is_new] = waits_.try_emplace(mine, wait{*holder, clock::now()});
  known->second.holder = *holder;
  if (is_new) changed_.notify_all();
}

// The thread sleeps while nobody waits, so that it takes no processor from what is measured.
void announced_waits::watch(const std::stop_token& stop) {
  std::unique_lock lock(guard_);
  while (changed_.wait(lock, stop, [this] { return !waits_.empty(); })) {
    changed_.wait_for(lock, stop, between_looks, [] { return false; });
    const auto now = clock::now();
    const std::string line = due(now);
    if (line.empty()) continue;
    quiet_until_ = now + between_lines;
    lock.unlock();
    say_(line);
    lock.lock();
  }
}

std::string announced_waits::due(clock::time_point now) const {
  if (waits_.empty() || now < quiet_until_) return {};
  const auto oldest = std::min_element(waits_.begin(), waits_.end(), [](const auto& a, const auto& b) {
    return a.second.since < b.second.since;
  });
  const double lasted_s = std::chrono::duration<double>(now - oldest->second.since).count();
  if (lasted_s < worth_telling_s) return {};
  return fmt::format("waits for {}, {}", to_string(oldest->second.holder), wait_length(lasted_s));
}

}  // namespace kevo::cli
