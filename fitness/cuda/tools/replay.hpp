#pragma once
// One call of a program, with everything that it needs, as a file: what kevo-replay-cuda carries out under
// NVIDIA's tools.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "fitness/cuda/wire/module.hpp"
#include "fitness/cuda/wire/plan.hpp"

namespace kevo::cuda {

/// Holds inputs and sizes alone: what is expected of the outputs is in no process that candidates share.
struct replay {
  compiled_module code;
  plan what;
  std::vector<std::string> inputs;     ///< the bytes of each
  std::vector<std::uint64_t> outputs;  ///< [bytes] of each
};

/// How kevo-replay-cuda ends.
enum class replay_exit : int {
  ran = 0,
  usage = 2,
  machine = 3,  ///< no driver, device, context or memory
  failed = 10,  ///< the driver did not take the plan, or it failed on the device; standard error says which
};

std::string encode(const replay& one);
/// The inverse. @throws kevo::error (internal) unless `bytes` are exactly what `encode` makes
replay decode_replay(std::string_view bytes);

}  // namespace kevo::cuda
