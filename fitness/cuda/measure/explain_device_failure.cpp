#include "fitness/cuda/measure/explain_device_failure.hpp"

#include <algorithm>
#include <cstdlib>
#include <initializer_list>
#include <string>

namespace kevo::cuda {
namespace {

bool names_any(const program& source, std::initializer_list<const char*> words) {
  return std::any_of(source.files.begin(), source.files.end(), [&](const auto& file) {
    return std::any_of(words.begin(), words.end(),
                       [&](const char* word) { return file.text.find(word) != std::string::npos; });
  });
}

// Elements that were not written yet, or computed from inputs that were not there yet, are far from right;
// what is less precise than it must be is not. program_runner.cpp writes these words.
bool is_far_off(const call_failure& failure) {
  constexpr double far = 100;
  const auto end = failure.detail.rfind(" times the bound)");
  if (end == std::string::npos) return false;
  const auto begin = failure.detail.rfind('(', end);
  if (begin == std::string::npos) return false;
  const double factor = std::strtod(failure.detail.c_str() + begin + 1, nullptr);
  return !(factor < far);  // or no number
}

bool may_miss_a_wait(const call_failure& failure, const program& source) {
  if (source.language != "python" && source.language != "triton") return false;
  const bool looks_like_it = failure.outcome == outcome::incorrect
                                 ? is_far_off(failure)
                                 : failure.outcome == outcome::rejected &&
                                       failure.reason == "signalled done before the work was done";
  return looks_like_it &&
         names_any(source, {"cuda.Stream(", "torch.Stream(", "StreamCreate", "getStreamFromPool"});
}

}  // namespace

void explain_device_failure(call_failure& failure, const program& source) {
  if (failure.outcome == outcome::launch_failed && names_any(source, {"LaunchHostFunc", "StreamAddCallback"}))
    failure.detail +=
        ". The driver calls host functions of a stream (cudaLaunchHostFunc, cudaStreamAddCallback) in a "
        "thread that it starts, and a candidate may start no threads: let the device wait instead, for an "
        "event or a word of memory";
  if (may_miss_a_wait(failure, source))
    failure.detail +=
        "; perhaps a stream of the program does not wait for the default stream, or the default stream not "
        "for it (wait_stream)";
}

}  // namespace kevo::cuda
