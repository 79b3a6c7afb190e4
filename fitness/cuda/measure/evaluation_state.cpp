#include "fitness/cuda/measure/evaluation_state.hpp"

#include "fitness/cuda/measure/explain_device_failure.hpp"

namespace kevo::cuda {

void fail(evaluation_state& p, std::size_t index, const workload& w, const call_failure& failure) {
  if (failure.room) p.no_room = index;
  auto told = failure;
  if (p.built.kind == program_kind::hosted) explain_device_failure(told, *p.request.program);
  kevo::fail(p, index, w, told);
}

}  // namespace kevo::cuda
