// Each process of a program has a /tmp of its own, of whatever server it is forked.
#include "fitness/sandbox/sandbox.hpp"
#include "tests/torch/corpus.hpp"

TEST_CASE(
    "servers of programs on a CPU, for a device and for building ahead give each process its own files") {
  const kevo::sandbox_mode sandbox = kevo::sandbox_mode::required;
  std::optional<kevo::python_tools> tools;
  try {
    tools = kevo::torch::find_torch({}, kevo::contains(sandbox));
  } catch (const kevo::error& missing) {
    return kevo_test::skip(missing.message());
  }
  const auto own_files = [&](const std::optional<kevo::torch::python_device>& device) {
    return kevo::torch::python_server(*tools, sandbox, {}, device).facts().own_files;
  };
  if (!own_files(std::nullopt)) return kevo_test::skip("the system mounts nothing inside of a sandbox");
  CHECK(own_files(kevo::torch::pretended_device()));
  CHECK(own_files(kevo::torch::python_device{}));
  kevo::torch::python_device trusted;
  trusted.scratch_bytes = 1U << 20U;
  CHECK_FALSE(own_files(trusted));  // baselines share what was compiled for them
}
