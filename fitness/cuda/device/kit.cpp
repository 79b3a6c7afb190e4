#include "fitness/cuda/device/kit.hpp"

namespace kevo::cuda {

const std::string& kit_source() {
  static const std::string text(kit_text());
  return text;
}

const std::vector<std::string>& kit_kernels() {
  static const std::vector<std::string> names = {"kevo_block",       "kevo_nothing",          "kevo_generate",
                                                 "kevo_poison",      "kevo_check_poison",     "kevo_differ",
                                                 "kevo_compare",     "kevo_compare_integers", "kevo_finite",
                                                 "kevo_flush_write", "kevo_flush_read",       "kevo_clock",
                                                 "kevo_copy",        "kevo_multiply_add"};
  return names;
}

int type_code(const std::string& dtype) {
  constexpr const char* names[] = {"float64", "float32", "float16", "bfloat16", "int8",   "int16",
                                   "int32",   "int64",   "uint8",   "uint16",   "uint32", "bool"};
  for (int i = 0; i < 12; ++i) {
    if (dtype == names[i]) return i;
  }
  return -1;
}

}  // namespace kevo::cuda
