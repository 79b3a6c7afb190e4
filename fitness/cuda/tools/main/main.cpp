// kevo-replay-cuda: one call of a candidate, from a file, for NVIDIA's checkers and profilers to watch. Every
// buffer is an allocation of its own, of exactly its size, so that they see each access beside it. It runs in
// the sandbox and has no host code of the candidate's. Usage: kevo-replay-cuda FILE DEVICE

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <exception>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fitness/cuda/driver/execute.hpp"
#include "fitness/cuda/tools/replay.hpp"

namespace {

using namespace kevo::cuda;

int end_with(const driver& d, replay_exit how, const std::string& what, driver_code code) {
  std::fprintf(stderr, "kevo-replay-cuda: %s: %s\n", what.c_str(), text_of(d, code).c_str());
  return static_cast<int>(how);
}

// Alignment beyond the driver's own is had by asking for more.
driver_code allocate(const driver& d, std::uint64_t bytes, std::uint64_t align, address& to) {
  constexpr std::uint64_t usual = 256;
  const std::uint64_t spare = align > usual ? align : 0;
  const auto code = d.memory_allocate(&to, std::max<std::uint64_t>(bytes + spare, 1));
  if (code == success && spare > 0) to = (to + align - 1) / align * align;
  return code;
}

int run(const driver& d, const replay& call, device_index device) {
  context current = nullptr;
  stream on = nullptr;
  if (const auto code = d.primary_retain(&current, device))
    return end_with(d, replay_exit::machine, "making a context", code);
  if (const auto code = d.context_set(current))
    return end_with(d, replay_exit::machine, "entering the context", code);
  if (const auto code = d.stream_create(&on, stream_non_blocking))
    return end_with(d, replay_exit::machine, "making a stream", code);

  std::vector<address> buffers;
  const auto add = [&](std::uint64_t bytes, std::uint64_t align) {
    return allocate(d, bytes, align, buffers.emplace_back());
  };
  constexpr unsigned char poison = 0xff;  // as floating point: no number
  driver_code code = success;
  for (std::size_t i = 0; i < call.inputs.size() && code == success; ++i) {
    code = add(call.inputs[i].size(), 1);
    if (code == success && !call.inputs[i].empty())
      code = d.copy_in(buffers.back(), call.inputs[i].data(), call.inputs[i].size(), on);
  }
  const auto add_poisoned = [&](std::uint64_t bytes, std::uint64_t align) {
    code = add(bytes, align);
    if (code == success && bytes > 0) code = d.set_bytes(buffers.back(), poison, bytes, on);
  };
  for (std::size_t i = 0; i < call.outputs.size() && code == success; ++i) add_poisoned(call.outputs[i], 1);
  for (std::size_t i = 0; i < call.what.workspaces.size() && code == success; ++i)
    add_poisoned(call.what.workspaces[i].bytes, call.what.workspaces[i].align);
  if (code == success) code = d.stream_synchronize(on);
  if (code != success) return end_with(d, replay_exit::machine, "filling device memory", code);

  loaded_module module;
  prepared_plan plan;
  auto failure = module.load(d, call.code);
  if (!failure) failure = plan.prepare(d, module, call.what, buffers);
  if (!failure) failure = plan.enqueue(d, on);
  if (!failure) failure = {d.stream_synchronize(on), "running"};
  if (failure) return end_with(d, replay_exit::failed, failure.what, failure.code);
  return static_cast<int>(replay_exit::ran);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: kevo-replay-cuda FILE DEVICE (internal; started by kevo)\n", stderr);
    return static_cast<int>(replay_exit::usage);
  }
  try {
    std::ifstream file(argv[1], std::ios::binary);
    const std::string bytes{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    const replay call = decode_replay(bytes);
    const auto& loaded = load_driver();
    if (loaded.functions == nullptr) {
      std::fprintf(stderr, "kevo-replay-cuda: %s\n", loaded.missing.c_str());
      return static_cast<int>(replay_exit::machine);
    }
    device_index device = 0;
    if (!find_device(*loaded.functions, argv[2], device)) {
      std::fputs("kevo-replay-cuda: the device was not found\n", stderr);
      return static_cast<int>(replay_exit::machine);
    }
    return run(*loaded.functions, call, device);
  } catch (const std::exception& problem) {
    std::fprintf(stderr, "kevo-replay-cuda: %s\n", problem.what());
    return static_cast<int>(replay_exit::usage);
  }
}
