#include "fitness/build/instruction_sets.hpp"

#include <array>
#include <utility>

namespace kevo {
namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 20> macros_of_sets = {{
    {"__AVX2__", "AVX2"},
    {"__FMA__", "FMA"},
    {"__AVX512F__", "AVX-512F"},
    {"__AVX512BW__", "AVX-512BW"},
    {"__AVX512DQ__", "AVX-512DQ"},
    {"__AVX512VL__", "AVX-512VL"},
    {"__AVX512VBMI__", "AVX-512VBMI"},
    {"__AVX512VNNI__", "AVX-512VNNI"},
    {"__AVX512BF16__", "AVX-512BF16"},
    {"__AVX512FP16__", "AVX-512FP16"},
    {"__AVXVNNI__", "AVX-VNNI"},
    {"__AMX_TILE__", "AMX"},
    {"__ARM_NEON", "NEON"},
    {"__ARM_FEATURE_DOTPROD", "DotProd"},
    {"__ARM_FEATURE_FP16_VECTOR_ARITHMETIC", "FP16"},
    {"__ARM_FEATURE_BF16_VECTOR_ARITHMETIC", "BF16"},
    {"__ARM_FEATURE_MATMUL_INT8", "I8MM"},
    {"__ARM_FEATURE_SVE", "SVE"},
    {"__ARM_FEATURE_SVE2", "SVE2"},
    {"__riscv_vector", "RVV"},
}};

bool defines(std::string_view macros, std::string_view name) {
  const std::string line = "#define " + std::string(name) + " ";
  return macros.find(line) != std::string_view::npos;
}

}  // namespace

std::string instruction_sets_in(std::string_view macros) {
  std::string text;
  const auto add = [&text](std::string_view name) {
    text += text.empty() ? "" : ", ";
    text += name;
  };
  if (!defines(macros, "__AVX2__")) {
    if (defines(macros, "__AVX__"))
      add("AVX");
    else if (defines(macros, "__SSE4_2__"))
      add("SSE4.2");
    else if (defines(macros, "__SSE2__"))
      add("SSE2");
  }
  for (const auto& [macro, name] : macros_of_sets) {
    if (defines(macros, macro)) add(name);
  }
  return text;
}

}  // namespace kevo
