#pragma once
// Says that a test case cannot run on this machine. A program in which a case was skipped and none failed
// ends with the code that ctest reports as a skip (SKIP_RETURN_CODE in cmake/tests.cmake), so that a skip is
// never taken for a pass.

#include <cstdio>
#include <string>

namespace kevo_test {

/// The exit code of a test program in which a case was skipped.
inline constexpr int skip_code = 77;

/// How many cases of this program were skipped so far.
inline int& skipped_cases() {
  static int count = 0;
  return count;
}

/// Call it once in a case that cannot run here, and return from the case. Prints the reason.
inline void skip(const std::string& reason) {
  std::printf("skipped: %s\n", reason.c_str());
  std::fflush(stdout);
  ++skipped_cases();
}

}  // namespace kevo_test
