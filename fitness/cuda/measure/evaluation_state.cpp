#include "fitness/cuda/measure/evaluation_state.hpp"

#include <algorithm>
#include <string>

namespace kevo::cuda {
namespace {

bool names_host_functions(const program& source) {
  return std::any_of(source.files.begin(), source.files.end(), [](const auto& file) {
    for (const char* word : {"LaunchHostFunc", "StreamAddCallback"}) {
      if (file.text.find(word) != std::string::npos) return true;
    }
    return false;
  });
}

}  // namespace

void fail(evaluation_state& p, std::size_t index, const workload& w, const call_failure& failure) {
  if (failure.room) p.no_room = index;
  auto told = failure;
  if (p.built.kind == program_kind::hosted && failure.outcome == outcome::launch_failed &&
      names_host_functions(*p.request.program))
    told.detail +=
        ". The driver calls host functions of a stream (cudaLaunchHostFunc, cudaStreamAddCallback) in a "
        "thread that it starts, and a candidate may start no threads: let the device wait instead, for an "
        "event or a word of memory";
  kevo::fail(p, index, w, told);
}

}  // namespace kevo::cuda
