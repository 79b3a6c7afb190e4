#pragma once
// How a turn says that it has no program because a language model failed. Reports know such turns by it.

#include <string_view>

namespace kevo {

/// The reason of a turn without a program begins with this if a call of a language model failed.
inline constexpr std::string_view model_failure_mark = "model: ";

/// Whether the reason of a turn without a program is a failed call of a language model. A call that was
/// cancelled, because the run was ending, is no failure of the model.
inline bool is_model_failure(std::string_view reason) {
  if (!reason.starts_with(model_failure_mark)) return false;
  reason.remove_prefix(model_failure_mark.size());
  return !reason.starts_with("cancelled");
}

}  // namespace kevo
