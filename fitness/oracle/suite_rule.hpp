#pragma once
// What KernelBench's own comparison would say of a program's results, told beside kevo's verdict.

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <kevo/evaluation.hpp>
#include <kevo/task.hpp>

#include "fitness/oracle/compare.hpp"
#include "fitness/oracle/element_type.hpp"

namespace kevo {

/// KernelBench's tolerance, absolute and relative, for outputs of a type: 1e-4, and 1e-2 for floating point
/// of 16 bits. 0 for integers, which must be equal.
double suite_tolerance(const element_type& type);

/// Elements that `torch.allclose` would not take for equal: |got - expected| > t + t |expected|, or NaN.
std::uint64_t suite_misses(const element_type& type, std::span<const std::byte> got,
                           const expected_output& expected);
/// The same of a result with elements of the output's own type, as KernelBench's reference gives it.
std::uint64_t suite_misses(const element_type& type, std::span<const std::byte> got,
                           std::span<const std::byte> theirs);

struct content;

/// The outputs that the reference in the types of the task gave for contents.
using suite_results = std::map<std::shared_ptr<const content>, std::vector<std::vector<std::byte>>>;

/// What was seen in calls of visible workloads on inputs of the task's own distribution, which are what
/// KernelBench draws.
struct suite_verdict {
  std::uint64_t calls = 0;
  std::uint64_t refused = 0;  ///< calls with an element that misses

  void add(std::uint64_t misses) {
    ++calls;
    refused += misses > 0 ? 1 : 0;
  }
};

/// Writes "kernelbench_rule" into the context of an evaluation; nothing where no call was compared.
void tell_suite_rule(evaluation& e, const suite_verdict& verdict);

}  // namespace kevo
