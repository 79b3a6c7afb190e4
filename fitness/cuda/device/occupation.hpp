#pragma once
// The device, kept from the programs of other contexts while a call of theirs is held. Work that needs none
// of the inputs could otherwise run before the clock of the call begins, for nothing. Contexts have the
// device in turns: while a kernel of the trusted context runs, work of others waits, until the driver thinks
// that it is their turn. The kernel sees that as a gap in its own time.

#include <cstdint>

#include "fitness/cuda/device/gpu.hpp"

namespace kevo::cuda {

/// Not thread-safe. The device computes in one place at a time: used from `begin` to `end` of one call.
class occupation {
 public:
  /// Returns when the kernel runs, on the main stream; what is queued there later begins behind its end.
  /// @param aside another stream, with nothing in it. @throws kevo::error (environment)
  void begin(gpu& device, stream aside);
  /// The kernel ends. Does nothing if it was not begun.
  void end();
  /// For how long others had the device between `begin` and `end`. Valid when the kernel has ended. [ns]
  double elsewhere_ns() const;

 private:
  gpu* device_ = nullptr;
  stream aside_ = nullptr;
  private_memory word_;
  pinned_memory seen_;
  std::uint32_t number_ = 0;
  bool busy_ = false;
};

}  // namespace kevo::cuda
