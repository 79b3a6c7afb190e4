#pragma once
// All that kevo-device does, as plain functions on values: the pool of contents, the arenas of the workers,
// calls with the trusted clock, verdicts, ceilings.

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <kevo/random.hpp>

#include "fitness/cuda/device/contents.hpp"
#include "fitness/cuda/device/gpu.hpp"
#include "fitness/cuda/device/worker_link.hpp"

namespace kevo::cuda {

/// One device. Not thread-safe. @throws kevo::error (environment) where the machine fails
class engine {
 public:
  explicit engine(int ordinal);

  device_description facts() const { return gpu_.facts(); }
  void set_kit(const compiled_module& kit);
  void set_task(device_task t);
  contents_made make(const contents_wanted& wanted);

  std::uint32_t open_arena(std::uint64_t bytes);
  detail::descriptor arena_descriptor(std::uint32_t arena) const { return at(arena).memory.descriptor(); }
  std::uint64_t arena_bytes(std::uint32_t arena) const { return at(arena).memory.bytes(); }
  void close_arena(std::uint32_t arena);
  /// A worker's region and process; waits until it is ready and gives it the trusted kit.
  worker_answer attach(std::uint32_t arena, detail::descriptor region, detail::descriptor process);
  void detach(std::uint32_t arena);
  worker_answer load(std::uint32_t arena, const compiled_module& candidate);
  worker_answer load_object(std::uint32_t arena, std::string_view object);
  call_result call(const call_wanted& wanted);
  device_ceilings calibrate();

 private:
  struct arena_state {
    exported_memory memory;
    std::unique_ptr<worker_link> worker;
  };
  struct workload_pool {
    std::vector<device_content> timed;
    std::vector<device_content> varied;
  };
  // Where the buffers of one call lie in its arena.
  struct layout {
    std::vector<std::uint64_t> offsets;
    std::vector<std::uint64_t> bytes;
  };

  arena_state& at(std::uint32_t arena);
  const arena_state& at(std::uint32_t arena) const;
  const device_content& content_of(std::uint32_t workload, std::uint32_t number) const;
  std::vector<layout> lay_out(const arena_state& arena, const device_workload& w, const call_wanted& wanted,
                              std::uint64_t& begin, std::uint64_t& end);
  void flush_cache();
  void flush_cache_by_copies();
  call_result interval(const call_wanted& wanted);
  call_result run_interval(arena_state& arena, const call_wanted& wanted, std::vector<layout>& places,
                           std::uint64_t seed);
  bool early(const arena_state& arena, const std::vector<layout>& places, const device_workload& w,
             std::uint64_t seed, std::size_t count);
  /// @param begin, end the window [bytes]; @param places of the first calls that `wanted` speaks of
  void verify(const arena_state& arena, const std::vector<layout>& places, const call_wanted& wanted,
              std::uint64_t begin, std::uint64_t end, std::uint64_t seed, call_result& result);
  std::string fingerprint(const arena_state& arena, const std::vector<layout>& places,
                          const device_workload& w);
  double clock_mhz();

  gpu gpu_;
  rng random_;
  loaded_module reference_;
  device_task task_;
  std::vector<workload_pool> pools_;
  std::map<std::uint32_t, arena_state> arenas_;
  std::uint32_t next_arena_ = 1;
  private_memory found_;
  private_memory flush_;
  std::uint32_t flush_value_ = 0;
};

}  // namespace kevo::cuda
