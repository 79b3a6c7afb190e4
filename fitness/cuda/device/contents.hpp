#pragma once
// The secret half of an evaluation on the device: inputs drawn on the device with what they must give, made
// by the task's reference in the trusted context, in memory that no worker can map.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <kevo/random.hpp>

#include "fitness/cuda/device/gpu.hpp"
#include "fitness/oracle/generate.hpp"

namespace kevo::cuda {

/// One (input, expected) pair.
struct device_content {
  std::vector<private_memory> inputs;
  std::vector<private_memory> expected;  ///< 64-bit elements
  std::vector<private_memory> scales;    ///< float64
  std::vector<bool> cancels;             ///< for each output: whether its narrower bound holds
  variety kind = variety::plain;
};

/// What the kernel `kevo_generate` is told of a generator: with z a standard normal number and u one in [0,
/// 1), the elements are a + b (scale z + shift) or a + (b - a) (shift + scale u).
struct generated_numbers {
  int code = 0;  ///< 0: normal, 1: uniform, 2: integers
  double a = 0;
  double b = 0;
  double scale = 1;
  double shift = 0;
  double tail = 0;   ///< above 0: heavy-tailed, a normal one cut there
  int constant = 0;  ///< 1: one element for all
  int upper = 0;     ///< 1: heavy tails of uniform numbers begin at the upper end
};

/// The numbers for an input of the generators normal, uniform or integers. `kind` is not patchy; the spikes
/// of a spiked content are drawn apart.
generated_numbers numbers_for(const device_input& input, variety kind, bool mild, rng& random);

/// What computes the expected values: it is given the addresses of inputs, outputs (64-bit elements), scale
/// tensors and workspaces, in this order. Answers what is wrong with it; nothing if nothing is.
using reference_run = std::function<std::string(const std::vector<address>& buffers)>;

/// Draws the inputs, runs the reference, and checks what it gave.
/// @param given elements of the inputs that are not drawn here: `given_bytes(w)` bytes
/// @return what is wrong with the reference or its generators; empty if nothing is
/// @throws kevo::error (environment) for faults of the machine
std::string make_content(gpu& device, const reference_run& reference, const device_workload& w, variety kind,
                         std::uint64_t seed, std::span<const std::byte> given, device_content& made);

/// Compares one output with what is expected of it.
/// @param found device memory of 8 words that may be overwritten
/// @return true if it is accepted; otherwise `finding` says why
bool accepted(gpu& device, const device_output& rule, const device_content& content, std::size_t index,
              address got, address found, output_finding& finding);

/// Elements of an output that KernelBench's rule refuses (`device_output::suite`). `found` as above.
std::uint64_t suite_misses(gpu& device, const device_output& rule, const device_content& content,
                           std::size_t index, address got, address found);

}  // namespace kevo::cuda
