#pragma once
// Whether a bundle of a program in C++ is as fast as what the run measured: it is built as its user will
// build it, and timed against the run's object.

#include <optional>
#include <string>

#include <kevo/evaluate.hpp>
#include <kevo/evaluate/statistics.hpp>

#include "src/export/bundle/bundle_parts.hpp"

namespace kevo::bundle {

/// Builds the files with CMake in the sandbox of compilers, moves the code to where it lies in the run's
/// object (`bundled::places`, and with it CMakeLists.txt), and times both programs in alternating pairs.
/// @param threads of the program, as in the run
/// @return the time of a call of the bundle, as a part of that of the run's object; or why there is none
/// @throws kevo::error: input if the bundle does not build or gives wrong results, environment
struct bundle_time {
  std::optional<estimate> ratio;
  std::string why_not;
};
bundle_time time_cpp_bundle(bundled& b, folder_text& files, int threads, const wait_listener& waiting);

}  // namespace kevo::bundle
