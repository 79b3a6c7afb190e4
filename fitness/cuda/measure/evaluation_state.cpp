#include "fitness/cuda/measure/evaluation_state.hpp"

namespace kevo::cuda {

void fail(evaluation_state& p, std::size_t index, const workload& w, const call_failure& failure) {
  p.machine = failure.machine;
  p.again = failure.again;
  if (failure.room) p.no_room = index;
  tell_failure(p.result, index, w, failure);
}

}  // namespace kevo::cuda
