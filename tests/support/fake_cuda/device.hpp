#pragma once
// The simulated device of one process: streams whose work is carried out when somebody looks, memory of the
// host, errors that stick.

#include <chrono>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "fitness/cuda/driver/types.hpp"
#include "tests/support/fake_cuda/behaviour.hpp"
#include "tests/support/fake_cuda/device_clock.hpp"
#include "tests/support/fake_cuda/image.hpp"
#include "tests/support/fake_cuda/kernels.hpp"

namespace fake_cuda {

using kevo::cuda::address;
using kevo::cuda::driver_code;

inline constexpr driver_code no_device = 100;
inline constexpr driver_code not_found = 500;
inline constexpr driver_code unknown_error = 999;

struct module_state;
struct kernel_state {
  const host_kernel* work = nullptr;
  module_state* home = nullptr;
  bool toy = false;          ///< behaves as its source says
  bool blocks = false;       ///< holds its stream until the host opens the barrier
  bool reads_clock = false;  ///< of a multiprocessor
};
struct module_state {
  behaviour how;
  std::uint64_t launches = 0;
  std::vector<float> first_result;  ///< of the process, for a stale one
  std::deque<kernel_state> kernels;
  std::vector<image_variable> variables;
  std::vector<std::byte> globals;  ///< the section of its variables
};

struct stream_state;
struct event_state {
  bool recorded = false;
  stream_state* on = nullptr;  ///< where it was recorded last
  double at_ns = 0;
};

/// One piece of work of a stream or a graph.
struct work_item {
  enum class kind { kernel, fill, copy, record, host } what = kind::kernel;
  kernel_state* kernel = nullptr;
  stored_parameters parameters;
  std::function<void()> host;  ///< of a hosted program: its kernel, as a function of the host
  double ns = 0;               ///< what that takes
  launch_shape shape;
  address target = 0;
  address source = 0;
  std::size_t bytes = 0;
  unsigned char value = 0;
  bool only_time = false;  ///< a copy that nobody looks at
  event_state* event = nullptr;
};

struct graph_state {
  std::vector<work_item> items;
};
struct stream_state {
  std::deque<work_item> waiting;
  graph_state* captures_to = nullptr;
  bool at_barrier = false;  ///< its first item holds it back
  bool lazy = false;        ///< of a hosted program: works when somebody waits for it
};

/// What lies beside the library in the file system: the device itself.
struct device_folder {
  std::string path;
  std::string id;  ///< 16 bytes
  bool lost() const;
  void lose() const;
};
const device_folder& folder();

struct device_state {
  std::uint64_t memory_bytes = std::uint64_t{17} << 30U;
  std::uint64_t used_bytes = 0;
  int clock_drop_every = 0;
  int devices = 1;              ///< that the driver shows; each but the first has a library of its own
  std::int64_t minimum_ns = 0;  ///< by its settings; workers, who cannot read those, find it in the page
  int launch_ms = 0;            ///< the same
  int clock_readings = 0;
  int rest_ms = 0;  ///< whoever has not read the clock for so long finds it at its usual rate; 0: does not
  std::chrono::steady_clock::time_point last_clock_reading;
  bool owns_memory = false;  ///< this is kevo-device: it makes the arenas
  driver_code sticky = kevo::cuda::success;
  bool hangs = false;
  bool forges = false;
  bool forges_at_times = false;
  int forged = 0;  ///< readings of its events, in which it might have forged them
  double now_ns = 0;
  device_page* page = nullptr;      ///< of the arena: exported or imported last
  std::vector<device_page*> pages;  ///< of all exported arenas
  std::vector<work_item> late;      ///< what is "done" before it was
  std::map<address, std::size_t> allocations;
  std::map<address, device_page*> arenas;  ///< mapped allocations that are shared, by their addresses
  std::vector<stream_state*> lazy;         ///< streams of a hosted program
};
device_state& device();

/// What every call begins with: the error that sticks, or that the device is lost. @param copies the call
/// copies or waits, so that an interval that is timed goes on
driver_code enter(bool copies = false);
/// kevo-device copies: time stands still from the first copy into an arena on, and a copy takes its time.
/// @return whether the target lies in an arena
bool note_copy(address target, std::size_t bytes);
/// kevo-device copies within the device: that waits for work which was said to be done, if it is from an
/// arena.
void fence_by_copy(address source);
/// Worker: whether streams of a hosted program still have work; what they have is done when kevo-device asks.
void note_outstanding();
/// Worker: starts the thread that does it.
void await_outstanding(device_page* page);
/// Puts work on a stream, or into the graph that is captured from it.
driver_code submit(stream_state& on, work_item item);
/// Carries out what can be carried out. success: nothing is left; error_not_ready: something is
driver_code advance(stream_state& stream);

}  // namespace fake_cuda
