// labels: gpu
// serial
// timeout: 900
// configs/llm_cuda_softmax.yaml, configs/llm_triton_softmax.yaml and configs/llm_torch_cuda.yaml on a real
// device, with the replies that were written by hand for them. Skips, and says so, where there is no device.

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "fitness/cuda/measure/gpu_probe.hpp"
#include "tests/support/has_pytorch.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

namespace json = boost::json;

namespace {

bool is_there(const std::string& what) {
  for (const auto& part : kevo::cuda::probe_gpu()) {
    const bool matters = part.needed || part.name == what;
    if (part.there || !matters) continue;
    kevo_test::skip(part.name + ": " + part.detail);
    return false;
  }
  return true;
}

// Runs a config with the replies of its cassette, from the naive kernel, and replays the run.
void run_offline(const std::string& config, int least_valid) {
  const shell::scratch folder;
  const auto ended = shell::run(
      shell::kevo({"run", config, "--replay-models", "--json", "--set", "run.output=run"}), folder.string());
  REQUIRE_MESSAGE(ended.code == 0, ended.out << ended.err);
  const json::object all = json::parse(ended.out).as_object();
  const double speedup = all.at("best").at("speedup").to_number<double>();
  MESSAGE("speedup over the naive kernel: " << speedup);
  CHECK(speedup > 1.5);
  CHECK(all.at("valid").to_number<int>() >= least_valid);
  const auto again = shell::run(shell::kevo({"run", "--replay", "run", "--replay-models"}), folder.string());
  CHECK_MESSAGE(again.code == 0, again.err);
}

}  // namespace

TEST_CASE("from the naive softmax to one that is bound by memory, offline") {
  // Of the seed and four proposals.
  if (is_there("NVRTC")) run_offline(KEVO_SOURCE_DIR "/configs/llm_cuda_softmax.yaml", 4);
}

TEST_CASE("the same in Triton") {
  // Of the seed and three proposals, of which one has to be repaired.
  if (is_there("Triton")) run_offline(KEVO_SOURCE_DIR "/configs/llm_triton_softmax.yaml", 3);
}

TEST_CASE("a layer of PyTorch from plain operations to inline CUDA, offline") {
  // The seed and two proposals; the draft that is repaired is no candidate.
  if (is_there("nvcc") && kevo_test::has_pytorch())
    run_offline(KEVO_SOURCE_DIR "/configs/llm_torch_cuda.yaml", 3);
}
