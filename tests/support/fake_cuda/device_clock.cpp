#include "tests/support/fake_cuda/device_clock.hpp"

#include <algorithm>
#include <array>
#include <sys/syscall.h>
#include <unistd.h>

namespace fake_cuda {
namespace {

std::array<std::atomic<device_page*>, 32> watched;
std::atomic<std::int64_t> behind{0};  // how far what is shown lags behind real time [ns]

}  // namespace

device_page* frozen_page() {
  for (auto& one : watched) {
    auto* page = one.load();
    if (page != nullptr && page->frozen.load(std::memory_order_acquire) != 0) return page;
  }
  return nullptr;
}

std::int64_t real_ns() {
  timespec now = {};
  ::syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void watch(device_page* page) {
  for (auto& one : watched) {
    device_page* none = nullptr;
    if (one.compare_exchange_strong(none, page)) return;
  }
}
void forget(device_page* page) {
  for (auto& one : watched) {
    device_page* same = page;
    one.compare_exchange_strong(same, nullptr);
  }
}

void freeze(device_page& page) {
  const auto now = real_ns();
  page.frozen_at = now;
  page.elapsed = 0;
  page.runs_free_at = now + longest_freeze_ns;
  page.frozen.store(1, std::memory_order_release);
}
void add(device_page& page, double ns) {
  page.elapsed += static_cast<std::int64_t>(ns);
}
void let_run(device_page& page) {
  page.runs_free_at = std::min<std::int64_t>(page.runs_free_at, real_ns());
}

void thaw() {
  auto* page = frozen_page();
  if (page == nullptr) return;
  const auto shown = shown_ns();
  page->frozen.store(0, std::memory_order_release);
  behind = real_ns() - shown;
}

std::int64_t shown_ns() {
  const auto now = real_ns();
  const auto* page = frozen_page();
  if (page == nullptr) return now - behind;
  return page->frozen_at - behind + page->elapsed + std::max<std::int64_t>(0, now - page->runs_free_at);
}

}  // namespace fake_cuda
