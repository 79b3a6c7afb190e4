// Results of programs in Python, which lie where the program likes. What its process says of the place is a
// claim: it is checked, the memory is opened here, and what lies there when the call ends is copied to where
// the process cannot reach it. It may name other memory than that of its result and gains nothing: the right
// values of a call exist nowhere before.

#include <algorithm>
#include <array>
#include <cstring>

#include <kevo/error.hpp>

#include "fitness/cuda/device/engine.hpp"
#include "fitness/cuda/device/type_code.hpp"
#include "fitness/oracle/element_type.hpp"

namespace kevo::cuda {

std::string engine::find_results(arena_state& arena, const device_workload& w, bool trusted,
                                 output_places& found) {
  found.clear();
  arena.named = arena.worker->claims(w.outputs.size());
  if (arena.named.empty()) return "ended a call without naming its results";
  arena.blocks->begin_call();
  output_places places;
  bool any_new = false;
  for (std::size_t i = 0; i < w.outputs.size(); ++i) {
    auto& one = places.emplace_back();
    const auto size = element_of(w.outputs[i].type).size;
    if (const auto wrong = place_of(arena.named[i], w.outputs[i].count, size, one.rows); !wrong.empty())
      return "named a result that cannot be: " + wrong;
    if (one.rows.bytes() == 0) continue;
    const auto* block = arena.blocks->of(arena.named[i]);
    if (block == nullptr && trusted)
      throw error(error_code::environment,
                  "the driver does not let kevo-device open memory of another process (CUDA IPC), where the "
                  "results of programs of PyTorch lie",
                  {}, "use a driver and a system with CUDA IPC, which WSL does not have");
    if (block == nullptr) return "named memory for a result that cannot be opened";
    if (one.rows.end() > block->bytes) return "named a result that cannot be: it goes beyond its block";
    one.at = block->at + one.rows.offset;
    any_new = any_new || !block->proved;
  }
  if (any_new) touch(places);
  found = std::move(places);
  return {};
}

void engine::touch(const output_places& outputs) {
  std::array<std::byte, 32> line{};
  for (const auto& [at, rows] : outputs) {
    if (rows.bytes() > 0)
      gpu_.copy_out(line.data(), at, std::min<std::uint64_t>(line.size(), rows.row_bytes));
  }
}

engine::output_places engine::outputs_of_empty(const device_workload& w, std::size_t call) const {
  output_places outputs;
  const auto kept = kept_of(w, call);
  for (std::size_t i = 0; i < w.outputs.size(); ++i) {
    const auto bytes = w.outputs[i].count * element_of(w.outputs[i].type).size;
    outputs.push_back({kept[i].at, {.rows = 1, .row_bytes = bytes, .pitch = bytes, .order = {}}});
  }
  return outputs;
}

// A handle is a number that a process can also invent, and the driver opens what it names for whoever asks:
// memory of other processes, and that of this one, where the right results are. So a block counts only when
// its process can tell what has just been written into it.
worker_answer engine::prove_blocks(arena_state& arena, const output_places& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto& rows = outputs[i].rows;
    if (rows.bytes() == 0) continue;
    auto* block = arena.blocks->of(arena.named[i]);
    if (block == nullptr || block->proved) continue;
    const std::uint64_t bytes = std::min<std::uint64_t>(shown_bytes, rows.row_bytes);
    for (std::uint64_t told = 0; told < shown_bytes; told += bytes) {
      const std::uint64_t place =
          random_.below(rows.rows) * rows.pitch + random_.below(rows.row_bytes - bytes + 1);
      const address at = outputs[i].at + place;
      std::array<unsigned char, shown_bytes> before{};
      std::array<unsigned char, shown_bytes> secret{};
      std::array<unsigned char, shown_bytes> shown{};
      for (auto& byte : secret) byte = static_cast<unsigned char>(random_.below(256));
      gpu_.copy_out(before.data(), at, bytes);
      gpu_.copy_in(at, secret.data(), bytes);
      const auto answer = arena.worker->show(static_cast<std::uint32_t>(i), rows.offset + place, shown);
      gpu_.copy_in(at, before.data(), bytes);
      if (answer.end != call_end::done) return answer;
      if (std::memcmp(shown.data(), secret.data(), bytes) != 0)
        return {call_end::contradiction, 0, "named memory for a result that it cannot read itself"};
    }
    block->proved = true;
  }
  arena.blocks->close_old();
  return {};
}

worker_answer engine::see_named(arena_state& arena, const call_wanted& wanted, std::size_t call,
                                std::size_t lines, std::vector<seen_line>& seen, output_places& outputs) {
  const auto& w = task_.workloads[wanted.workload];
  if (wanted.empty) {
    outputs = outputs_of_empty(w, call);
  } else if (auto wrong = find_results(arena, w, wanted.trusted, outputs); !wrong.empty()) {
    return {call_end::contradiction, 0, std::move(wrong)};
  }
  const auto first = seen.size();
  choose_lines(outputs, call, lines, seen);
  queue_lines(seen, first);
  queue_fence(outputs);
  gpu_.wait();
  collect_lines(seen, first);
  return {};
}

// A mask that is put on twice is gone.
void engine::mask_blocks(arena_state& arena) {
  const auto blocks = arena.blocks->all();
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const std::uint64_t lane = i + 1;
    gpu_.over("kevo_mask", blocks[i].bytes / 16 + 1, blocks[i].at, blocks[i].bytes, lane, arena.cover_key[0],
              arena.cover_key[1]);
  }
  gpu_.wait();
}

void engine::cover(arena_state& arena) {
  arena.cover_key = {random_(), random_()};
  arena.covered = true;
  mask_blocks(arena);
}

void engine::uncover(arena_state& arena) {
  if (!arena.covered) return;
  mask_blocks(arena);
  arena.covered = false;
}

// Only a result that lies in another order is put in order, when it is judged.
address engine::in_order(const device_output& output, const judged_output& judged) {
  if (judged.order.empty()) return judged.at;
  const auto size = element_of(output.type).size;
  if (ordered_.bytes() < output.count * size) {
    ordered_ = private_memory();
    ordered_ = private_memory(gpu_.api(), output.count * size);
  }
  constexpr std::size_t order_bytes = 2 * most_rank * sizeof(std::uint64_t);
  if (order_.bytes() == 0) order_ = private_memory(gpu_.api(), order_bytes);
  gpu_.copy_in(order_.at(), judged.order.data(), judged.order.size() * sizeof(std::uint64_t));
  gpu_.over("kevo_in_order", output.count, judged.at, ordered_.at(), order_.at(),
            static_cast<int>(judged.order.size() / 2), static_cast<int>(size), output.count);
  return ordered_.at();
}

}  // namespace kevo::cuda
