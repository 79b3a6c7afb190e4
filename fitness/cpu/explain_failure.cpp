#include "fitness/cpu/explain_failure.hpp"

#include <string>
#include <string_view>

#include <fmt/format.h>

namespace kevo {
namespace {

bool says(const call_failure& failure, std::string_view words) {
  return failure.detail.find(words) != std::string::npos;
}

void add(call_failure& failure, const std::string& rule) {
  failure.detail += (failure.detail.empty() ? "" : "; ") + rule;
}

// A program that is refused a thread may say anything, or nothing: OpenMP's runtime, which PyTorch uses, ends
// the process.
bool may_miss_threads(const call_failure& failure, const failed_process& process) {
  if (says(failure, "can't start new thread")) return true;
  return process.python && process.threads == 1 && says(failure, "ended with exit code 1 ");
}

}  // namespace

void explain_failure(call_failure& failure, const failed_process& process) {
  if (process.refused_threads || may_miss_threads(failure, process)) {
    const bool one = process.threads == 1;
    add(failure, fmt::format("{} {}, but fitness.threads is {}; raise it to allow {}",
                             process.refused_threads || says(failure, "thread") ? "it tried to start"
                                                                                : "perhaps it tried to start",
                             one ? "a thread" : "more threads than it may have", process.threads,
                             one ? "threads" : "more"));
  }
  if (process.python && says(failure, "InductorError"))
    add(failure,
        "torch.compile starts compilers, which programs may not: write the operations or a kernel of your "
        "own "
        "(a confirmation can compare with what torch.compile makes of the reference)");
}

}  // namespace kevo
