#include "src/export/export.hpp"

#include <array>

namespace kevo {

std::optional<export_format> parse_export_format(std::string_view name) {
  constexpr std::array<std::string_view, 9> names = {"csv",          "jsonl", "steps", "flashinfer", "bundle",
                                                     "trajectories", "sft",   "dpo",   "grpo"};
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (names[i] == name) return static_cast<export_format>(i);
  }
  return std::nullopt;
}

}  // namespace kevo
