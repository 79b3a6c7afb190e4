// timeout: 300
// What a bundle says of compiling again is true: its tools give the machine code that is in it, with the
// options and the compiler that the program chooses.

#include <filesystem>
#include <string>

#include <boost/json.hpp>
#include <doctest/doctest.h>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "fitness/cuda/compile/cuda_compiler.hpp"
#include "fitness/cuda/compile/nvcc.hpp"
#include "src/export/bundle/bundle.hpp"
#include "src/task/task_loader.hpp"
#include "tests/journal/random_run.hpp"
#include "tests/support/shell.hpp"
#include "tests/support/skip.hpp"

using namespace kevo_test;  // NOLINT(google-build-using-namespace)
namespace fs = std::filesystem;

// Names of its own, because the tests of a folder are compiled together.
namespace recompiling {
namespace {

// 64 values that are all needed at the end, so that a cap on registers makes other code.
const std::string kernel =
    "// kevo: launch f<<<1, 256>>>(x, y, N)\n"
    "extern \"C\" __global__ void f(const float* x, float* y, long long n) {\n"
    "  float v[64];\n"
    "  for (int i = 0; i < 64; ++i) v[i] = x[i * n];\n"
    "  for (int i = 0; i < 64; ++i) y[i] = v[63 - i] * v[(i * 7) % 64] + v[(i * 5) % 64];\n}\n";

// A run whose only candidate is that kernel, compiled as `line` says.
struct run_of_one {
  scratch_folder folder;
  kevo::task task = kevo::load_task(KEVO_SOURCE_DIR "/tests/fitness/cuda/fake/scale.yaml");
  kevo::journal record = kevo::journal::create(folder / "run", example_header());

  explicit run_of_one(const std::string& line, const std::string& flags = "") {
    const auto source =
        std::make_shared<const kevo::program>(kevo::single_file_program("cuda", "k.cu", line + kernel));
    record.store().put_program(kevo::id_of(*source), source);
    record.consume({1, 1.0, kevo::seeded{0, kevo::id_of(*source)}});
    kevo::evaluation e;
    e.outcome = kevo::outcome::valid;
    e.speedup = e.score = 2;
    e.stage = kevo::evaluation_stage::confirmed;
    e.context = {
        {"architecture", "sm_90a"}, {"flags", flags}, {"build", "registers 32"}, {"built_by", "NVRTC"}};
    record.consume({2, 2.0,
                    kevo::evaluation_told{1,
                                          0,
                                          kevo::evaluation_stage::confirmed,
                                          std::make_shared<const kevo::evaluation>(e),
                                          {kevo::archive_status::new_cell, 0.5}}});
    record.commit();
  }

  std::string exported() {
    const auto to = folder / "bundle";
    kevo::export_bundle(record, task, to);
    return to;
  }
};

shell::result in(const std::string& folder, const std::vector<std::string>& words) {
  std::vector<std::string> all = {"/usr/bin/env"};
  all.insert(all.end(), words.begin(), words.end());
  return shell::run(all, folder);
}

void change_cap(const std::string& file) {
  auto text = shell::read_file(file);
  const auto at = text.find("maxrregcount=32");
  REQUIRE(at != std::string::npos);
  shell::write_file(file, text.replace(at, 15, "maxrregcount=48"));
}

}  // namespace

TEST_CASE("NVRTC: recompile gives the machine code of the bundle with the program's options") {
  kevo::cuda::toolchain tools;
  try {
    tools = kevo::cuda::find_toolchain();
  } catch (const kevo::error&) {
    kevo_test::skip("there is no NVRTC on this machine");
    return;
  }
  // A flag that would end a raw string, with quotes and a backslash.
  run_of_one run("// kevo: build {registers: 32, fuse_multiply_add: off}\n", R"x(-DODD=")k\"(")x");
  const auto bundle = run.exported();
  const auto card = boost::json::parse(shell::read_file(bundle + "/card.json")).as_object();
  CHECK(card.at("context").as_object().at("build").as_string() == "registers 32");
  CHECK(shell::read_file(bundle + "/README.md").find("options of its own: registers 32") !=
        std::string::npos);
  const fs::path header = fs::path(tools.library).parent_path().parent_path() / "include" / "nvrtc.h";
  const std::string include = header.parent_path().string();
  if (!fs::exists(header)) {
    kevo_test::skip("there is no nvrtc.h beside this NVRTC");
    return;
  }
  if (fs::exists(header.parent_path() / "cuda.h")) {
    const auto name = std::string(card.at("name").as_string());
    const auto built =
        in(bundle, {"c++", "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror", "-Isrc", "-Iinclude", "-Itest",
                    "-isystem" + include, "-c", "test/" + name + "_test.cpp", "-o", "test.o"});
    CHECK_MESSAGE(built.code == 0, built.err);
  }
  const auto compile = [&] {
    const auto built =
        in(bundle, {"c++", "-std=c++17", "-O0", "-I" + include, "tools/recompile.cpp", tools.library,
                    "-Wl,-rpath," + fs::path(tools.library).parent_path().string(), "-o", "again"});
    INFO(built.err);
    REQUIRE(built.code == 0);
    return in(bundle, {"./again", ".", include});
  };
  const auto same = compile();
  CHECK_MESSAGE(same.code == 0, same.out, same.err);
  CHECK(same.out.find("the machine code that was measured") != std::string::npos);
  change_cap(bundle + "/tools/recompile.cpp");
  CHECK(compile().code == 3);
}

TEST_CASE("nvcc: the same, where the program chooses it") {
  const auto nvcc = kevo::cuda::find_hosted_nvcc();
  if (nvcc.empty()) {
    kevo_test::skip("there is no nvcc on this machine");
    return;
  }
  run_of_one run("// kevo: build {compiler: nvcc, registers: 32}\n");
  const auto bundle = run.exported();
  CHECK_FALSE(fs::exists(bundle + "/tools/recompile.cpp"));
  const auto again = [&] {
    return in(bundle, {"PATH=" + fs::path(nvcc).parent_path().string() + ":/usr/bin:/bin", "sh",
                       "tools/recompile.sh", "."});
  };
  const auto same = again();
  CHECK_MESSAGE(same.code == 0, same.out, same.err);
  CHECK(same.out.find(", the machine code that was measured") != std::string::npos);
  change_cap(bundle + "/tools/recompile.sh");
  CHECK(again().code == 3);
}

}  // namespace recompiling
