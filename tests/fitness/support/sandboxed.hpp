#pragma once
// Cases that need the sandbox, or root.

#include <unistd.h>

#include "fitness/sandbox/sandbox.hpp"
#include "tests/support/skip.hpp"

namespace kevo::test {

/// Whether programs are kept in a sandbox here. If not, says that the case, or the rest of it, is skipped.
inline bool sandboxed_or_skip() {
  if (contains(sandbox_mode::best)) return true;
  kevo_test::skip("there is no sandbox on this machine");
  return false;
}

/// Whether this process is root. If not, says that the case is skipped.
inline bool root_or_skip() {
  if (::geteuid() == 0) return true;
  kevo_test::skip("this case needs root");
  return false;
}

}  // namespace kevo::test
