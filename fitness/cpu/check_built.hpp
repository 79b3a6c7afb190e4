#pragma once
// The verdict on a built program, without times and without what an evaluation tells besides.

#include <stop_token>
#include <string>

namespace kevo {

class test_bench;

/// Where a built program failed first.
struct built_check {
  bool passed = false;
  std::string workload;
  std::string reason;
};

/// Calls a built candidate with all contents with which an evaluation checks it, of the smallest workloads
/// first, until one fails. Only while `test_bench::take_processors` is held.
/// @throws kevo::error (environment, interrupted)
built_check check_built(test_bench& bench, const std::string& object, const std::stop_token& stop);

}  // namespace kevo
