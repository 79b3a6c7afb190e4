#include "tests/support/fake_cuda/device.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <dlfcn.h>
#include <filesystem>
#include <fstream>
#include <random>
#include <string_view>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

namespace fake_cuda {
namespace {

using namespace kevo::cuda;

constexpr double signal_ns = 8000;  // from the release of a call to its "done", besides the call itself
constexpr std::uint64_t clock_mhz = 1980;
constexpr double bytes_per_ns = 4000;
constexpr double copy_ns = 2000;  // to begin one

double jitter() {
  static std::mt19937_64 random(std::random_device{}());
  return 1 + 0.002 * (static_cast<double>(random() % 2001) / 1000 - 1);
}

void pass_time(double ns) {
  auto& d = device();
  d.now_ns += ns;
  if (d.page != nullptr && d.page->frozen != 0) add(*d.page, ns);
}

// The toy kernels take (input, output, size); one of rows writes an element a block.
std::size_t outputs_of(const work_item& item) {
  const auto size = static_cast<std::size_t>(stored<long long>(item.parameters, 2));
  return item.kernel->work == find_toy_kernel("rows") ? item.shape.blocks : size;
}

void spoil(module_state& module, const work_item& item) {
  const auto& how = module.how;
  auto* x = stored<float*>(item.parameters, 0);
  auto* y = stored<float*>(item.parameters, 1);
  const auto count = outputs_of(item);
  if (how.stale) {
    if (module.first_result.empty()) module.first_result.assign(y, y + count);
    for (std::size_t i = 0; i < count; ++i) y[i] = module.first_result[i % module.first_result.size()];
  }
  if (how.wrong_value) y[count / 2] += 1;
  if (how.change_input) x[0] += 1;
  if (how.write_guard) std::memset(y + count, 0x5a, 64);
  if (how.random_bits) {
    static std::mt19937_64 random(std::random_device{}());
    for (std::size_t i = 0; i < count; ++i) {
      std::uint32_t word = 0;
      std::memcpy(&word, y + i, sizeof word);
      word ^= static_cast<std::uint32_t>(random() & 1U);
      std::memcpy(y + i, &word, sizeof word);
    }
  }
}

// The work comes after the first look at the outputs and before the last one, as kernels of another context
// do that are still at work. kevo-device says when: it reads its clock between the two.
void finish_later(const work_item& item) {
  auto& d = device();
  d.late.push_back(item);
  if (d.page->late != 0) return;
  d.page->late = 1;
  std::thread([&d] {
    while (d.page->late != 2) std::this_thread::sleep_for(std::chrono::microseconds(100));
    for (const auto& one : d.late) {
      one.kernel->work->call(one.parameters, one.shape);
      add(*d.page, one.kernel->home->how.ns);
    }
    d.late.clear();
    d.page->late = 0;
  }).detach();
}
void await_late_work() {
  for (auto* page : device().pages) {
    std::uint32_t outstanding = 1;
    if (!page->late.compare_exchange_strong(outstanding, 2)) continue;
    for (int i = 0; i < 20'000 && page->late != 0; ++i)
      std::this_thread::sleep_for(std::chrono::microseconds(100));
    page->late = 0;
  }
}

void read_clock(const work_item& item) {
  auto& d = device();
  await_late_work();
  auto* out = stored<std::uint64_t*>(item.parameters, 0);
  const auto now = std::chrono::steady_clock::now();
  const bool rested = d.rest_ms > 0 && now - d.last_clock_reading > std::chrono::milliseconds(d.rest_ms);
  d.last_clock_reading = now;
  const bool low = d.clock_drop_every > 0 && ++d.clock_readings % d.clock_drop_every == 0 && !rested;
  out[0] = out[1] * (low ? clock_mhz * 9 / 10 : clock_mhz) / 1000;
}

driver_code run_kernel(const work_item& item) {
  auto& d = device();
  auto& module = *item.kernel->home;
  const auto& work = *item.kernel->work;
  const auto& how = module.how;
  const bool spoilt = item.kernel->toy && (!how.when_hidden || stored<long long>(item.parameters, 2) < 100);
  constexpr std::uint32_t launch_that_hangs = 30;
  const bool hangs_now = how.hang_once && d.page != nullptr && d.page->launches++ == launch_that_hangs;
  if (spoilt && (how.hang || hangs_now)) {
    d.hangs = true;
    if (d.page != nullptr) let_run(*d.page);
    return error_not_ready;
  }
  if (spoilt && (how.exit || (how.exit_once && d.page->exits.exchange(1) == 0))) {
    let_run(*d.page);
    ::_exit(5);
  }
  if (spoilt && how.illegal_address) return d.sticky = error_illegal_address;
  if (spoilt && how.launch_failure) return d.sticky = error_launch_failed;
  if (spoilt && how.lose_device) {
    if (d.page != nullptr) d.page->lost = 1;
    return d.sticky = unknown_error;
  }
  if (item.kernel->toy && d.page != nullptr && d.page->launch_ms > 0)
    std::this_thread::sleep_for(std::chrono::milliseconds(d.page->launch_ms));
  const bool first = module.launches++ == 0;
  double ns = work.duration != nullptr ? work.duration(item.parameters) : module.how.ns * jitter();
  if (how.slow_first && first) ns *= 100;
  if (item.kernel->toy && d.page != nullptr) ns = std::max(ns, static_cast<double>(d.page->minimum_ns));
  if (spoilt && how.early) {
    pass_time(1000);
    finish_later(item);
    return success;
  }
  pass_time(ns);
  if (spoilt && how.no_op) return success;
  work.call(item.parameters, item.shape);
  if (item.kernel->reads_clock) read_clock(item);
  if (spoilt) spoil(module, item);
  return success;
}

// Most of a cleared arena has never been touched: its pages are given back.
void clear_or_fill(const work_item& item) {
  constexpr std::uintptr_t page = 4096;
  const auto begin = (item.target + page - 1) / page * page;
  const auto end = (item.target + item.bytes) / page * page;
  auto* const target = reinterpret_cast<unsigned char*>(item.target);
  if (item.value != 0 || begin >= end ||
      ::madvise(reinterpret_cast<void*>(begin), end - begin, MADV_REMOVE) != 0) {
    std::memset(target, item.value, item.bytes);
    return;
  }
  std::memset(target, 0, begin - item.target);
  std::memset(reinterpret_cast<void*>(end), 0, item.target + item.bytes - end);
}

// Answers error_not_ready while the barrier is closed.
driver_code hold(stream_state& stream, const work_item& item) {
  auto& d = device();
  auto* barrier = stored<volatile std::uint64_t*>(item.parameters, 0);
  const auto wanted = stored<std::uint64_t>(item.parameters, 1);
  if (!stream.at_barrier) {
    stream.at_barrier = true;
    if (d.page != nullptr && d.page->frozen == 0) freeze(*d.page);
    barrier[1] = wanted;
  }
  // A barrier that waits for nothing stands behind the last of several calls; the others hand on a key.
  const bool between = item.parameters.size() > 3;
  if (between && stored<std::uint64_t>(item.parameters, 2) == 0) {
    stream.at_barrier = false;
    return success;
  }
  if (barrier[0] != wanted) return error_not_ready;
  if (between) {
    auto* key = stored<std::uint64_t*>(item.parameters, 3);
    key[0] = barrier[4];
    key[1] = barrier[5];
  }
  stream.at_barrier = false;
  if (d.page != nullptr) add(*d.page, signal_ns);
  return success;
}

}  // namespace

bool device_folder::lost() const {
  return ::access((path + "/lost").c_str(), F_OK) == 0;
}
void device_folder::lose() const {
  std::ofstream(path + "/lost") << "lost\n";
}

const device_folder& folder() {
  static const device_folder found = [] {
    Dl_info about = {};
    ::dladdr(reinterpret_cast<const void*>(&folder), &about);
    device_folder f;
    f.path = std::filesystem::path(about.dli_fname).parent_path().string();
    // A test's own copy of the library ends with its own id.
    std::ifstream self(about.dli_fname, std::ios::binary);
    self.seekg(-16, std::ios::end);
    f.id.resize(16);
    self.read(f.id.data(), 16);
    return f;
  }();
  return found;
}

device_state& device() {
  static device_state state = [] {
    device_state made;
    std::ifstream settings(folder().path + "/settings");
    std::string word;
    for (std::uint64_t value = 0; settings >> word >> value;) {
      if (word == "memory_bytes") made.memory_bytes = value;
      if (word == "devices") made.devices = static_cast<int>(value);
      if (word == "minimum_ns") made.minimum_ns = static_cast<std::int64_t>(value);
      if (word == "launch_ms") made.launch_ms = static_cast<int>(value);
      if (word == "rest_ms") made.rest_ms = static_cast<int>(value);
      if (word == "clock_drop_every") made.clock_drop_every = static_cast<int>(value);
    }
    return made;
  }();
  return state;
}

bool note_copy(address target, std::size_t bytes) {
  auto& d = device();
  // Before there is an arena: kevo-device measures the bandwidth, workers copy what is theirs.
  if (!d.owns_memory) return std::string_view(program_invocation_short_name) != "kevo-device";
  auto above = d.arenas.upper_bound(target);
  device_page* into = above == d.arenas.begin() ? nullptr : std::prev(above)->second;
  const bool inside =
      into != nullptr && target < std::prev(above)->first + d.allocations[std::prev(above)->first];
  if (inside && frozen_page() == nullptr) freeze(*into);
  if (auto* page = frozen_page(); page != nullptr) {
    page->runs_free_at = real_ns() + longest_freeze_ns;
    add(*page, (copy_ns + 2 * static_cast<double>(bytes) / bytes_per_ns) * jitter());
  }
  return inside;
}

void fence_by_copy(address source) {
  auto& d = device();
  if (!d.owns_memory) return;
  const auto above = d.arenas.upper_bound(source);
  if (above == d.arenas.begin() || source >= std::prev(above)->first + d.allocations[std::prev(above)->first])
    return;
  await_late_work();
}

void note_outstanding() {
  auto& d = device();
  if (d.page == nullptr || d.page->late != 0) return;
  for (const auto* stream : d.lazy) {
    if (!stream->waiting.empty()) d.page->late = 1;
  }
}

void await_outstanding(device_page* page) {
  std::thread([page] {
    for (;;) {
      // Every process of a hosted program looks for as long as it lives: ten times as often, it took a tenth
      // of a processor.
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
      auto& d = device();
      if (page->late != 2 || !d.late.empty() || d.lazy.empty()) continue;
      for (auto* stream : d.lazy) advance(*stream);
      page->late = 0;
    }
  }).detach();
}

driver_code enter(bool copies) {
  auto& d = device();
  if (d.owns_memory) {
    if (!copies) thaw();
    bool lost = folder().lost();
    for (const auto* page : d.pages) lost = lost || page->lost != 0;
    if (lost && d.sticky == success) {
      for (auto* page : d.pages) page->lost = 1;
      folder().lose();
      d.sticky = unknown_error;
    }
  } else if (d.page != nullptr && d.page->lost != 0) {
    d.sticky = unknown_error;
  }
  return d.sticky;
}

driver_code advance(stream_state& stream) {
  auto& d = device();
  while (!stream.waiting.empty()) {
    if (d.sticky != success) return d.sticky;
    if (d.hangs) return error_not_ready;
    auto& item = stream.waiting.front();
    driver_code code = success;
    switch (item.what) {
      case work_item::kind::kernel:
        code = item.kernel->blocks ? hold(stream, item) : run_kernel(item);
        break;
      case work_item::kind::fill:
        clear_or_fill(item);
        break;
      case work_item::kind::copy:
        pass_time(2 * static_cast<double>(item.bytes) / bytes_per_ns);
        if (item.only_time) break;
        std::memmove(reinterpret_cast<void*>(item.target), reinterpret_cast<const void*>(item.source),
                     item.bytes);
        break;
      case work_item::kind::host:
        pass_time(item.ns * jitter());
        item.host();
        break;
      case work_item::kind::record:
        item.event->at_ns = d.now_ns;
        item.event->recorded = true;
        break;
    }
    if (code != success) return code;
    stream.waiting.pop_front();
  }
  return d.sticky;
}

driver_code submit(stream_state& on, work_item item) {
  if (on.captures_to != nullptr) {
    on.captures_to->items.push_back(std::move(item));
    return success;
  }
  on.waiting.push_back(std::move(item));
  if (on.lazy) return success;
  const auto code = advance(on);
  return code == error_not_ready || !device().owns_memory ? success : code;
}

}  // namespace fake_cuda
