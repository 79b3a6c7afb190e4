// What is added to the failure of a program on a GPU.
#include "fitness/cuda/measure/explain_device_failure.hpp"

#include <string>

#include <doctest/doctest.h>

namespace {

std::string explained(kevo::call_failure failure, const std::string& text,
                      const std::string& language = "python") {
  kevo::cuda::explain_device_failure(failure, kevo::single_file_program(language, "kernel.py", text));
  return failure.detail;
}

kevo::call_failure wrong(const std::string& got, const std::string& factor) {
  return {kevo::outcome::incorrect, "wrong result",
          "output y: 3801016 of 16777216 elements are wrong, the first at [0, 7]; at [3, 9] it is " + got +
              " and must be 0.25 (" + factor + " times the bound)"};
}

bool has_hint(const std::string& detail) {
  return detail.find("does not wait for the default stream") != std::string::npos;
}

constexpr const char* own_stream = "import torch\nside = torch.cuda.Stream()\n";

}  // namespace

TEST_CASE("a program with a stream of its own that is far from right may miss a wait") {
  CHECK(has_hint(explained(wrong("0", "2.5e+03"), own_stream)));
  CHECK(has_hint(explained(wrong("nan", "nan"), own_stream)));
  CHECK(has_hint(explained(wrong("-1.2e+30", "inf"), "at::cuda::getStreamFromPool()")));
  CHECK(has_hint(explained(wrong("0", "2.5e+03"), "cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);")));
  CHECK(has_hint(explained({kevo::outcome::rejected, "signalled done before the work was done",
                            "output that was read the moment the call had ended was written afterwards"},
                           own_stream)));
}

TEST_CASE("nothing is said of streams where there are none, or where something else is wrong") {
  for (const char* text : {"import torch\n", "torch.cuda.current_stream()\n", "getCurrentCUDAStream()\n"})
    CHECK_FALSE(has_hint(explained(wrong("0", "2.5e+03"), text)));
  CHECK_FALSE(has_hint(explained(wrong("0.26", "4.1"), own_stream)));
  CHECK_FALSE(
      has_hint(explained({kevo::outcome::incorrect, "wrong result", "output y has shape [3]"}, own_stream)));
  CHECK_FALSE(
      has_hint(explained({kevo::outcome::crashed, "raised an exception", "ValueError: no"}, own_stream)));
  CHECK_FALSE(has_hint(explained({kevo::outcome::rejected, "changed its inputs", ""}, own_stream)));
  CHECK_FALSE(has_hint(explained(wrong("0", "2.5e+03"), "cudaStreamCreate(&s);", "cuda")));
}

TEST_CASE("a program with host functions in a stream is told why it could not be launched") {
  const kevo::call_failure failed = {kevo::outcome::launch_failed, "could not be launched", "run returned 3"};
  CHECK(explained(failed, "cudaLaunchHostFunc(stream, f, 0);", "cuda").find("host functions") !=
        std::string::npos);
  CHECK(explained(failed, "int x;", "cuda") == "run returned 3");
}
