#pragma once
// Whether a bundle is as fast as what the run measured: both are timed in alternating pairs.

#include <optional>
#include <string>

#include <kevo/evaluate.hpp>
#include <kevo/evaluate/statistics.hpp>
#include <kevo/fitness/timing.hpp>

#include "src/export/bundle/bundle_parts.hpp"

namespace kevo::bundle {

/// The time of a call of the bundle, as a part of that of the run's program; or why there is none.
struct bundle_time {
  std::optional<estimate> ratio;
  std::string why_not;
};

/// How long bundles are timed.
timing_settings bundle_timing_settings();

/// @param judged the bundle, with the run's program as the baseline
/// @throws kevo::error (input) if the bundle gives wrong results
bundle_time judged_bundle(const bundled& b, const evaluation& judged);

/// Builds the files with CMake in the sandbox of compilers, moves the code to where it lies in the run's
/// object (`bundled::places`, and with it CMakeLists.txt), and times both programs.
/// @param threads of the program, as in the run
/// @throws kevo::error: input if the bundle does not build or gives wrong results, environment
bundle_time time_cpp_bundle(bundled& b, folder_text& files, int threads, const wait_listener& waiting);

/// The same of a program of PyTorch, whose file needs no building. @param device of the run
bundle_time time_python_bundle(const bundled& b, const folder_text& files, const std::string& device,
                               int threads, const wait_listener& waiting);

}  // namespace kevo::bundle
