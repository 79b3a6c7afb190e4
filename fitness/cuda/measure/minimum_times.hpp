#pragma once
// What a device can do at best, from its datasheet alone: no measurement, no candidate's word. Pure
// functions; docs/gpu.md says how evaluations use them.

#include <cstdint>
#include <optional>

namespace kevo::cuda {

/// Dense operations of one multiprocessor in one clock cycle; a multiply-add counts as two. 0: it has none.
struct multiprocessor_rates {
  double fp64 = 0;         ///< on cores
  double fp64_matrix = 0;  ///< on tensor cores
  double fp32 = 0;
  double tf32 = 0;
  double fp16 = 0;  ///< fp16 and bf16 operands, fp32 sums
  double fp8 = 0;
  double int8 = 0;
};

/// Of a compute capability; nothing for one that is not known here, so that it has no minimum time of
/// arithmetic.
std::optional<multiprocessor_rates> rates_of(int major, int minor);

/// Which accuracy the operations of a task need.
struct arithmetic {
  bool integers = false;
  /// Relative error that rounding each operand may cause, at most: the coarsest number format in which a
  /// product of two operands may be computed. 2^-24 for all of float32, 2^-11 for fp16 operands or a
  /// tolerance that takes them.
  double roundoff = 0;
  /// Most of the operands are integers of 8 bits: their products are exact in int8, whatever scales them
  /// later.
  bool narrow_integers = false;
};

/// Operations of the task that one multiprocessor does in a cycle at best, by any honest way: on cores, on
/// tensor cores in a format that is fine enough, or there in parts. Operands that are split into a high and a
/// low half take three products: two halves of 11 bits of fp16 or tf32 hold 22 bits (Ootomo and Yokota 2022,
/// "Recovering single precision accuracy from Tensor Cores"); three bf16 parts hold 24 bits and take six
/// (Henry, Tang and Heinecke 2019); float64 takes 36 products of int8 slices (Ootomo, Ozaki and Yokota 2024).
double best_rate(const multiprocessor_rates& rates, const arithmetic& needed);

/// The roundoff that a tolerance leaves to products. @param allowed error that an element may have, relative
/// to the sum of the sizes of its summands @param summands of an element
/// Errors of rounding are as often up as down: those of `summands` products grow by its square root alone,
/// while the bound is of their sum. Of an operand's error 0.41 roundoffs are its standard deviation, of a
/// product's 0.59; the largest among the millions of elements of an output is five times that.
double roundoff_allowed(double allowed, double summands);

/// What the device is, from its description.
struct device_peaks {
  std::optional<multiprocessor_rates> rates;
  double multiprocessors = 0;
  double cycles_per_s = 0;  ///< at its highest clock
  double bytes_per_s = 0;   ///< of its memory, by datasheet; 0: unknown
  double l2_bytes = 0;      ///< size of its second-level cache
};

/// What one call must do.
struct compulsory_work {
  double operations = 0;
  arithmetic needed;
  double read_bytes = 0;
  double written_bytes = 0;
  bool cold = false;  ///< nothing of what is read lies in the cache
};

/// What each part of the work takes at best. [ns]
struct least_times {
  double arithmetic_ns = 0;
  double memory_ns = 0;  ///< what the cache cannot hold, over the datasheet's bandwidth
  double cache_ns = 0;   ///< everything, over the ports of the multiprocessors
  double longest() const;
};
least_times least_times_of(const compulsory_work& work, const device_peaks& device);

/// The least time of a launch, from its begin to its end as events see it: no kernel was seen to take less.
/// [ns] A clock that subtracts an empty launch does not show it.
inline constexpr double least_launch_ns = 400;

/// What a figure is worth.
enum class plausibility : std::uint8_t {
  possible,
  too_short,   ///< the clock of this mode cannot tell it from a possible one
  impossible,  ///< no honest call is so fast
};

/// @param minimum_ns no honest call is faster @param resolution_ns how far two readings of the same may lie
/// apart by the clock alone, for each call
plausibility judge_time(double time_ns, double minimum_ns, double resolution_ns);

/// Readings of the same differ by so many resolutions (an interquartile range each) at most: a normal
/// distribution has 1 of 20,000 beyond.
inline constexpr double resolutions_apart = 3;

}  // namespace kevo::cuda
