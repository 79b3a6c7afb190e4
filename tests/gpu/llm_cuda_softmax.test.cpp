// labels: gpu
// serial
// timeout: 900
// configs/llm_cuda_softmax.yaml on a real device, with the replies that were written by hand for it. Skips,
// and says so, where there is no device.

#include <boost/json.hpp>
#include <doctest/doctest.h>

#include "fitness/cuda/measure/gpu_probe.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

namespace json = boost::json;

TEST_CASE("from the naive softmax to one that is bound by memory, offline") {
  for (const auto& part : kevo::cuda::probe_gpu()) {
    if (part.there || !part.needed) continue;
    kevo_test::skip(part.name + ": " + part.detail);
    return;
  }
  const shell::scratch folder;
  const auto ended = shell::run(shell::kevo({"run", KEVO_SOURCE_DIR "/configs/llm_cuda_softmax.yaml",
                                             "--replay-models", "--json", "--set", "run.output=run"}),
                                folder.string());
  REQUIRE_MESSAGE(ended.code == 0, ended.out << ended.err);
  const json::object all = json::parse(ended.out).as_object();
  const double speedup = all.at("best").at("speedup").to_number<double>();
  MESSAGE("speedup over the naive kernel: " << speedup);
  CHECK(speedup > 1.5);
  CHECK(all.at("valid").to_number<int>() >= 4);  // of the seed and four proposals
  const auto again = shell::run(shell::kevo({"run", "--replay", "run", "--replay-models"}), folder.string());
  CHECK_MESSAGE(again.code == 0, again.err);
}
