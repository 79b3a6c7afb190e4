// labels: slow
// timeout: 600
// one processor
// The page of the guide about PyTorch, whose commands tests/docs/guide.test.cpp leaves out, and the shipped
// config.
#include <sys/stat.h>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/torch/python_server.hpp"
#include "tests/support/page.hpp"
#include "tests/support/skip.hpp"

namespace {

bool has_torch() {
  try {
    static_cast<void>(kevo::torch::find_torch({}, true));
    return true;
  } catch (const kevo::error& missing) {
    kevo_test::skip(missing.message());
    return false;
  }
}

}  // namespace

TEST_CASE("the page about a module of PyTorch can be followed from an empty folder") {
  if (!has_torch()) return;
  auto text = shell::read_file(KEVO_SOURCE_DIR "/docs/guide/pytorch_module.md");
  const std::string left_out = "```sh not-run: needs PyTorch";
  std::size_t commands = 0;
  for (std::size_t at; (at = text.find(left_out)) != std::string::npos; ++commands)
    text.replace(at, left_out.size(), "```sh");
  CHECK(commands == 4);
  const shell::scratch folder;
  ::chmod(folder.string().c_str(), 0755);  // the sandbox's user reads it
  const auto done = page::follow(text, folder.string());
  for (const auto& failure : done.failures) FAIL_CHECK(failure);
  CHECK(done.run == commands + 1);
  CHECK(done.not_run == 0);
}

TEST_CASE("the shipped config of a module of PyTorch runs") {
  if (!has_torch()) return;
  const shell::scratch folder;
  const auto ended =
      shell::run(shell::kevo({"run", KEVO_SOURCE_DIR "/configs/torch_mlp.yaml", "--json", "--set",
                              "run.output=" + (folder / "run").string(), "--set", "stop={evaluations: 3}"}),
                 folder.string());
  REQUIRE_MESSAGE(ended.code == 0, ended.out << ended.err);
  CHECK(ended.out.find("\"valid\":3") != std::string::npos);
}
