#pragma once
// Definitions of FlashInfer-Bench and SOL-ExecBench as JSON objects, changed into what kevo's tasks may hold.

#include <string>
#include <string_view>

#include <boost/json.hpp>

namespace kevo::importing {

/// The JSON object in `text`, which is the content of `file`. @throws kevo::error (input) if it is not one
boost::json::object object_in(const std::string& text, const std::string& file);

/// The text that a key has; empty if it has none, or no text.
std::string text_of(const boost::json::object& o, std::string_view key);

/// Their writers put null for what is absent; kevo's decoder takes some keys for used when they are there.
void drop_nulls(boost::json::object& o);

/// SOL-ExecBench's axes that are computed from others become expressions in the shapes that name them, which
/// kevo's tasks may hold. Both divide `//` towards minus infinity, which kevo writes `/`.
/// @throws kevo::error (input) for operators that kevo does not have
void replace_computed_axes(boost::json::object& definition);

/// kevo calls references without gradients (`torch.no_grad`), and the suites with them. A reference whose
/// text has `requires_grad` gets a line at its end that calls it with gradients.
void keep_gradients(boost::json::object& definition);

}  // namespace kevo::importing
