#pragma once
// Contents of inputs, drawn from a secret seed. Correctness calls vary the distribution, so that a kernel
// that relies on the one of the timed calls does not pass.

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include <kevo/random.hpp>
#include <kevo/task.hpp>

#include "fitness/oracle/element_type.hpp"

namespace kevo {

/// How a content departs from the task's generator. It never leaves the generator's domain: a uniform or
/// integer input stays in its range, a permutation stays one. `constant` is one value in every element.
enum class variety : std::uint8_t { plain, scaled, shifted, heavy_tailed, constant };
inline constexpr std::size_t variety_count = 5;
std::string_view to_string(variety v);

/// How far a variety may go: `mild` where tolerances are absolute (larger values make honest errors larger).
enum class variety_strength : std::uint8_t { mild, full };

/// How an input of a workload is made: by the workload's own generator, else by the task's.
const generator& generator_of(const tensor& input, const workload& w);

/// `count` elements of `type`, as the bytes that the kernel reads.
/// @throws kevo::error (input) for a generator kind that is not known
std::vector<std::byte> generate_elements(const element_type& type, std::size_t count, const generator& recipe,
                                         variety v, variety_strength strength, rng& random);

/// A seed from the operating system's random source.
std::uint64_t secret_seed();

}  // namespace kevo
