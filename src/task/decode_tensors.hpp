// The axes, inputs and outputs of a task file.
#pragma once

#include <string>
#include <vector>

#include <kevo/settings.hpp>
#include <kevo/task.hpp>

namespace kevo::task_decoding {

std::vector<axis> decode_axes(settings& reader);

/// The tensors under `key` (inputs or outputs), whose shapes speak of the axes of `of`.
std::vector<tensor> decode_tensors(settings& reader, const task& of, const std::string& key);

/// Throws where an output is named as an input is.
void check_names(const settings& reader, const task& made);

}  // namespace kevo::task_decoding
