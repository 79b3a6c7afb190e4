#include "src/export/bundle/tensor_map_text.hpp"

#include <algorithm>
#include <cctype>
#include <variant>

#include <fmt/format.h>

#include <kevo/dtype.hpp>

#include "src/export/bundle/expression_text.hpp"

namespace kevo::bundle {
namespace {

std::string list_of(const std::vector<expression>& all) {
  std::string text;
  for (const auto& e : all) text += (text.empty() ? "" : ", ") + integer_text(e);
  return "{" + text + "}";
}

// A mode by its word, or by an expression that gives the number in the word.
std::string mode_text(const std::optional<cuda::mode_line>& mode, const std::vector<std::string>& words) {
  if (!mode) return "0";
  if (const auto* e = std::get_if<expression>(&*mode)) {
    std::string numbers;
    for (const auto& word : words) {
      const auto digits = word.find_last_of("0123456789");
      numbers += (numbers.empty() ? "" : ", ") +
                 (digits == std::string::npos ? std::string("0") : word.substr(0, digits + 1));
    }
    return fmt::format("mode({}, {{{}}})", integer_text(*e), numbers);
  }
  const auto found = std::find(words.begin(), words.end(), std::get<cuda::placed_name>(*mode).text);
  return std::to_string(found == words.end() ? 0 : found - words.begin());
}

std::string map_type(const std::string& dtype) {
  if (dtype == "int16") return "UINT16";
  if (dtype == "int8" || dtype == "bool") return "UINT8";
  std::string upper = dtype;
  std::transform(upper.begin(), upper.end(), upper.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return upper;
}

}  // namespace

std::string tensor_map_text(const cuda::tensor_map_line& map, const std::string& dtype) {
  std::string at = "at_" + map.buffer.text;
  if (map.offset) {
    at += fmt::format(" + narrow<CUdeviceptr>(({}) * {})", integer_text(*map.offset),
                      find_dtype(dtype) ? find_dtype(dtype)->size : 1);
  }
  return fmt::format("tensor_map(CU_TENSOR_MAP_DATA_TYPE_{}, {}, {}, {}, {}, {}, {}, {}, {}, {})",
                     map_type(dtype), at, list_of(map.dims), list_of(map.strides), list_of(map.box),
                     list_of(map.element_strides), mode_text(map.swizzle, {"none", "32B", "64B", "128B"}),
                     mode_text(map.interleave, {"none", "16B", "32B"}),
                     mode_text(map.l2_promotion, {"none", "64B", "128B", "256B"}),
                     mode_text(map.oob_fill, {"zero", "nan"}));
}

}  // namespace kevo::bundle
