#include "fitness/cuda/device/open_blocks.hpp"

#include <algorithm>
#include <cstring>

namespace kevo::cuda {
namespace {

// What a program frees is given back to the device only when it is closed here.
constexpr std::size_t most_blocks = 32;
constexpr std::uint64_t most_open_bytes = std::uint64_t{4} << 30U;

}  // namespace

open_blocks::~open_blocks() {
  while (!blocks_.empty()) close(blocks_.begin());
}

void open_blocks::close(std::map<key, open_block>::iterator which) {
  driver_->ipc_close(which->second.at);
  bytes_ -= which->second.bytes;
  blocks_.erase(which);
}

open_block* open_blocks::of(const result_claim& claim) {
  const key named{claim.block, claim.handle};
  const auto known = blocks_.find(named);
  if (known != blocks_.end()) {
    known->second.used = call_;
    return &known->second;
  }
  ipc_handle handle;
  std::memcpy(handle.bytes, claim.handle.data(), sizeof handle.bytes);
  open_block made{.used = call_};
  if (driver_->ipc_open(&made.at, handle, ipc_lazy_peer_access) != success) return nullptr;
  address begin = 0;
  std::size_t bytes = 0;
  if (driver_->range_of(&begin, &bytes, made.at) != success || made.at < begin || made.at - begin > bytes) {
    driver_->ipc_close(made.at);
    return nullptr;
  }
  made.bytes = bytes - (made.at - begin);
  bytes_ += made.bytes;
  return &blocks_.emplace(named, made).first->second;
}

std::vector<open_block> open_blocks::all() const {
  std::vector<open_block> found;
  for (const auto& [named, block] : blocks_) found.push_back(block);
  return found;
}

void open_blocks::close_old() {
  while (blocks_.size() > most_blocks || bytes_ > most_open_bytes) {
    const auto oldest = std::min_element(blocks_.begin(), blocks_.end(), [](const auto& a, const auto& b) {
      return a.second.used < b.second.used;
    });
    if (oldest == blocks_.end() || oldest->second.used == call_) return;
    close(oldest);
  }
}

}  // namespace kevo::cuda
