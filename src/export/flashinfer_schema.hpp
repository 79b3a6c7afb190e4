#pragma once
// Definition and Workload of FlashInfer-Bench, as its data classes of version 0.1.2 accept them. Include in
// .cpp files only.

#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

#include <boost/json/object.hpp>

#include <kevo/task.hpp>

namespace kevo::flashinfer {

/// A name that is one path component.
std::string file_name(std::string_view name);
std::string op_type_of(const task& t);

/// @throws kevo::error (environment) where the file cannot be written
std::ofstream open_file(const std::filesystem::path& path);
void close_file(std::ofstream& out, const std::filesystem::path& path);
/// A JSON object as one line of UTF-8.
std::string line(const boost::json::object& o);

/// @throws kevo::error (input) for a dtype that their schema has no word for
boost::json::object definition_of(const task& t);
/// A workload; its inputs from files are those that `write_contents` writes.
boost::json::object workload_of(const task& t, const workload& w);

/// Writes the inputs of a workload that come from files, as its tensors in the format safetensors; nothing
/// for a workload without.
/// @throws kevo::error: input for a dtype that the format has no word for, environment
void write_contents(const std::filesystem::path& root, const task& t, const workload& w);

}  // namespace kevo::flashinfer
