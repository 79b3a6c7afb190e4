#include <fmt/format.h>

#include "fitness/cuda/launch/resolve_parts.hpp"

namespace kevo::cuda::detail {
namespace {

std::array<std::uint32_t, 3> extents_of(const dim3_line& line, const std::array<std::int64_t, 3>& most,
                                        const std::string& what, const statement_line& statement,
                                        const environment& names, const loop_index* index) {
  std::array<std::uint32_t, 3> extents{1, 1, 1};
  for (std::size_t i = 0; i < line.size(); ++i) {
    const auto value = names.value(line[i], index);
    if (value < 1 || value > most.at(i)) {
      throw error(error_code::input,
                  fmt::format("{} '{}' is {}, but must be 1 to {}", what, line[i].text(), value, most.at(i)),
                  place_of_word(statement, line[i].text()));
    }
    extents.at(i) = static_cast<std::uint32_t>(value);
  }
  return extents;
}

std::uint64_t volume(const std::array<std::uint32_t, 3>& extents) {
  return std::uint64_t{extents[0]} * extents[1] * extents[2];
}

}  // namespace

std::array<std::uint32_t, 3> grid_of(const launch_line& line, const statement_line& statement,
                                     const environment& names, const loop_index* index) {
  return extents_of(line.grid, {2147483647, 65535, 65535}, "the grid extent", statement, names, index);
}

block_shape block_of(const launch_line& line, const statement_line& statement, const environment& names,
                     const loop_index* index, const device_facts& facts) {
  const std::int64_t most = facts.threads_per_block;
  block_shape shape;
  shape.block = extents_of(line.block, {most, most, 64}, "the block extent", statement, names, index);
  const auto threads = volume(shape.block);
  if (threads > facts.threads_per_block) {
    throw error(
        error_code::input,
        fmt::format("the block has {} threads, but the maximum is {}", threads, facts.threads_per_block),
        statement.place);
  }
  shape.threads = static_cast<std::uint32_t>(threads);
  if (line.shared_bytes) {
    const auto bytes = names.value(*line.shared_bytes, index);
    if (bytes < 0 || bytes > facts.shared_per_block) {
      throw error(error_code::input,
                  fmt::format("the shared memory size is {} bytes, but must be 0 to {}", bytes,
                              facts.shared_per_block),
                  place_of_word(statement, line.shared_bytes->text()));
    }
    shape.dynamic_shared_bytes = static_cast<std::uint32_t>(bytes);
  }
  return shape;
}

kernel_launch resolve_launch(const launch_line& line, const statement_line& statement, std::uint32_t kernel,
                             const compiled_kernel& compiled, const device_facts& facts, const scope& known,
                             const loop_index* index) {
  const environment& names = *known.names;
  const auto fail = [&](const std::string& message, const std::string& hint = {}) {
    throw error(error_code::input, compiled.name + ": " + message, line.kernel.place, hint);
  };
  const auto shape = block_of(line, statement, names, index, facts);
  kernel_launch launch;
  launch.kernel = kernel;
  launch.grid = grid_of(line, statement, names, index);
  launch.block = shape.block;
  launch.dynamic_shared_bytes = shape.dynamic_shared_bytes;
  if (compiled.max_threads > 0 && shape.threads > compiled.max_threads) {
    fail(fmt::format("the block has {} threads, but its __launch_bounds__ allow {}", shape.threads,
                     compiled.max_threads));
  }
  const auto shared = std::uint64_t{compiled.static_shared_bytes} + shape.dynamic_shared_bytes;
  if (shared > facts.shared_per_block) {
    fail(fmt::format("it uses {} bytes of shared memory ({} static), but the maximum is {}", shared,
                     compiled.static_shared_bytes, facts.shared_per_block));
  }
  const auto resident = blocks_per_sm(facts, compiled, shape.threads, shape.dynamic_shared_bytes);
  if (resident < 1) {
    fail(fmt::format("a block of {} threads with {} registers each and {} bytes of shared memory does not "
                     "fit on a multiprocessor",
                     shape.threads, compiled.registers, shared),
         "use fewer threads, or limit the registers with __launch_bounds__");
  }
  if (!line.cluster.empty()) {
    const std::int64_t most = facts.cluster_blocks;
    launch.cluster =
        extents_of(line.cluster, {most, most, most}, "the cluster extent", statement, names, index);
    if (facts.cluster_blocks < 2) fail("clusters need compute capability 9 or newer");
    if (volume(launch.cluster) > facts.cluster_blocks)
      fail(fmt::format("the cluster has {} blocks, but the maximum is {}", volume(launch.cluster), most));
    for (std::size_t i = 0; i < 3; ++i) {
      if (launch.grid.at(i) % launch.cluster.at(i) != 0) {
        fail(fmt::format("a grid of {} blocks is not divisible by a cluster of {}", launch.grid.at(i),
                         launch.cluster.at(i)),
             "round the grid up with align_up, and let the blocks beyond the end return at once");
      }
    }
  }
  launch.cooperative = line.cooperative;
  if (line.cooperative && volume(launch.grid) > static_cast<std::uint64_t>(resident * facts.sms)) {
    fail(fmt::format("the cooperative grid has {} blocks, but the device can hold only {} at once",
                     volume(launch.grid), resident * facts.sms),
         "use occupancy(" + line.kernel.text + ") * device.sms");
  }
  launch.programmatic = line.programmatic;
  if (line.programmatic && facts.cluster_blocks < 2) fail("pdl needs compute capability 9 or newer");
  if (line.carveout) {
    const auto percent = names.value(*line.carveout, index);
    if (percent < 0 || percent > 100)
      fail(fmt::format("the carveout is {} percent, but must be 0 to 100", percent));
    launch.carveout = static_cast<std::uint32_t>(percent);
  }
  if (line.arguments.size() != compiled.parameters.size()) {
    fail(fmt::format("takes {} arguments, not {}", compiled.parameters.size(), line.arguments.size()));
  }
  for (std::size_t i = 0; i < line.arguments.size(); ++i) {
    launch.arguments.push_back(
        resolve_argument(line.arguments[i], compiled.parameters[i], i + 1, known, index));
  }
  return launch;
}

}  // namespace kevo::cuda::detail
