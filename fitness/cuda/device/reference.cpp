// What is expected of a call: by the module of the task's reference, or by a process that runs a reference in
// Python.

#include <chrono>

#include <kevo/error.hpp>

#include "fitness/cuda/device/engine.hpp"
#include "fitness/cuda/device/type_code.hpp"

namespace kevo::cuda {
namespace {

constexpr std::uint64_t reference_alignment = 256;

}  // namespace

std::string engine::run_compiled_reference(const device_workload& w, const std::vector<address>& buffers) {
  const auto& d = gpu_.api();
  prepared_plan run;
  if (const auto failure = run.prepare(d, reference_, w.reference, buffers))
    return "cannot be launched: " + failure.what + " " + text_of(d, failure.code);
  if (const auto failure = run.enqueue(d, gpu_.main()))
    return "cannot be launched: " + failure.what + " " + text_of(d, failure.code);
  if (const auto code = d.stream_synchronize(gpu_.main())) {
    if (speaks_of_machine(code)) check(d, code, "running the reference");
    return "fails on the device: " + text_of(d, code);
  }
  return {};
}

std::string engine::run_reference_of(arena_state& arena, const device_workload& w,
                                     const std::vector<address>& buffers, std::string& remark) {
  constexpr auto longest = std::chrono::seconds(120);
  if (!arena.worker) throw error(error_code::internal, "the reference has no worker");
  std::vector<std::uint64_t> offsets;
  std::vector<std::uint64_t> bytes;
  for (const auto& input : w.inputs) bytes.push_back(input.count * element_of(input.type).size);
  for (const auto& output : w.outputs) bytes.push_back(8 * output.count);
  std::uint64_t place = 0;
  for (const auto size : bytes) {
    offsets.push_back(place);
    place = (place + size + reference_alignment - 1) / reference_alignment * reference_alignment;
  }
  if (place > arena.memory.bytes())
    throw error(error_code::environment, "the arena of the reference is too small for a call");
  auto answer = arena.worker->prepare(0, encode(w.reference), {}, {}, true, longest);
  if (answer.end == call_end::done) {
    for (std::size_t i = 0; i < bytes.size(); ++i)
      gpu_.copy_on(arena.memory.at() + offsets[i], buffers[i], bytes[i]);
    gpu_.wait();
    answer = arena.worker->step(0, offsets, longest);
  }
  if (answer.end != call_end::done)
    return "fails: " + (answer.message.empty() ? "its process has ended, or takes too long" : answer.message);
  if (remark.empty()) remark = arena.worker->remark();
  for (std::size_t i = w.inputs.size(); i < bytes.size(); ++i)
    gpu_.copy_on(buffers[i], arena.memory.at() + offsets[i], bytes[i]);
  gpu_.wait();
  return {};
}

}  // namespace kevo::cuda
