#pragma once
// What this processor can do at best, measured: the roofline that speed-of-light fractions and minimum times
// are taken from (Williams, Waterman, Patterson, "Roofline", CACM 2009).

#include <cstddef>
#include <string>
#include <vector>

namespace kevo {

/// Copy bandwidth at one working-set size: bytes read plus bytes written.
struct bandwidth_point {
  std::size_t bytes = 0;  ///< read and written together
  double bytes_per_s = 0;
};

/// The ceilings of one processor core.
struct ceilings {
  double float32_flops_per_s = 0;  ///< fused multiply-adds of the widest vectors, two operations each
  std::vector<bandwidth_point> bandwidths;  ///< ascending sizes: first-level cache to memory
  bool known() const { return float32_flops_per_s > 0 && !bandwidths.empty(); }

  /// Copy bandwidth of a working set of `bytes`: that of the smallest measured size that is not smaller.
  double bandwidth_at(double bytes) const;
  double memory_bandwidth() const { return bandwidths.empty() ? 0 : bandwidths.back().bytes_per_s; }
  double fastest_bandwidth() const;
  /// "152 GFLOP/s in float32; copies: 180 GB/s in 24 KiB, 11 GB/s in 64 MiB"
  std::string text() const;
};

/// Measures on the calling thread's processor. Takes about 0.15 s and 64 MB.
ceilings measure_ceilings();

/// From `folder`/ceilings.json if it holds those of `device`, else measured and kept there. An empty folder
/// keeps nothing; a file that cannot be read or written is no error.
ceilings ceilings_of(const std::string& device, const std::string& folder);

}  // namespace kevo
