#pragma once
// What is made ready in front of every call of a declared candidate. Before the barrier: its module's globals
// hold again what they held when the module was loaded, and shared memory is cleared, so that what a call
// leaves behind is of no use to the next one. Behind the barrier, on the clock of both sides alike: inputs
// are unmasked.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "fitness/cuda/driver/driver.hpp"
#include "fitness/cuda/driver/execute.hpp"
#include "fitness/cuda/wire/module.hpp"

namespace kevo::cuda {

/// A buffer of a call whose contents are masked until the call begins.
struct masked_buffer {
  address at = 0;
  std::uint64_t bytes = 0;
  std::uint64_t lane = 0;  ///< tells the buffers of a call apart
};

/// Of one process. Nothing is ever freed but the copy of globals.
class prepared_calls {
 public:
  driver_failure open(const driver& d, device_index device, stream on) {
    d_ = &d;
    stream_ = on;
    const auto ask = [&](int& value, device_attribute which) {
      return d.device_attribute_of(&value, static_cast<int>(which), device);
    };
    if (const auto code = ask(multiprocessors_, device_attribute::multiprocessors))
      return {code, "asking for the multiprocessors"};
    return {ask(shared_bytes_, device_attribute::shared_memory_per_block_optin), "asking for shared memory"};
  }

  /// @param ready the trusted kernel kevo_ready
  driver_failure ready_with(function ready) {
    ready_ = ready;
    return {d_->function_set(ready, static_cast<int>(function_attribute::max_dynamic_shared_bytes),
                             shared_bytes_),
            "asking for all shared memory"};
  }

  /// Keeps what the globals of a module hold now, before anything of it has run.
  driver_failure keep_globals(const loaded_module& code) {
    if (kept_ != 0) d_->memory_free(kept_);
    kept_ = 0;
    globals_.clear();
    std::uint64_t total = 0;
    for (const auto& section : code.globals()) {
      total += up(section.whole.bytes) + up(section.between.bytes);
      for (const auto& piece : section.pieces) total += up(piece.bytes);
    }
    if (total == 0) return {};
    if (const auto failed = d_->memory_allocate(&kept_, total)) return {failed, "keeping the globals"};
    address at = kept_;
    for (const auto& section : code.globals()) {
      // Whole sections, with the gaps in them, where the driver lets them be copied; it knows variables one
      // by one, so that a kernel may have to.
      if (section.whole.bytes > 0 && keep(section.whole, at) == success) continue;
      if (section.all_found && section.between.bytes > 0) {
        if (auto failure = keep_by_kernel(section.between, at)) return failure;
        continue;
      }
      if (!section.all_found) return {error_invalid_value, "keeping variables that have no name"};
      for (const auto& piece : section.pieces) {
        if (const auto failed = keep(piece, at)) return {failed, "keeping the globals"};
      }
    }
    return {d_->stream_synchronize(stream_), "keeping the globals"};
  }

  /// Works out the tables of calls, for `enqueue_restore` and `enqueue_unmask`. @param masked of each call;
  /// @param clears_shared whether shared memory is cleared
  driver_failure plan(std::span<const std::vector<masked_buffer>> masked, bool clears_shared) {
    clears_ = clears_shared;
    masked_.clear();
    std::vector<prepared_range> all = globals_;
    for (const auto& buffers : masked) {
      masked_.emplace_back(all.size(), buffers.size());
      for (const auto& one : buffers) all.push_back({one.at, 0, one.bytes, one.lane});
    }
    if (all.empty()) return {};
    return write_table(all);
  }

  /// Puts on the stream (or into the graph that is captured) what takes away what a call has left behind.
  driver_failure enqueue_restore() {
    if (globals_.empty() && !clears_) return {};
    return enqueue(0, globals_.size(), 0, clears_ ? shared_bytes_ : 0);
  }
  /// The same for what unmasks the inputs of a call. @param key where the key will be
  driver_failure enqueue_unmask(std::size_t call, address key) {
    const auto [begin, size] = masked_[call];
    return size == 0 ? driver_failure{} : enqueue(begin, size, key, 0);
  }

 private:
  // As the device sees it.
  struct prepared_range {
    std::uint64_t to = 0;
    std::uint64_t from = 0;  // 0: it is unmasked
    std::uint64_t bytes = 0;
    std::uint64_t lane = 0;
  };
  driver_code keep(const placed_bytes& one, address& at) {
    if (one.bytes == 0) return success;
    const auto code = d_->copy_on(at, one.at, one.bytes, stream_);
    if (code != success) return code;
    globals_.push_back({one.at, at, one.bytes, 0});
    at += up(one.bytes);
    return success;
  }
  driver_failure keep_by_kernel(const placed_bytes& one, address& at) {
    if (auto failure = write_table({{at, one.at, one.bytes, 0}})) return failure;
    if (auto failure = enqueue(0, 1, 0, 0)) return failure;
    globals_.push_back({one.at, at, one.bytes, 0});
    at += up(one.bytes);
    return {d_->stream_synchronize(stream_), "keeping the globals"};
  }
  driver_failure enqueue(std::size_t begin, std::size_t size, address key, int shared_bytes) {
    address table = table_ + begin * sizeof(prepared_range);
    std::uint64_t count = size;
    auto shared = static_cast<std::uint32_t>(shared_bytes);
    void* arguments[] = {&table, &count, &key, &shared};
    launch_configuration how;
    how.grid_x = static_cast<unsigned>(multiprocessors_);
    how.block_x = 1024;
    how.shared_bytes = shared;
    how.stream = stream_;
    return {d_->launch(&how, ready_, arguments, nullptr), "making a call ready"};
  }
  driver_failure write_table(const std::vector<prepared_range>& all) {
    const std::size_t bytes = all.size() * sizeof(prepared_range);
    if (bytes > table_bytes_) {
      if (table_ != 0) d_->memory_free(table_);
      table_ = 0;
      table_bytes_ = std::max<std::size_t>(2 * bytes, 4096);
      if (const auto code = d_->memory_allocate(&table_, table_bytes_)) return {code, "allocating a table"};
    }
    if (const auto code = d_->copy_in(table_, all.data(), bytes, stream_)) return {code, "copying a table"};
    return {d_->stream_synchronize(stream_), "copying a table"};
  }
  static std::uint64_t up(std::uint64_t bytes) { return (bytes + 255) / 256 * 256; }

  const driver* d_ = nullptr;
  stream stream_ = nullptr;
  int multiprocessors_ = 1;
  int shared_bytes_ = 0;  // of a block that has a multiprocessor for itself
  function ready_ = nullptr;
  address kept_ = 0;
  std::vector<prepared_range> globals_;
  bool clears_ = false;
  std::vector<std::pair<std::size_t, std::size_t>> masked_;  // of each call in the table
  address table_ = 0;
  std::size_t table_bytes_ = 0;
};

}  // namespace kevo::cuda
