#include "fitness/cuda/device/engine.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>

#include <kevo/content_id.hpp>
#include <kevo/error.hpp>

#include "fitness/cuda/device/type_code.hpp"

namespace kevo::cuda {
namespace {

constexpr std::uint64_t guard_bytes = 4096;
constexpr std::uint64_t alignment = 256;
constexpr std::size_t secret_lines = 16;

std::uint64_t up(std::uint64_t value, std::uint64_t to) {
  return (value + to - 1) / to * to;
}

// As the device computes it.
std::uint64_t poison_word(std::uint64_t seed, std::uint64_t index) {
  std::uint64_t x = seed + index * 0x9E3779B97F4A7C15ULL;
  x ^= x >> 32U;
  x *= 0xD6E8FEB86659FD93ULL;
  return x ^ (x >> 32U);
}

}  // namespace

engine::engine(int ordinal) : gpu_(ordinal), random_(secret_seed()), found_(gpu_.api(), 64) {}

engine::arena_state& engine::at(std::uint32_t arena) {
  const auto it = arenas_.find(arena);
  if (it == arenas_.end()) throw error(error_code::internal, "there is no such arena");
  return it->second;
}
const engine::arena_state& engine::at(std::uint32_t arena) const {
  const auto it = arenas_.find(arena);
  if (it == arenas_.end()) throw error(error_code::internal, "there is no such arena");
  return it->second;
}

void engine::set_kit(const compiled_module& kit) {
  gpu_.load_kit(kit);
}

void engine::set_task(device_task t) {
  if (!gpu_.has_kit()) throw error(error_code::internal, "the trusted kernels are not loaded");
  pools_.clear();
  task_ = std::move(t);
  // Before any candidate may hold the rest of the memory.
  if (flush_.bytes() == 0)
    flush_ =
        private_memory(gpu_.api(), up(std::max<std::uint64_t>(4 * gpu_.facts().l2_bytes, 64U << 20U), 4096));
  reference_ = loaded_module();
  if (const auto failure = reference_.load(gpu_.api(), task_.reference))
    throw error(error_code::input,
                "the reference cannot be loaded: " + failure.what + " " + text_of(gpu_.api(), failure.code));
  pools_.resize(task_.workloads.size());
}

contents_made engine::make(const contents_wanted& wanted) {
  if (wanted.workload >= pools_.size()) throw error(error_code::internal, "there is no such workload");
  const auto& w = task_.workloads[wanted.workload];
  auto& pool = pools_[wanted.workload];
  const auto each = std::max<std::uint64_t>(content_bytes(w), 1);
  const auto most = std::max<std::uint64_t>(2, wanted.most_bytes / each);
  contents_made made;
  const auto fill = [&](std::vector<device_content>& list, std::uint32_t count, bool varied) {
    while (list.size() < std::min<std::uint64_t>(count, most) && made.complaint.empty()) {
      // Workloads begin with different varieties, so that a few contents of each show all of them.
      const auto kind = varied ? static_cast<variety>(1 + (2 * std::size_t{wanted.workload} + list.size()) %
                                                              (variety_count - 1))
                               : variety::plain;
      device_content one;
      made.complaint = make_content(gpu_, reference_, w, kind, random_(), one);
      if (made.complaint.empty()) list.push_back(std::move(one));
    }
  };
  fill(pool.timed, wanted.timed, false);
  fill(pool.varied, wanted.varied, true);
  made.timed = static_cast<std::uint32_t>(pool.timed.size());
  made.varied = static_cast<std::uint32_t>(pool.varied.size());
  return made;
}

std::uint32_t engine::open_arena(std::uint64_t bytes) {
  arenas_.emplace(next_arena_, arena_state{exported_memory(gpu_.api(), gpu_.device(), bytes), nullptr});
  return next_arena_++;
}

void engine::close_arena(std::uint32_t arena) {
  arenas_.erase(arena);
}

worker_answer engine::attach(std::uint32_t arena, detail::descriptor region, detail::descriptor process) {
  auto& state = at(arena);
  state.worker = std::make_unique<worker_link>(std::move(region), std::move(process));
  if (auto answer = state.worker->wait_ready(std::chrono::seconds(30)); answer.end != call_end::done)
    return answer;
  return state.worker->load(0, gpu_.kit_bytes(), std::chrono::seconds(30));
}

void engine::detach(std::uint32_t arena) {
  at(arena).worker.reset();
}

worker_answer engine::load(std::uint32_t arena, const compiled_module& candidate) {
  auto& state = at(arena);
  if (!state.worker) throw error(error_code::internal, "the arena has no worker");
  return state.worker->load(1, encode(candidate), std::chrono::seconds(30));
}

worker_answer engine::load_object(std::uint32_t arena, std::string_view object) {
  auto& state = at(arena);
  if (!state.worker) throw error(error_code::internal, "the arena has no worker");
  return state.worker->load(1, object, std::chrono::seconds(30));
}

const device_content& engine::content_of(std::uint32_t workload, std::uint32_t number) const {
  const auto& pool = pools_[workload];
  const auto& list = number >= varied_base ? pool.varied : pool.timed;
  const auto index = number >= varied_base ? number - varied_base : number;
  if (index >= list.size()) throw error(error_code::internal, "there is no such content");
  return list[index];
}

// A window of the arena at a random place, all calls in it one after the other, guards around every buffer.
std::vector<engine::layout> engine::lay_out(const arena_state& arena, const device_workload& w,
                                            const call_wanted& wanted, std::uint64_t& begin,
                                            std::uint64_t& end) {
  std::vector<std::uint64_t> sizes;
  std::vector<std::uint64_t> aligns;
  for (const auto& input : w.inputs) sizes.push_back(input.count * element_of(input.type).size);
  for (const auto& output : w.outputs) sizes.push_back(output.count * element_of(output.type).size);
  aligns.assign(sizes.size(), alignment);
  for (const auto& space : wanted.what.workspaces) {
    sizes.push_back(space.bytes);
    aligns.push_back(std::max(alignment, space.align));
  }
  std::vector<layout> places;
  std::uint64_t at = guard_bytes;
  for (std::size_t k = 0; k < wanted.contents.size(); ++k) {
    layout one;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      at = up(at + alignment * random_.below(16), aligns[i]);
      one.offsets.push_back(at);
      one.bytes.push_back(sizes[i]);
      at = up(at + sizes[i], alignment) + guard_bytes;
    }
    places.push_back(std::move(one));
  }
  const std::uint64_t window = up(at, 4096);
  const std::uint64_t size = arena.memory.bytes();
  if (window > size)
    throw error(error_code::environment, "a call needs " + std::to_string(window >> 20U) +
                                             " MiB of device memory, its arena has " +
                                             std::to_string(size >> 20U));
  begin = 4096 * random_.below((size - window) / 4096 + 1);
  end = begin + window;
  std::uint64_t largest = 4096;
  for (const auto a : aligns) largest = std::max(largest, a);
  begin = begin / largest * largest;  // keeps the alignment of workspaces
  end = begin + window;
  for (auto& one : places) {
    for (auto& offset : one.offsets) offset += begin;
  }
  return places;
}

void engine::flush_cache() {
  const std::uint64_t half = flush_.bytes() / 2;
  gpu_.over("kevo_flush_write", half / 16, flush_.at(), half / 16, ++flush_value_);
  gpu_.over("kevo_flush_read", half / 16, flush_.at() + half, half / 16, found_.at());
}

double engine::clock_mhz() {
  std::uint64_t words[2] = {0, 1};
  gpu_.over("kevo_clock", 1, found_.at(), std::uint64_t{20'000});
  gpu_.copy_out(words, found_.at(), sizeof words);
  return words[1] == 0 ? 0 : 1e3 * static_cast<double>(words[0]) / static_cast<double>(words[1]);
}

// A few secret lines of the outputs, by copies alone: a copy does not queue behind the kernels of another
// context, so what is not written yet shows.
bool engine::early(const arena_state& arena, const std::vector<layout>& places, const device_workload& w,
                   std::uint64_t seed, std::size_t count) {
  struct line {
    std::uint64_t offset;
    std::uint64_t words[4];
    std::size_t bytes;
  };
  std::vector<line> lines;
  for (std::size_t n = 0; n < count; ++n) {
    const auto& one = places[n == 0 ? places.size() - 1 : random_.below(places.size())];
    const std::size_t output = w.inputs.size() + random_.below(w.outputs.size());
    const std::uint64_t words = one.bytes[output] / 8;
    const std::uint64_t last = words > 4 ? words - 4 : 0;
    const std::uint64_t first = n < 2 ? last : random_.below(last + 1);
    // Fewer than four bytes may be like poison by chance.
    const auto bytes = words > 0 ? 8 * std::min<std::uint64_t>(words, 4) : one.bytes[output];
    if (bytes < 4) continue;
    lines.push_back({one.offsets[output] + 8 * first, {}, static_cast<std::size_t>(bytes)});
  }
  const auto& d = gpu_.api();
  for (auto& one : lines) {
    check(d, d.copy_out(one.words, arena.memory.at() + one.offset, one.bytes, gpu_.main()),
          "reading output lines");
  }
  gpu_.wait();
  return std::any_of(lines.begin(), lines.end(), [&](const line& one) {
    std::uint64_t poison[4];
    for (std::size_t i = 0; i < 4; ++i) poison[i] = poison_word(seed, one.offset / 8 + i);
    return std::memcmp(poison, one.words, one.bytes) == 0;
  });
}

void engine::verify(const arena_state& arena, const std::vector<layout>& places, const call_wanted& wanted,
                    std::uint64_t begin, std::uint64_t end, std::uint64_t seed, call_result& result) {
  const auto& w = task_.workloads[wanted.workload];
  const address base = arena.memory.at();
  const auto counter = [&] {
    std::uint64_t value = 0;
    gpu_.copy_out(&value, found_.at(), sizeof value);
    return value != 0;
  };
  gpu_.clear(found_.at(), 64);
  std::uint64_t at = begin;
  const auto guard = [&](std::uint64_t to) {
    if (to > at) gpu_.over("kevo_check_poison", (to - at) / 8 + 1, base, at, to, seed, found_.at());
  };
  for (const auto& one : places) {
    for (std::size_t i = 0; i < one.offsets.size(); ++i) {
      guard(one.offsets[i]);
      at = one.offsets[i] + one.bytes[i];
    }
  }
  guard(end);
  result.guards = counter();
  gpu_.clear(found_.at(), 64);
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto& content = content_of(wanted.workload, wanted.contents[k]);
    for (std::size_t i = 0; i < w.inputs.size(); ++i) {
      gpu_.over("kevo_differ", places[k].bytes[i] / 8 + 1, base + places[k].offsets[i],
                content.inputs[i].at(), places[k].bytes[i], found_.at());
    }
  }
  result.inputs = counter();
  for (std::size_t k = 0; k < places.size() && result.findings.empty(); ++k) {
    const auto& content = content_of(wanted.workload, wanted.contents[k]);
    for (std::size_t i = 0; i < w.outputs.size(); ++i) {
      output_finding finding;
      if (!accepted(gpu_, w.outputs[i], content, i, base + places[k].offsets[w.inputs.size() + i],
                    found_.at(), finding))
        result.findings.push_back(finding);
    }
  }
}

// By the host: outputs of any layout, and nothing new that runs on the device.
std::string engine::fingerprint(const arena_state& arena, const std::vector<layout>& places,
                                const device_workload& w) {
  content_hasher hash;
  std::string bytes;
  for (const auto& one : places) {
    for (std::size_t i = w.inputs.size(); i < w.inputs.size() + w.outputs.size(); ++i) {
      bytes.resize(one.bytes[i]);
      gpu_.copy_out(bytes.data(), arena.memory.at() + one.offsets[i], bytes.size());
      hash.text(bytes);
    }
  }
  return to_string(hash.finish());
}

call_result engine::call(const call_wanted& wanted) {
  if (wanted.interval) return interval(wanted);
  auto& arena = at(wanted.arena);
  if (!arena.worker) throw error(error_code::internal, "the arena has no worker");
  if (wanted.workload >= task_.workloads.size())
    throw error(error_code::internal, "there is no such workload");
  const auto& w = task_.workloads[wanted.workload];
  call_result result;
  if (wanted.what.inputs != w.inputs.size() || wanted.what.outputs != w.outputs.size() ||
      wanted.contents.empty() || wanted.contents.size() > most_slots)
    throw error(error_code::internal, "a plan does not fit its workload");
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  const auto places = lay_out(arena, w, wanted, begin, end);
  const auto plan_bytes = encode(wanted.what);
  for (std::size_t k = 0; k < places.size(); ++k) {
    result.answer = arena.worker->prepare(static_cast<std::uint32_t>(k), plan_bytes, places[k].offsets, false,
                                          std::chrono::seconds(20));
    if (result.answer.end != call_end::done) return result;
  }
  result.answer = arena.worker->join(static_cast<std::uint32_t>(places.size()), std::chrono::seconds(20));
  if (result.answer.end != call_end::done) return result;
  const std::uint64_t seed = random_();
  const std::uint64_t first = begin / 8;
  const std::uint64_t words = (end - begin) / 8;
  gpu_.over("kevo_poison", words, arena.memory.at() + begin, first, words, seed);
  for (std::size_t k = 0; k < places.size(); ++k) {
    const auto& content = content_of(wanted.workload, wanted.contents[k]);
    for (std::size_t i = 0; i < w.inputs.size(); ++i) {
      gpu_.copy_on(arena.memory.at() + places[k].offsets[i], content.inputs[i].at(), places[k].bytes[i]);
    }
  }
  gpu_.api().reset_persisting_l2();
  if (wanted.cold) flush_cache();
  gpu_.wait();

  const auto run = arena.worker->run(wanted.timed, std::chrono::nanoseconds(wanted.limit_ns));
  result.answer = run.answer;
  if (run.answer.end != call_end::done) return result;
  if (wanted.verify) result.early = early(arena, places, w, seed, secret_lines);
  result.outside_ns = run.outside_ns;
  result.event_ns = run.event_ns;
  result.unblocked = run.unblocked;
  if (wanted.timed) result.clock_mhz = clock_mhz();
  if (wanted.verify) verify(arena, places, wanted, begin, end, seed, result);
  if (wanted.fingerprint) result.fingerprint = fingerprint(arena, places, w);
  return result;
}

device_ceilings engine::calibrate() {
  device_ceilings found;
  const auto facts = gpu_.facts();
  const std::uint64_t bytes =
      std::min<std::uint64_t>(std::max<std::uint64_t>(2ULL << 30U, 16 * facts.l2_bytes),
                              facts.free_bytes / 4) /
      4096 * 4096;
  private_memory from(gpu_.api(), bytes);
  private_memory to(gpu_.api(), bytes);
  const auto begin = gpu_.new_event();
  const auto end = gpu_.new_event();
  gpu_.over("kevo_flush_write", bytes / 16, from.at(), bytes / 16, 12345U);
  const auto best = [&](auto&& work) {
    double least = 1e300;
    for (int i = 0; i < 12; ++i) {
      gpu_.api().event_record(begin, gpu_.main());
      work();
      gpu_.api().event_record(end, gpu_.main());
      least = std::min(least, gpu_.elapsed_ns(begin, end));
    }
    return least;
  };
  const auto items = bytes / 16;
  const double own = best([&] { gpu_.over("kevo_copy", items, to.at(), from.at(), items); });
  const double engine_copy = best([&] { gpu_.copy_on(to.at(), from.at(), bytes); });
  found.copy_bytes_per_s = 2e9 * static_cast<double>(bytes) / std::min(own, engine_copy);
  found.read_bytes_per_s = 1e9 * static_cast<double>(bytes) /
                           best([&] { gpu_.over("kevo_flush_read", items, from.at(), items, found_.at()); });
  const int rounds = 20000;
  const std::uint64_t threads = std::uint64_t{16} * 256 * static_cast<std::uint64_t>(facts.multiprocessors);
  const double ns = best([&] { gpu_.over("kevo_multiply_add", threads, to.at(), 0.999F, 0.001F, rounds); });
  found.float32_flops_per_s = 1e9 * 2.0 * 16 * rounds * static_cast<double>(threads) / ns;
  found.launch_overhead_ns = best([&] { gpu_.over("kevo_clock", 1, found_.at(), std::uint64_t{0}); });
  return found;
}

}  // namespace kevo::cuda
