#include "fitness/cuda/device/occupation.hpp"

#include <atomic>
#include <chrono>

#include <kevo/error.hpp>

namespace kevo::cuda {
namespace {

using clock = std::chrono::steady_clock;

// Much longer than a call is held. Whatever becomes of this process, the device is free afterwards.
constexpr std::uint64_t longest_ns = 20'000'000;
// Between two looks of the kernel at its clock: others had the device meanwhile. A look takes a microsecond.
constexpr std::uint64_t gap_ns = 10'000;
constexpr std::size_t words_bytes = 64;
constexpr auto start_patience = std::chrono::seconds(2);

// What the kernel writes: which occupation runs, and for how long others had the device.
struct seen_words {
  std::uint64_t running = 0;
  std::uint64_t elsewhere_ns = 0;
};

}  // namespace

void occupation::begin(gpu& device, stream aside) {
  const auto& d = device.api();
  if (word_.bytes() == 0) {
    word_ = private_memory(d, words_bytes);
    seen_ = pinned_memory(d, words_bytes);
    device.clear(word_.at(), words_bytes);
  }
  device_ = &device;
  aside_ = aside;
  auto& seen = *reinterpret_cast<seen_words*>(seen_.at());
  seen = {};
  ++number_;
  device.over("kevo_occupy", 1, word_.at(), std::uint64_t{number_}, longest_ns, gap_ns, seen_.at());
  busy_ = true;
  const auto deadline = clock::now() + start_patience;
  while (std::atomic_ref(seen.running).load(std::memory_order_acquire) != number_) {
    if (clock::now() > deadline)
      throw error(error_code::environment, "a trusted kernel did not begin within two seconds", {},
                  "end other programs on the device");
  }
}

void occupation::end() {
  if (!busy_) return;
  busy_ = false;
  check(device_->api(), device_->api().stream_write_value(aside_, word_.at(), number_, 0),
        "ending a trusted kernel");
}

double occupation::elsewhere_ns() const {
  return static_cast<double>(reinterpret_cast<const seen_words*>(seen_.at())->elsewhere_ns);
}

}  // namespace kevo::cuda
