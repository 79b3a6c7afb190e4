#pragma once
// What a process of Python is told: the job that it begins with, in JSON (kevo_torch.py reads it).

#include <cstddef>
#include <cstdint>
#include <stop_token>

#include <boost/json.hpp>

#include <kevo/program.hpp>
#include <kevo/task.hpp>

#include "fitness/torch/python_server.hpp"
#include "fitness/torch/sealed_memory.hpp"

namespace kevo::torch {

/// Paths and texts.
boost::json::array files_of(const program& source);

/// Tells a job its program: the files, and whether the server has to import what compiles for it first.
void add_program(boost::json::object& job, const program& source);

/// Whether programs may ask transformers for models (reference_source::init has `pretrained`).
bool takes_models(const boost::json::object& init);
/// The same of a task.
bool takes_models(const task& t);

/// What every program of a task is told: inputs, outputs, form, constructor and the seed of its parameters.
boost::json::object job_of(const task& t, std::uint64_t seed);

/// What the process is told that makes inputs of a workload (fitness/oracle/input_maker.hpp), but for its
/// threads and processors.
boost::json::object job_of_inputs(const task& t, std::size_t workload, std::uint64_t seed);

/// The names under which a candidate may define what is called: KernelBench's name of a solution, then the
/// reference's own, for a reference is a solution, too.
boost::json::array entries_of_candidate(const task& t);
/// The name of the reference.
boost::json::array entry_of_reference(const task& t);

/// Runs the reference's constructor once; candidates are built under the same seed and given what came of it.
/// @param load_s [s] longest time
/// @throws kevo::error: input (the reference cannot be loaded), environment, interrupted
sealed_memory make_parameters(python_server& server, const task& t, std::uint64_t seed, double load_s,
                              const std::stop_token& stop);

}  // namespace kevo::torch
