#pragma once
// All that kevo-device does, as plain functions on values: the pool of contents, the arenas of the workers,
// calls with the trusted clock, verdicts, ceilings.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <kevo/random.hpp>

#include "fitness/cuda/device/contents.hpp"
#include "fitness/cuda/device/gpu.hpp"
#include "fitness/cuda/device/occupation.hpp"
#include "fitness/cuda/device/open_blocks.hpp"
#include "fitness/cuda/device/worker_link.hpp"
#include "fitness/cuda/wire/result_place.hpp"

namespace kevo::cuda {

/// One device. Not thread-safe. @throws kevo::error (environment) where the machine fails
class engine {
 public:
  explicit engine(int ordinal);

  device_description facts() const { return gpu_.facts(); }
  void set_trusted_kernels(const compiled_module& kernels);
  void set_task(device_task t);
  contents_made make(const contents_wanted& wanted);
  contents_made add(const content_given& given, std::span<const std::byte> inputs);

  std::uint32_t open_arena(std::uint64_t bytes);
  detail::descriptor arena_descriptor(std::uint32_t arena) const { return at(arena).memory.descriptor(); }
  std::uint64_t arena_bytes(std::uint32_t arena) const { return at(arena).memory.bytes(); }
  void close_arena(std::uint32_t arena);
  /// A worker's region and process; waits until it is ready and gives it the trusted kernels.
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
    bool clean = false;                   // no call has been made since all of it was cleared
    std::unique_ptr<open_blocks> blocks;  // of the worker, where results lie that it has named
    std::vector<result_claim> named;      // what it said of them last
    bool covered = false;                 // `cover` was called last
    std::array<std::uint64_t, 2> cover_key{};
  };
  struct workload_pool {
    std::vector<device_content> timed;
    std::vector<device_content> varied;
  };
  // Where the buffers of one call lie in its arena: inputs, outputs unless they are named, workspaces.
  struct layout {
    std::vector<std::uint64_t> offsets;
    std::vector<std::uint64_t> bytes;
  };

  // An output of one call, in this process' addresses: in the arena, or where the program has named it.
  struct output_place {
    address at = 0;  // of the first of its rows
    result_place rows;
    friend bool operator==(const output_place&, const output_place&) = default;
  };
  using output_places = std::vector<output_place>;  // of one call
  // Of a held interval, from call to call.
  struct held_state {
    int unlaunched = 0;    // calls that were not launched in time
    output_places before;  // where the results of the call before lay
  };

  // Bytes of an output, copied to the host the moment its call was said to be done.
  struct seen_line {
    std::size_t call = 0;
    std::size_t output = 0;
    std::uint64_t offset = 0;  // in what is judged [bytes]
    address from = 0;
    std::size_t bytes = 0;
    std::array<std::byte, 32> data{};
  };
  // Where the outputs of each call are judged.
  struct judged_output {
    address at = 0;
    std::vector<std::uint64_t> order;  // `result_place::order`
  };
  using judged_outputs = std::vector<std::vector<judged_output>>;

  /// What computes the expected values of a workload. @param arena of the reference's worker; 0: there is
  /// none
  /// @param remark what the worker says of how it computes
  reference_run reference_for(const device_workload& w, std::uint32_t arena, std::string& remark);
  /// Runs the module of the task's reference. @return what is wrong with it
  std::string run_compiled_reference(const device_workload& w, const std::vector<address>& buffers);
  /// The same by a worker, whose arena gets the inputs and gives the outputs.
  std::string run_reference_of(arena_state& arena, const device_workload& w,
                               const std::vector<address>& buffers, std::string& remark);
  arena_state& at(std::uint32_t arena);
  const arena_state& at(std::uint32_t arena) const;
  const device_content& content_of(std::uint32_t workload, std::uint32_t number) const;
  std::vector<layout> lay_out(const arena_state& arena, const device_workload& w, const call_wanted& wanted,
                              std::uint64_t& begin, std::uint64_t& end);
  /// Fills the calls of a window: poison, contents, and their keys over the inputs where calls are admitted.
  void fill(arena_state& arena, const call_wanted& wanted, const std::vector<layout>& places,
            std::uint64_t begin, std::uint64_t end, std::uint64_t seed,
            const std::vector<std::array<std::uint64_t, 2>>& keys);
  call_result run_together(arena_state& arena, const call_wanted& wanted, const std::vector<layout>& places,
                           std::vector<seen_line>& seen);
  call_result run_admitted(arena_state& arena, const call_wanted& wanted, const std::vector<layout>& places,
                           const std::vector<std::array<std::uint64_t, 2>>& keys,
                           std::vector<seen_line>& seen);
  void flush_cache();
  void flush_cache_by_copies();
  /// Computes for so long: the clock of a device that rests falls, and takes milliseconds to rise.
  void keep_busy(std::chrono::nanoseconds time);
  /// How long it computes before an interval: less where the device has hardly rested.
  std::chrono::nanoseconds busy_before(const call_wanted& wanted) const;
  call_result interval(const call_wanted& wanted);
  /// The inputs of a call, by copies, behind which a cold cache is cleared.
  void bring_inputs(const arena_state& arena, const call_wanted& wanted, const layout& place,
                    std::uint32_t content);
  /// A call that is launched before its clock runs, `places[k]` of an interval. @param kept where its outputs
  /// go, and in which order, if they are to be kept @param ns its time
  worker_answer held_call(arena_state& arena, const call_wanted& wanted, const std::vector<layout>& places,
                          std::size_t k, held_state& state, std::vector<seen_line>& seen,
                          std::vector<judged_output>* kept, double& ns);
  call_result run_held_interval(arena_state& arena, const call_wanted& wanted, std::vector<layout>& places,
                                std::vector<seen_line>& seen, judged_outputs& judged);
  call_result run_interval(arena_state& arena, const call_wanted& wanted, std::vector<layout>& places,
                           std::vector<seen_line>& seen, judged_outputs& judged);
  /// Copies `count` secret lines of the outputs of one call to the host, by copies alone: a copy to the host
  /// does not queue behind the kernels of another context, so what is not written yet shows.
  void see_lines(const output_places& outputs, std::size_t call, std::size_t count,
                 std::vector<seen_line>& seen);
  /// Its parts: which lines, the copies, and what has arrived. @param first of those in `seen`
  void choose_lines(const output_places& outputs, std::size_t call, std::size_t count,
                    std::vector<seen_line>& seen);
  void queue_lines(const std::vector<seen_line>& seen, std::size_t first);
  void collect_lines(std::vector<seen_line>& seen, std::size_t first) const;
  /// Whether what was seen is not what is judged.
  bool changed(const std::vector<seen_line>& seen, const judged_outputs& judged);
  /// Queues the copy within the device that ends a fence.
  void queue_fence(address from, std::uint64_t bytes);
  void queue_fence(const output_places& outputs);
  /// Waits for all work on the device, by a copy within it, which queues behind the kernels of other
  /// contexts: work that goes on behind a "done" is in the time that this takes. @return [ns]
  double fence(const arena_state& arena, const layout& last);
  /// Copies of the outputs of a call to where no candidate can reach them. @param kept where that is
  void queue_outputs(const output_places& outputs, std::vector<judged_output>& kept);
  /// @param calls so many calls, of each of which the outputs are kept
  void make_room_to_keep(const device_workload& w, std::size_t calls);
  /// Where the outputs of a call are kept.
  std::vector<judged_output> kept_of(const device_workload& w, std::size_t call) const;
  /// A fence, and right behind it copies of the outputs of a call to where no candidate can reach them.
  double fence_and_keep(const output_places& outputs, std::vector<judged_output>& kept);
  output_places outputs_in(const arena_state& arena, const layout& place, const device_workload& w) const;
  judged_outputs outputs_of(const arena_state& arena, const std::vector<layout>& places,
                            const device_workload& w) const;
  /// @param begin, end the window [bytes]; @param places of the first calls that `wanted` speaks of
  void verify(const arena_state& arena, const std::vector<layout>& places, const call_wanted& wanted,
              std::uint64_t begin, std::uint64_t end, std::uint64_t seed, const judged_outputs& judged,
              call_result& result);
  std::string fingerprint(const device_workload& w, const judged_outputs& judged);

  // Of programs that name the place of their results (named_results.cpp).
  /// What the worker has named for its last call, checked and open. @param trusted that of a baseline, so
  /// that memory that cannot be opened is the machine's fault @return what is wrong with it
  std::string find_results(arena_state& arena, const device_workload& w, bool trusted, output_places& found);
  /// Reads a few bytes of each, which takes longer the first time.
  void touch(const output_places& outputs);
  /// Where the empty program's outputs would lie.
  output_places outputs_of_empty(const device_workload& w, std::size_t call) const;
  /// Whether the worker can read the blocks that its last call was the first to name: it may have named
  /// memory of somebody else.
  worker_answer prove_blocks(arena_state& arena, const output_places& outputs);
  /// Makes the open blocks of a baseline's worker unreadable for everybody until `uncover`. Their results are
  /// those of contents that candidates get, too, and other processes can open them.
  void cover(arena_state& arena);
  void uncover(arena_state& arena);
  void mask_blocks(arena_state& arena);
  /// An output in the order of its shape.
  address in_order(const device_output& output, const judged_output& judged);
  /// A call of an interval that is not held, whose results are named: what happens at its end.
  worker_answer see_named(arena_state& arena, const call_wanted& wanted, std::size_t call, std::size_t lines,
                          std::vector<seen_line>& seen, output_places& outputs);
  double clock_mhz(std::uint64_t ns = 20'000);
  double clock_before(const call_wanted& wanted);

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
  private_memory fence_;
  pinned_memory lines_;  // where output lines arrive: copies to other memory of the host are slow
  event fenced_ = nullptr;
  event began_ = nullptr;  // of a held call
  event ended_ = nullptr;
  std::chrono::steady_clock::time_point worked_until_{};  // for an interval
  stream aside_ = nullptr;  // where the main stream waits for what does not come
  occupation occupation_;   // before a held call begins
  private_memory kept_;     // outputs of calls of an interval
  private_memory ordered_;  // one output in the order of its shape
  private_memory order_;    // what that order is
};

}  // namespace kevo::cuda
