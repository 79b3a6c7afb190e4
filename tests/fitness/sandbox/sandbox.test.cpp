// timeout: 120
#include "fitness/sandbox/sandbox.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "fitness/process/process.hpp"
#include "fitness/sandbox/launch_in.hpp"
#include "fitness/sandbox/scratch_folder.hpp"
#include "tests/fitness/support/helper_program.hpp"
#include "tests/fitness/support/sandboxed.hpp"

using namespace kevo;
using kevo::test::helper_spec;
using kevo::test::root_or_skip;
using kevo::test::sandboxed_or_skip;

namespace {

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  std::sort(result.begin(), result.end());
  return result;
}

}  // namespace

TEST_CASE("this machine offers the sandbox") {
  // Most of what follows would test nothing without it. Where there is none, say so with
  // KEVO_TEST_WITHOUT_SANDBOX=1.
  if (std::getenv("KEVO_TEST_WITHOUT_SANDBOX") == nullptr) CHECK(contains(sandbox_mode::required));
}

TEST_CASE("the layers are found by trying") {
  const auto& layers = probe_sandbox();
  CHECK(layers.size() >= 12);
  for (const auto& layer : layers) {
    INFO(layer.name << ": " << layer.detail);
    CHECK(!layer.detail.empty());
    if (layer.required && contains(sandbox_mode::best)) CHECK(layer.in_force);
  }
  CHECK(&probe_sandbox() == &layers);
  CHECK(probe_sandbox_again().size() == layers.size());
  if (contains(sandbox_mode::best)) {
    CHECK(contains(sandbox_mode::required));
    CHECK(describe_layers(sandbox_mode::required).find("pid namespace") != std::string::npos);
  } else {
    CHECK_THROWS_AS(contains(sandbox_mode::required), kevo::error);
  }
  CHECK(!contains(sandbox_mode::off));
  CHECK(describe_layers(sandbox_mode::off).starts_with("off"));
}

TEST_CASE("the environment is empty and the identity is nobody's") {
  if (!sandboxed_or_skip()) return;
  launch_spec spec;
  spec.argv = {"/usr/bin/env"};
  spec.mounts = toolchain_mounts("/usr/bin/g++");
  const auto all = lines(run(spec).out);
  // Bubblewrap sets PWD itself.
  CHECK(all.size() <= 1);
  if (all.size() == 1) CHECK(all[0] == "PWD=/");
  spec.environment = {"A=b=c"};
  CHECK(run(spec).out.find("A=b=c\n") != std::string::npos);
  CHECK(run(helper_spec({"identity"})).out == "65534 1 kevo\n");
}

TEST_CASE("nothing of the host is there but what was mounted") {
  if (!sandboxed_or_skip()) return;
  CHECK(lines(run(helper_spec({"list", "/"})).out) ==
        std::vector<std::string>{".", "..", "dev", "helper", "tmp"});
  CHECK(lines(run(helper_spec({"list", "/dev"})).out) ==
        std::vector<std::string>{".", "..", "null", "urandom", "zero"});
  for (const char* path : {"/proc", "/sys", "/etc", "/home", "/root", "/run", "/var"}) {
    CHECK(run(helper_spec({"list", path})).out == "No such file or directory\n");
  }
  CHECK(run(helper_spec({"list", "/tmp"})).out == ".\n..\n");
}

TEST_CASE("nothing can be written but the private /tmp, which is bounded, and what was mounted so") {
  if (!sandboxed_or_skip()) return;
  for (const char* path : {"/x", "/helper", "/dev/x"})
    CHECK(run(helper_spec({"big_file", path})).out == "0\n");
  auto spec = helper_spec({"big_file", "/tmp/x"});
  spec.limits.scratch_bytes = 1U << 20U;
  CHECK(std::stol(run(spec).out) <= 1 << 20);
  const scratch_folder folder;
  auto mounted = helper_spec({"big_file", "/out/x"});
  mounted.limits.file_bytes = 4096;
  mounted.mounts.push_back({folder.path(), "/out", true});
  CHECK(run(mounted).out == "4096\n");
  CHECK(std::filesystem::file_size(folder.path() + "/x") == 4096);
  mounted.mounts.back().writable = false;
  mounted.argv.back() = "/out/y";
  CHECK(run(mounted).out == "0\n");
}

TEST_CASE("forbidden system calls are refused") {
  if (!sandboxed_or_skip()) return;
  for (const auto policy : {syscall_policy::builder, syscall_policy::worker, syscall_policy::command}) {
    auto spec = helper_spec({"forbidden"});
    spec.policy = policy;
    const auto report = run(spec);
    CHECK(report.ok());
    const auto all = lines(report.out);
    CHECK(all.size() == 11);
    for (const auto& line : all) CHECK(line.ends_with("Operation not permitted"));
  }
  auto bomb = helper_spec({"fork_bomb"});
  bomb.policy = syscall_policy::worker;
  bomb.limits.wall_s = 0.3;
  CHECK(run(bomb).out == "0\n");
}

TEST_CASE("a forker may mount inside of its sandbox, and nothing else that is forbidden") {
  if (!sandboxed_or_skip()) return;
  auto spec = helper_spec({"forbidden"});
  spec.policy = syscall_policy::forker;
  const auto report = run(spec);
  CHECK(report.ok());
  for (const auto& line : lines(report.out)) {
    INFO(line);
    CHECK((line.starts_with("mount ") || line.ends_with("Operation not permitted")));
  }
}

TEST_CASE("without namespaces root still drops and the filter still holds") {
  if (!root_or_skip()) return;
  auto spec = helper_spec({"forbidden"});
  auto report = detail::launch_in({"", true, true}, spec).wait();
  CHECK(report.ok());
  for (const auto& line : lines(report.out)) CHECK(line.ends_with("Operation not permitted"));
  spec.argv.back() = "identity";
  CHECK(detail::launch_in({"", true, true}, spec).wait().out.starts_with("65534 "));
  spec.argv.back() = "fork_bomb";
  spec.limits.processes = 10;
  spec.limits.wall_s = 1;
  report = detail::launch_in({"", true, true}, spec).wait();
  CHECK(report.kind == exit_kind::timed_out);
  CHECK(std::stoi(report.out) < 60);  // other processes of the same user may end or start meanwhile
}

TEST_CASE("the network is not there") {
  if (!sandboxed_or_skip()) return;
  launch_spec spec;
  spec.argv = {"/usr/bin/bash", "-c", "exec 3<>/dev/tcp/127.0.0.1/22"};
  spec.mounts = toolchain_mounts("/usr/bin/g++");
  spec.policy = syscall_policy::command;
  const auto report = run(spec);
  CHECK(!report.ok());
}

TEST_CASE("files that nobody may read are handed over as copies, folders are refused") {
  if (!sandboxed_or_skip() || !root_or_skip()) return;
  const scratch_folder closed(false);
  std::ofstream(closed.path() + "/secret.txt") << "known\n";
  launch_spec spec;
  spec.argv = {"/usr/bin/cat", "/given.txt"};
  spec.mounts = toolchain_mounts("/usr/bin/g++");
  spec.mounts.push_back({closed.path() + "/secret.txt", "/given.txt"});
  CHECK(run(spec).out == "known\n");
  spec.mounts.back() = {closed.path(), "/folder"};
  CHECK_THROWS_AS(run(spec), kevo::error);
  spec.mounts.back() = {"/nowhere", "/folder"};
  CHECK_THROWS_AS(run(spec), kevo::error);
  spec.mounts.back().optional = true;
  CHECK(!run(spec).ok());
}

TEST_CASE("hidden paths are empty") {
  if (!sandboxed_or_skip()) return;
  launch_spec spec;
  spec.argv = {"/usr/bin/bash", "-c", "echo /usr/include/c++/*; cat /usr/include/stdio.h"};
  spec.mounts = toolchain_mounts("/usr/bin/g++");
  CHECK(run(spec).ok());
  spec.hidden = {"/usr/include/c++", "/usr/include/stdio.h", "/usr/include/nowhere"};
  const auto report = run(spec);
  CHECK(!report.ok());
  CHECK(report.out == "/usr/include/c++/*\n");
}

TEST_CASE("a toolchain is mounted without the folders in which other people's files lie") {
  for (const auto& m : toolchain_mounts("/usr/bin/g++")) {
    CHECK(m.inside != "/usr");
    CHECK(!m.inside.starts_with("/usr/share"));
    CHECK(!m.inside.starts_with("/usr/local"));
    CHECK(!m.writable);
  }
  const auto other = toolchain_mounts("/opt/gcc/bin/g++");
  CHECK(std::none_of(other.begin(), other.end(), [](const mount& m) { return m.inside == "/opt"; }));
}
