#include "fitness/cuda/measure/passage.hpp"

namespace kevo::cuda {

void fail(passage& p, std::size_t index, const workload& w, const call_failure& failure) {
  p.machine = failure.machine;
  p.again = failure.again;
  tell_failure(p.result, index, w, failure);
}

}  // namespace kevo::cuda
