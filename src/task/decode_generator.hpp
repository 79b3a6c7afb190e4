#pragma once
// Generators of a task file: their texts, and whether their numbers have a meaning.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kevo/settings.hpp>
#include <kevo/task.hpp>

namespace kevo::task_decoding {

/// "normal", "uniform(0, 1)", "offsets(NNZ)", ... for an input of the task. Numbers may be expressions of the
/// axes. @throws kevo::error (input) at the node
generator decode_generator(const settings_node& node, const tensor& input, const task& t);

/// What an input gets that no `generate` speaks of.
generator default_generator(const tensor& input);

/// The generators under the key "generate", by input.
std::map<std::string, generator> decode_generators(settings& reader, const task& t);

/// What is wrong with the numbers of a generator; nothing if they are right. @param g without expressions
/// @param text how the task file writes it, for messages
std::optional<std::string> problem_of(const generator& g, const tensor& input, const std::string& text);

/// Fails at the workload where a generator in force has no meaning: its expressions, its numbers, rows that
/// cannot hold their elements.
void check_generators(const settings& one, const task& t, const workload& made);

}  // namespace kevo::task_decoding
