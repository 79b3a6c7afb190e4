#pragma once
// The form that Definitions and Solutions of FlashInfer-Bench had before its first release, changed into
// today's. docs/import.md describes the differences.

#include <vector>

#include <boost/json/object.hpp>

namespace kevo::importing {

/// Whether a Definition has the older form: the kind of operation is `type`, and there is no `op_type`.
bool has_older_form(const boost::json::object& definition);

/// Changes a Definition of the older form into today's: `type` becomes `op_type`, and the reference, which is
/// called with arguments by name and returns a dictionary of outputs, gets a function `run` at its end that
/// takes the inputs in their order and returns the outputs in theirs.
/// @throws kevo::error (input) for names that Python does not have
void renew_definition(boost::json::object& definition);

/// An input of the shape [] is a number or a tensor in the older form. Its shape becomes null, as that of
/// today's scalars, if a workload gives a number (`type` is `scalar`); otherwise it stays a tensor.
void renew_scalars(boost::json::object& definition, const std::vector<boost::json::object>& workloads);

/// Changes a Solution of a Definition of the older form into today's: its language is written in small
/// letters, an entry point without a file belongs to its only source, and it returns its outputs. A Solution
/// that says how it returns them (`destination_passing_style`) has today's form and stays as it is.
/// @param definition either form
/// @throws kevo::error (input) if it has to be built: the older form does not say how Python calls the result
void renew_solution(const boost::json::object& definition, boost::json::object& solution);

}  // namespace kevo::importing
