#pragma once
// Which rule or setting a failed program ran into, where its failure alone does not say.

#include "fitness/cascade/cascade.hpp"

namespace kevo {

/// What is known of the process that failed.
struct failed_process {
  int threads = 1;               ///< `fitness.threads`
  bool refused_threads = false;  ///< it was seen to ask for one thread too many
  bool python = false;           ///< a program in Python
};

/// Adds the rule to the failure's detail, if there is one that explains it.
void explain_failure(call_failure& failure, const failed_process& process);

}  // namespace kevo
