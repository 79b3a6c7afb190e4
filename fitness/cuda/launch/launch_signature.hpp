#pragma once
// What launch lines can speak of on one workload: the task's buffers, scalars and axes, with their sizes.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <kevo/task.hpp>

namespace kevo::cuda {

/// A tensor input or an output.
struct buffer_signature {
  std::string name;
  std::string dtype;
  std::uint64_t elements = 0;
};
/// A scalar input, with the value of this call.
struct scalar_signature {
  std::string name;
  std::string dtype;
  std::array<std::uint8_t, 8> bytes{};  ///< one element of the dtype, first byte first
};

struct launch_signature {
  std::string workload;                  ///< its uuid, for messages
  bool hidden = false;                   ///< then messages give no sizes away
  std::vector<buffer_signature> inputs;  ///< the tensor inputs, in the task's order
  std::vector<buffer_signature> outputs;
  std::vector<scalar_signature> scalars;          ///< the scalar inputs, in the task's order
  std::map<std::string, std::int64_t> axes;       ///< constant and variable ones
  std::map<std::string, std::int64_t> constants;  ///< the constant ones alone
};

/// The signature of a workload. A scalar is given the workload's value if it states one, else 1: whoever
/// draws scalars at random sets `scalars[i].bytes` before it resolves a plan.
/// @throws kevo::error (input) for an extent below 0, an overflow, an unknown dtype
launch_signature signature_of(const task& t, const workload& w);

}  // namespace kevo::cuda
