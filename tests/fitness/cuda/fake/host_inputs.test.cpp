// timed
// build: optimized
// Inputs that kevo draws on the host and uploads to the device: from files here, on the test double of the
// driver. Those that a function of the reference makes need PyTorch on a GPU: tests/gpu/torch.test.cpp.
// timeout: 300
#include "fitness/cuda/measure/host_inputs.hpp"

#include <cstring>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include "tests/fitness/cuda/fake/toy_candidates.hpp"
#include "tests/support/fake_gpu.hpp"

using namespace kevo;

namespace {

constexpr int elements = 500;

float element(int i) {
  return 0.25F * static_cast<float>(i) - 40;
}

std::string npy() {
  std::string header =
      "{'descr': '<f4', 'fortran_order': False, 'shape': (" + std::to_string(elements) + ",), }";
  header.resize((header.size() + 11) / 64 * 64 + 53, ' ');
  header += '\n';
  std::string text("\x93NUMPY\x01\x00", 8);
  text += static_cast<char>(header.size() & 0xffU);
  text += static_cast<char>(header.size() >> 8U);
  text += header;
  for (int i = 0; i < elements; ++i) {
    const float value = element(i);
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
  }
  return text;
}

/// y = 2.5 x + b: x is the file's in its order, in most calls; the elements of b are drawn from the same
/// file.
task task_with_files(const shell::scratch& folder) {
  shell::write_file(folder / "x.npy", npy());
  shell::write_file(
      folder / "reference.cu",
      "// kevo: launch scale_add_reference<<<1, 256>>>(x, b, y, N)\n"
      "extern \"C\" __global__ void scale_add_reference(const float* x, const float* b, double* y, "
      "long long n) {}\n");
  shell::write_file(
      folder / "seed.cu",
      "#define FAKE_NS 20000\n// kevo: launch scale_add<<<1, 256>>>(x, b, y, N)\n"
      "extern \"C\" __global__ void scale_add(const float* x, const float* b, float* y, long long "
      "n) {}\n");
  shell::write_file(folder / "task.yaml", R"(
name: from_files
axes: {N: {type: var}}
inputs: {x: {shape: [N], dtype: float32}, b: {shape: [N], dtype: float32}}
outputs: {y: {shape: [N], dtype: float32}}
reference: {language: cuda, file: reference.cu}
generate: {x: normal, b: normal}
workloads:
  - uuid: file
    axes: {N: 500}
    inputs: {x: {type: npy, path: x.npy, contents: kept}, b: {type: npy, path: x.npy}}
  - {uuid: odd, axes: {N: 33}, hidden: true}
tolerance: {max_atol: 1.0e-4, max_rtol: 1.0e-4}
baselines: [{name: seed, file: seed.cu}]
)");
  return load_task((folder / "task.yaml").string());
}

std::vector<float> floats(const std::string& bytes, std::size_t first, std::size_t count) {
  std::vector<float> values(count);
  std::memcpy(values.data(), bytes.data() + sizeof(float) * first, sizeof(float) * count);
  return values;
}

}  // namespace

TEST_CASE("the host draws what comes from files, and generated values take its place in some calls") {
  const shell::scratch folder;
  const auto t = task_with_files(folder);
  CHECK(cuda::has_host_inputs(t, t.workloads[0]));
  CHECK_FALSE(cuda::has_host_inputs(t, t.workloads[1]));
  cuda::host_inputs host(t, 0, nullptr);
  std::vector<float> file;
  for (int i = 0; i < elements; ++i) file.push_back(element(i));
  const std::set<float> known(file.begin(), file.end());
  std::set<std::string> seen;
  int plain = 0;
  int generated = 0;
  for (std::size_t n = 0; n < 200; ++n) {
    const auto one = host.next(false, n);
    REQUIRE(one.bytes.size() == 2 * elements * sizeof(float));
    const auto x = floats(one.bytes, 0, elements);
    const auto b = floats(one.bytes, elements, elements);
    if (x != file) {
      ++generated;
    } else if (one.kind == variety::plain) {
      ++plain;
      CHECK(b != file);
      CHECK(seen.insert(one.bytes).second);
      for (const float value : b) REQUIRE(known.contains(value));
    }
  }
  CHECK(plain >= 110);    // 150 on average
  CHECK(generated >= 1);  // 7 on average
  CHECK(generated <= 40);
  for (std::size_t n = 0; n < 4; ++n)
    CHECK((floats(host.next(true, n).bytes, 0, elements) == file) == (n % 2 == 0));
}

// The programs with faults are those of y = 2 x, with the reference and the seed of scale.yaml.
TEST_CASE("programs are judged on a device with inputs from files") {
  const fake_gpu gpu;
  const shell::scratch folder;
  cuda_fitness two(std::make_shared<const task>(task_with_files(folder)), toy::quick_settings());
  const auto seed = shell::read_file(folder / "seed.cu");
  CHECK(toy::evaluate(two, seed).outcome == outcome::valid);
  CHECK(toy::evaluate(two, "// fake: no_op\n" + seed).outcome == outcome::incorrect);

  auto text = shell::read_file(toy::folder + "scale.yaml");
  const std::string usual = "axes: {N: 500}}";
  text.replace(text.find(usual), usual.size(), "axes: {N: 500}, inputs: {x: {type: npy, path: x.npy}}}");
  shell::write_file(folder / "scale.yaml", text);
  for (const std::string file : {"scale.cu", "scale_reference.cu"})
    shell::write_file(folder / file, shell::read_file(toy::folder + file));
  cuda_fitness one(std::make_shared<const task>(load_task((folder / "scale.yaml").string())),
                   toy::quick_settings());
  const auto judged = [&](const std::string& fault, outcome wanted) {
    const auto e = toy::evaluate(one, toy::scale_source(20000, fault), evaluation_stage::checked);
    CHECK_MESSAGE(e.outcome == wanted, fault, " is ", std::string(to_string(e.outcome)), ": ", e.feedback);
  };
  judged("", outcome::valid);
  judged("wrong_value", outcome::incorrect);
  judged("stale", outcome::incorrect);
  judged("change_input", outcome::rejected);
}
