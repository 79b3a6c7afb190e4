#pragma once
// Contents of inputs, drawn from a secret seed. Timed and checked calls see one mixture of distributions, so
// that a kernel that relies on one of them, or on a sample of its elements, does not pass.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include <kevo/random.hpp>
#include <kevo/task.hpp>

#include "fitness/oracle/element_type.hpp"

namespace kevo {

/// How a content departs from the task's generator. It never leaves the generator's domain: a uniform or
/// integer input stays in its range, a permutation stays one. `constant` is one value in every element;
/// `patchy` changes between the others from one secret place to the next; `spiked` is constant but for a few
/// elements in secret places, far from all others.
enum class variety : std::uint8_t { plain, scaled, shifted, heavy_tailed, constant, patchy, spiked };
inline constexpr std::size_t variety_count = 7;
std::string_view to_string(variety v);

/// How far a variety may go: `mild` where tolerances are absolute (larger values make honest errors larger).
enum class variety_strength : std::uint8_t { mild, full };

/// Where a patchy content of `count` elements changes: secret places in order, the first 0 and the last
/// `count`.
std::vector<std::size_t> patch_bounds(std::size_t count, rng& random);
/// How a patch is made: any of the simple varieties.
variety patch_variety(rng& random);
/// How a patch of uniform real numbers is made if `patch_variety` drew `drawn`: it covers at least half of
/// the range. A patch that lies in a small part of it may hold hundreds of elements whose exponentials are
/// small beside a sum that a patch before it made: a float32 sum rounds them all in one direction, and honest
/// programs are wrong (softmax of 1024 elements in a row, summed in order: 9 contents of 1000 beyond 2e-5).
variety patch_of_uniform(variety drawn);
/// The secret places of a spiked content of `count` elements: few, but at least one.
std::vector<std::size_t> spike_places(std::size_t count, rng& random);
/// How far the usual elements of a spiked normal content lie apart, relative to one of them. One value many
/// times over would make rounding errors of one sign in the sums of honest programs, whatever function of it
/// they sum.
inline constexpr double jitter_of_usual = 1.0 / 64;
/// The same for uniform contents, as a share of their range: under an exponential, elements that lie nearer
/// to each other are added to a far one with errors of one sign (softmax in float32: 1 content of 20 beyond
/// 2e-5).
inline constexpr double spread_of_usual = 0.25;

/// How an input of a workload is made: by the workload's own generator, else by the task's.
const generator& generator_of(const tensor& input, const workload& w);

/// `count` elements of `type`, as the bytes that the kernel reads.
/// @param recipe its numbers, not expressions: see `resolved`
/// @param rows of the generator "columns": the offsets of the rows, ascending from 0 to `count`
/// @throws kevo::error (input) for a generator kind that is not known, and for rows that "columns" cannot
/// fill
std::vector<std::byte> generate_elements(const element_type& type, std::size_t count, const generator& recipe,
                                         variety v, variety_strength strength, rng& random,
                                         std::span<const std::int64_t> rows = {});

/// As many elements as `given` holds, each one of them drawn at random: the distribution is that of `given`,
/// and nobody knows the elements in advance. Varieties scale them, or take one element for all.
std::vector<std::byte> redrawn(const element_type& type, std::span<const std::byte> given, variety v,
                               variety_strength strength, rng& random);

/// A seed from the operating system's random source.
std::uint64_t secret_seed();

}  // namespace kevo
