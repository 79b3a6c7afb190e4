#include "fitness/cpu/explain_failure.hpp"

#include <string>

#include <doctest/doctest.h>

namespace {

std::string explained(const std::string& detail, const kevo::failed_process& process) {
  kevo::call_failure failure{kevo::outcome::crashed, "crashed", detail};
  kevo::explain_failure(failure, process);
  return failure.detail;
}

}  // namespace

TEST_CASE("a program that may not start a thread is told the setting, however it says so") {
  const std::string rule = "start a thread, but fitness.threads is 1; raise it to allow threads";
  CHECK(explained("", {.threads = 1, .refused_threads = true}) == "it tried to " + rule);
  CHECK(explained("RuntimeError: can't start new thread", {.python = true}) ==
        "RuntimeError: can't start new thread; it tried to " + rule);
  const std::string ended = "the process ended with exit code 1 before the call had ended";
  CHECK(explained(ended, {.python = true}) == ended + "; perhaps it tried to " + rule);
  CHECK(explained(ended, {}) == ended);
  CHECK(explained(ended, {.threads = 4, .python = true}) == ended);
  const std::string other = "the process ended with exit code 12 before the call had ended";
  CHECK(explained(other, {.python = true}) == other);
}

TEST_CASE("a program that compiles itself is told that it may not") {
  const std::string failed = "torch._inductor.exc.InductorError: PermissionError";
  CHECK(explained(failed, {.python = true}).find("torch.compile starts compilers") != std::string::npos);
  CHECK(explained(failed, {}) == failed);
}
