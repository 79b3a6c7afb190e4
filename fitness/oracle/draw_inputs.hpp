#pragma once
// The input data of one call, drawn by the host: by generators, from files, or made by the reference's text.

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <kevo/random.hpp>
#include <kevo/task.hpp>

#include "fitness/oracle/generate.hpp"
#include "fitness/oracle/other_rows.hpp"

namespace kevo {

/// Where the input data of a call come from.
struct input_recipe {
  variety kind = variety::plain;
  std::size_t generators = 0;  ///< number of the workload whose generators are used
  bool files = true;           ///< false: generated values take the place of files that alternate
  /// A few rows of the tensors of real numbers are made otherwise. What is decided by a sample of the
  /// elements is wrong there.
  std::optional<row_sources> rows = std::nullopt;
};

/// Elements of inputs by their names.
using named_elements = std::map<std::string, std::vector<std::byte>>;

/// How far varieties may go: larger values make honest errors larger, which an absolute tolerance does not
/// forgive.
variety_strength strength_for(const task& t, const workload& w);

/// Whether some calls of a workload are given generated contents in place of those from files.
bool alternates(const workload& w);

/// The elements of every input of `t`, in the order of the task, as the bytes that a program reads.
/// @param made elements of the inputs that the reference's text makes
/// @param wanted inputs that are drawn, the others stay empty; with an input by the generator "columns", that
/// of its rows must be wanted, too. Not given: all
/// @throws kevo::error (input) for a generator that is not known
std::vector<std::vector<std::byte>> draw_inputs(const task& t, const workload& w, const input_recipe& from,
                                                named_elements made, rng& random,
                                                const std::function<bool(const tensor&)>& wanted = {});

}  // namespace kevo
