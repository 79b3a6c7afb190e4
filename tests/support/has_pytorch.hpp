#pragma once
// Whether tests of PyTorch programs can run.

#include <kevo/error.hpp>

#include "fitness/torch/python_server.hpp"
#include "tests/support/skip.hpp"

namespace kevo_test {

/// Whether a Python with PyTorch is there. If not, says in the test's output what is missing.
inline bool has_pytorch() {
  try {
    kevo::torch::find_torch({}, false);
    return true;
  } catch (const kevo::error& missing) {
    skip(missing.message());
    return false;
  }
}

}  // namespace kevo_test
