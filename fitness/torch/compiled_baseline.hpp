#pragma once
// Baselines that are compiled by torch.compile.

#include <algorithm>

#include <kevo/task.hpp>

namespace kevo::torch {

/// What such a baseline has among the libraries that it needs.
inline constexpr const char* compiler_of_torch = "torch.compile";

inline bool is_compiled(const std::vector<std::string>& link) {
  return std::find(link.begin(), link.end(), compiler_of_torch) != link.end();
}

}  // namespace kevo::torch
