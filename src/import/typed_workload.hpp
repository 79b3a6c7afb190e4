#pragma once
// Workloads with typed checks and explicit generators ("sol_execbench.workload.v2", a later form of
// SOL-ExecBench), changed into those that kevo's tasks have. docs/import.md describes the form.

#include <boost/json/object.hpp>

namespace kevo::importing {

/// Changes `checks` into a tolerance of each output, and inputs of the type `generated` into random ones with
/// a generator. Workloads without either stay as they are.
/// @throws kevo::error (input) for a check or a generator that kevo does not have
void renew_workload(boost::json::object& workload);

}  // namespace kevo::importing
