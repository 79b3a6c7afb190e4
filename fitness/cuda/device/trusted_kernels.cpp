#include "fitness/cuda/device/trusted_kernels.hpp"

namespace kevo::cuda {

const std::string& trusted_kernels_source() {
  static const std::string text(trusted_kernels_text());
  return text;
}

const std::vector<std::string>& trusted_kernel_names() {
  static const std::vector<std::string> names = {"kevo_block",
                                                 "kevo_barrier",
                                                 "kevo_ready",
                                                 "kevo_mask",
                                                 "kevo_occupy",
                                                 "kevo_nothing",
                                                 "kevo_generate",
                                                 "kevo_poison",
                                                 "kevo_check_poison",
                                                 "kevo_differ",
                                                 "kevo_in_order",
                                                 "kevo_compare",
                                                 "kevo_compare_integers",
                                                 "kevo_sums",
                                                 "kevo_finite",
                                                 "kevo_flush_write",
                                                 "kevo_flush_read",
                                                 "kevo_clock",
                                                 "kevo_copy",
                                                 "kevo_multiply_add"};
  return names;
}

}  // namespace kevo::cuda
