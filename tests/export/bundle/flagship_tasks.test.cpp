// What bundles of tasks contain whose sizes no tensor determines, and whose inputs are offsets: a PyTorch
// function that asks for such sizes and checks them, and a test that draws the offsets.

#include <string>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "src/export/bundle/bundle_parts.hpp"
#include "src/export/bundle/cuda_launcher.hpp"
#include "src/task/task_loader.hpp"
#include "tests/support/shell.hpp"

using namespace kevo_test;  // NOLINT(google-build-using-namespace)

namespace flagship_tasks {
namespace {

struct torch_parts {
  kevo::task task;
  kevo::bundle::folder_text files;
  std::string remark;
};

torch_parts torch_parts_of(const std::string& name) {
  torch_parts made{kevo::load_task(fmt::format(KEVO_SOURCE_DIR "/configs/tasks/{}/task.yaml", name)), {}, {}};
  const kevo::bundle::bundled b{name, &made.task, nullptr, nullptr, ""};
  made.remark = kevo::bundle::add_torch_extension(b, made.files);
  return made;
}

// The launcher's header with a launcher that prints the sizes that it is given.
std::string printing_header(const kevo::task& t, const std::string& name) {
  std::string fields;
  std::string printed;
  for (const auto* list : {&t.inputs, &t.outputs}) {
    for (const auto& one : *list)
      fields += fmt::format("  {}{}* {} = nullptr;\n", list == &t.inputs ? "const " : "",
                            kevo::bundle::cpp_type(one.dtype), one.name);
  }
  for (const auto& axis : t.axes) {
    if (axis.value) continue;
    fields += fmt::format("  std::int64_t {} = 0;\n", axis.name);
    printed += fmt::format("  std::printf(\"{0} %ld \", static_cast<long>(a.{0}));\n", axis.name);
  }
  return fmt::format(
      "#pragma once\n#include <cstdint>\n#include <cstdio>\n#include <cuda.h>\nnamespace {} {{\nstruct "
      "arguments "
      "{{\n{}  void* workspace = nullptr;\n}};\ninline std::size_t workspace_bytes(const arguments&) {{ "
      "return 4; "
      "}}\ninline void launch(const arguments& a, CUstream) {{\n{}}}\n}}\n",
      name, fields, printed);
}

// What calls of the binding print. Their texts are C++.
std::string output_of(const torch_parts& parts, const std::string& name, const std::string& calls) {
  const shell::scratch folder;
  shell::write_file(folder / "binding.cpp", parts.files.at("torch/binding.cpp"));
  shell::write_file(folder / (name + ".hpp"), printing_header(parts.task, name));
  shell::write_file(folder / "launch_runtime.hpp",
                    std::string(kevo::bundle::shipped_file("launch_runtime.hpp")));
  shell::write_file(folder / "main.cpp",
                    fmt::format("#include \"binding.cpp\"\nint main() {{\n  pybind11::recorded_module m;\n  "
                                "define_module(m);\n  try {{\n{}  }} catch (const std::exception& e) {{ "
                                "std::puts(e.what()); }}\n}}\n",
                                calls));
  const auto built =
      shell::run({"/usr/bin/env", "c++", "-std=c++17", "-O0", "-I.",
                  "-I" KEVO_SOURCE_DIR "/tests/export/bundle/recording_torch",
                  "-I" KEVO_SOURCE_DIR "/tests/export/bundle/recording_driver", "main.cpp", "-o", "program"},
                 folder.string());
  INFO(built.err);
  REQUIRE(built.code == 0);
  return shell::run({(folder / "program")}, folder.string()).out;
}

}  // namespace

TEST_CASE("a PyTorch function asks for a size that no tensor determines, and derives those that follow") {
  const auto parts = torch_parts_of("cuda_im2win");
  CHECK(parts.remark.empty());
  CHECK(parts.files.at("torch/cuda_im2win.py").find("cuda_im2win(x, w, stride)") != std::string::npos);
  const auto right = output_of(parts, "cuda_im2win",
                               "    const auto y = call({{2, 3, 37, 43}}, {{33, 3, 7, 7}}, 2);\n"
                               "    std::printf(\"y %ld %ld\", (long)y[0].size(2), (long)y[0].size(3));\n");
  CHECK(right.find("P 16 Q 19 stride 2 ") != std::string::npos);
  CHECK(right.find("y 16 19") != std::string::npos);
  CHECK(output_of(parts, "cuda_im2win", "    call({{2, 3, 37, 43}}, {{33, 4, 7, 7}}, 2);\n") ==
        "extent 1 of w must be C\n");
}

TEST_CASE("sizes that are given must fit the tensors and the constraints") {
  const auto parts = torch_parts_of("cuda_dualkv_forward");
  CHECK(parts.remark.empty());
  const auto call = [&](int prompt, int heads_of_keys) {
    return output_of(
        parts, "cuda_dualkv_forward",
        fmt::format("    const at::Tensor k{{{{20, {}, 128}}, at::kBFloat16}};\n"
                    "    call({{{{20, 6, 128}}, at::kBFloat16}}, k, k, {{{{4}}, at::kInt}}, {}, 3, 13, 9);\n",
                    heads_of_keys, prompt));
  };
  CHECK(call(7, 2).find("P 7 N 3 T 13 L 9 H 6 G 2 ") == 0);
  CHECK(call(8, 2) == "extent 0 of q must be P + T\n");
  CHECK(call(7, 4) == "the sizes must satisfy H % G == 0\n");
}

TEST_CASE("the test of a bundle draws offsets with the law, the total and the longest row of the task") {
  const auto task = kevo::load_task(KEVO_SOURCE_DIR "/configs/tasks/cuda_dualkv_forward/task.yaml");
  CHECK(kevo::bundle::reason_against_test(task).empty());
  const shell::scratch folder;
  shell::write_file(folder / "check_runtime.hpp",
                    std::string(kevo::bundle::shipped_file("check_runtime.hpp")));
  shell::write_file(folder / "main.cpp", R"(#include "check_runtime.hpp"
using namespace kevo_bundle;
// Prints the first and last offset and the shortest and longest row.
void tell(const char* law, std::size_t rows, double total, double longest, unsigned seed) {
  tensor offsets(dtype::int32, rows + 1);
  random_numbers random(seed);
  draw_offsets(offsets, random, total, longest, law, 2);
  double least = total, most = 0;
  for (std::size_t i = 0; i < rows; ++i) {
    least = std::min(least, offsets.at(i + 1) - offsets.at(i));
    most = std::max(most, offsets.at(i + 1) - offsets.at(i));
  }
  const bool uneven = most > 1.2 * total / static_cast<double>(rows);
  std::printf("%s %g %g %d %d %d\n", law, offsets.at(0), offsets.at(rows), least >= 0, longest == 0 || most <= longest, uneven);
}
int main() {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    tell("equal", 28, 57343, 2048, seed);
    tell("uniform", 8, 8192, 2048, seed);
    tell("power_law", 45, 900, 900, seed);
    tell("", 7, 777, 0, seed);
    tell("uniform", 3, 30, 10, seed);
  }
}
)");
  const auto built = shell::run({"/usr/bin/env", "c++", "-std=c++17", "-O1", "-Wall", "-Wextra", "-Werror",
                                 "main.cpp", "-o", "program"},
                                folder.string());
  INFO(built.err);
  REQUIRE(built.code == 0);
  std::string expected;
  for (int i = 0; i < 20; ++i)
    expected +=
        "equal 0 57343 1 1 0\nuniform 0 8192 1 1 1\npower_law 0 900 1 1 1\n 0 777 1 1 1\nuniform 0 30 1 1 "
        "0\n";
  CHECK(shell::run({(folder / "program")}, folder.string()).out == expected);
}

TEST_CASE("the time of a bundle's program on a device is the median of several processes, and is judged") {
  const shell::scratch folder;
  for (const auto* name : {"check_runtime.hpp", "device_times.hpp"})
    shell::write_file(folder / name, std::string(kevo::bundle::shipped_file(name)));
  // Each process adds a line to a file, and is slower than the one before.
  shell::write_file(folder / "main.cpp", R"(#include <cstdlib>
#include "device_times.hpp"
using namespace kevo_bundle;
int main(int count, char** words) {
  if (count == 1) return time_in_processes(words[0], 5, "a device", std::getenv("DEVICE"));
  std::FILE* file = std::fopen("starts", "a+");
  std::fputs("x", file);
  std::fseek(file, 0, SEEK_END);
  const double starts = static_cast<double>(std::ftell(file));
  std::fclose(file);
  const double least = std::atof(std::getenv("LEAST"));
  std::puts("right");
  tell_time("a size", {starts, 0.5, 90}, 3, 2.5, 3.5);
  tell_time("other", {least, 1, 900}, 3, 2.5, 3.5);
  tell_time("unknown", {1}, 0, 0, 0);
  return starts > 15 ? 1 : 0;
}
)");
  const auto built = shell::run({"/usr/bin/env", "c++", "-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror",
                                 "main.cpp", "-o", "program"},
                                folder.string());
  INFO(built.err);
  REQUIRE(built.code == 0);
  const auto told = [&](const std::string& least, const std::string& device = "a device") {
    return shell::run({"/usr/bin/env", "LEAST=" + least, "DEVICE=" + device, (folder / "program")},
                      folder.string());
  };
  CHECK(told("30", "another device").code == 77);
  const auto near = told("3.8");
  CHECK(near.code == 0);
  CHECK(
      near.out ==
      "right\n"
      "a size: 3 ms a call (median of 5 processes, 1 to 5); the run measured 3 ms [2.5, 3.5], and the median "
      "is within this interval\n"
      "other: 3.8 ms a call (median of 5 processes, 3.8 to 3.8); the run measured 3 ms [2.5, 3.5], and the "
      "median is above this interval by less than 15 %\n"
      "unknown: 1 ms a call (median of 5 processes, 1 to 1)\npassed\n");
  CHECK(told("30").code == 1);
  CHECK(told("2.2").code == 1);  // "a size" takes too long now
  CHECK(told("3").out.find("passed") == std::string::npos);
}

}  // namespace flagship_tasks
