#pragma once
// Memory of a worker's process that the trusted process has opened because results lie there. What a handle
// names stays there as long as it is open, whatever the process does with it or becomes of it.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "fitness/cuda/driver/driver.hpp"
#include "fitness/cuda/wire/worker_protocol.hpp"

namespace kevo::cuda {

struct open_block {
  address at = 0;
  std::uint64_t bytes = 0;  ///< as the trusted process' own driver says
  /// The process has proved that it can read it: what it names is not memory of somebody else.
  bool proved = false;
  std::uint64_t used = 0;  ///< the last call that had a result in it
};

/// The blocks of one process. Not copyable; the destructor closes them.
class open_blocks {
 public:
  explicit open_blocks(const driver& d) : driver_(&d) {}
  open_blocks(const open_blocks&) = delete;
  open_blocks& operator=(const open_blocks&) = delete;
  ~open_blocks();

  /// A further call begins.
  void begin_call() { ++call_; }
  /// The block that a claim names, opened if it is not. Waits for nothing on the device.
  /// @return null: there is no such memory
  open_block* of(const result_claim& claim);
  /// Closes what has not been used for long, where there is much of it. Waits for the device.
  void close_old();
  std::size_t size() const { return blocks_.size(); }
  /// All that are open, in an order that changes only when one is opened or closed.
  std::vector<open_block> all() const;

 private:
  using key = std::pair<std::uint64_t, std::array<unsigned char, 64>>;
  void close(std::map<key, open_block>::iterator which);

  const driver* driver_;
  std::map<key, open_block> blocks_;
  std::uint64_t bytes_ = 0;
  std::uint64_t call_ = 0;
};

}  // namespace kevo::cuda
