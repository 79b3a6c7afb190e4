#pragma once
// A busy machine costs time, not the run: what a trusted program took too long for is begun again.

#include <string>

#include <kevo/error.hpp>

#include "fitness/cascade/cascade.hpp"

namespace kevo {

/// A program that is known to work took too long: other work had its processor, or the device.
struct trusted_timeout : error {
  using error::error;
};

/// @throws trusted_timeout or kevo::error (environment)
[[noreturn]] inline void trusted_failed(const std::string& who, const call_failure& failure) {
  const auto what = who + " failed while it was timed (" + failure.reason + " " + failure.detail +
                    "); it worked before, so that the fault is in the machine";
  const char* const next = "run `kevo doctor`, then continue with `kevo resume`";
  if (failure.outcome == outcome::timed_out) throw trusted_timeout(error_code::environment, what, {}, next);
  throw error(error_code::environment, what, {}, next);
}

/// @param lost is called before each further try. @throws trusted_timeout after several
template <class Work, class Lost>
auto begun_again(Work&& work, Lost&& lost) {
  constexpr int most_tries = 5;
  for (int tries = 1;; ++tries) {
    try {
      return work();
    } catch (const trusted_timeout&) {
      if (tries == most_tries) throw;
      lost();
    }
  }
}

}  // namespace kevo
