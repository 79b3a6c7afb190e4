#pragma once
// Inputs of a workload that come from a file.

#include <functional>
#include <string>
#include <string_view>

#include <kevo/settings.hpp>
#include <kevo/task.hpp>

namespace kevo::task_decoding {

/// Whether `type` is a kind of file: "npy", "safetensors" or "matrix_market".
bool is_file_type(std::string_view type);

/// Reads the contents of an input. `input` is the map under its name, whose type is a kind of file.
/// @param read the bytes of a file that the task may name, relative to the task
/// @param generated whether the task or the workload names a generator for this input
/// @throws kevo::error (input) where the file is malformed, or does not fit the dtype or the shape of the
/// input
workload_input decode_file_input(
    settings& input, const std::string& type, const task& t, const tensor& declared, const workload& made,
    const std::function<std::string(const std::string&, const error_place&)>& read, bool generated);

/// Fails at the workload where no input changes from call to call.
void require_some_secret(const settings& one, const task& t, const workload& made);

}  // namespace kevo::task_decoding
