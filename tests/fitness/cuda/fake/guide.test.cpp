// timed
// labels: slow
// timeout: 300
// docs/guide/cuda_kernel.md on the test double of the GPU: the commands that tests/docs leaves out because
// they need a GPU. The double knows what the kernels of that page compute. Smaller sizes, fewer evaluations
// and one exploit keep it short.

#include <string>
#include <sys/stat.h>

#include <doctest/doctest.h>

#include "tests/fitness/cuda/fake/toy_candidates.hpp"
#include "tests/support/fake_gpu.hpp"
#include "tests/support/page.hpp"

namespace {

void replace(std::string& text, const std::string& from, const std::string& to) {
  const auto at = text.find(from);
  REQUIRE_MESSAGE(at != std::string::npos, from);
  text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("the page about a CUDA kernel can be followed from an empty folder") {
  auto text = shell::read_file(KEVO_SOURCE_DIR "/docs/guide/cuda_kernel.md");
  replace(text, "```sh not-run: needs an NVIDIA GPU\nkevo attack", "```sh\nkevo attack");
  replace(text, "N: 16777216", "N: 65536");
  std::string settings = " --set 'fitness.timing={sustained: 0.02, pairs: 4, full: 2, target_interval: 0.3}'";
  if (toy::sandbox_here() != kevo::sandbox_mode::best) settings += " --set fitness.sandbox=off";
  replace(text, "kevo attack task.yaml", "kevo attack task.yaml --fail --only declared/zeros" + settings);
  replace(text, "kevo eval task.yaml seed.cu", "kevo eval task.yaml seed.cu" + settings);
  replace(text, "kevo run config.yaml\n",
          "kevo run config.yaml --set 'stop={evaluations: 3}'" + settings + "\n");
  const shell::scratch folder;
  ::chmod(folder.string().c_str(), 0755);
  const fake_gpu gpu;
  const auto done = page::follow(text, folder.string());
  for (const auto& failure : done.failures) FAIL_CHECK(failure);
  CHECK(done.run == 3);
  CHECK(done.not_run == 1);
  const auto shown = shell::run(shell::kevo({"show", "runs/scale"}), folder.string());
  CHECK_MESSAGE(shown.code == 0, shown.err);
  CHECK_MESSAGE(shown.out.find("3 evaluations") != std::string::npos, shown.out);
}
