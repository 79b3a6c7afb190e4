#pragma once
// What kevo asks of kevo-device and what it answers: messages over a local socket, some with descriptors.
// kevo-device is trusted; the messages are checked all the same, so that a mismatch of versions is an error
// and no surprise.

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "fitness/cuda/wire/module.hpp"
#include "fitness/cuda/wire/plan.hpp"

namespace kevo::cuda {

inline constexpr std::uint32_t device_protocol = 13;

enum class device_request : std::uint32_t {
  hello,                ///< -> device_description, or an error that says what is missing
  set_trusted_kernels,  ///< compiled_module of the trusted kernels
  set_task,             ///< device_task
  make,                 ///< contents_wanted -> how many contents of that workload there are
  add,                  ///< content_given, with the descriptor of a file of its inputs -> the same
  open_arena,           ///< bytes -> arena number, with a descriptor
  attach,       ///< arena number, with the descriptors of the shared region and of the process -> nothing
  detach,       ///< arena number
  load,         ///< arena number, compiled_module -> worker_answer
  load_object,  ///< arena number, bytes of a hosted object (none: the empty program) -> worker_answer
  call,         ///< call_wanted -> call_result
  calibrate,    ///< nothing -> device_ceilings
  users,        ///< nothing -> device_users
  close_arena,  ///< arena number, of which no worker has anything mapped any more
};
inline constexpr auto last_device_request = device_request::close_arena;

/// What is known of the device.
struct device_description {
  std::string name;
  std::string uuid;
  std::int32_t driver = 0;  ///< 13000 for 13.0
  std::int32_t major = 0;   ///< compute capability
  std::int32_t minor = 0;
  std::int32_t multiprocessors = 0;
  std::int32_t clock_khz = 0;
  std::int32_t memory_clock_khz = 0;
  std::int32_t memory_bus_bits = 0;
  std::int32_t shared_per_block = 0;           ///< [bytes] opted in
  std::int32_t shared_per_multiprocessor = 0;  ///< [bytes]
  std::int32_t registers_per_multiprocessor = 0;
  std::int32_t threads_per_multiprocessor = 0;
  std::int32_t blocks_per_multiprocessor = 0;
  std::uint64_t l2_bytes = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t free_bytes = 0;
  std::vector<std::string> libraries;  ///< the driver's, under every name they are found by
  std::vector<std::string> nodes;      ///< device nodes that a context needs
  std::int32_t devices = 0;            ///< number of devices that the driver shows

  /// "sm_90a": the architecture that candidates are compiled for.
  std::string architecture() const;
  /// Datasheet bandwidth of the memory. [bytes/s] 0 if unknown
  double peak_bytes_per_s() const;
};

/// Ceilings, measured.
struct device_ceilings {
  double copy_bytes_per_s = 0;  ///< read and written together
  double read_bytes_per_s = 0;
  double float32_flops_per_s = 0;  ///< fused multiply-adds, two operations each
  double launch_overhead_ns = 0;   ///< of an empty graph by events
};

/// A process that is not kevo's and has a compute context on the device.
struct foreign_process {
  std::int64_t id = 0;
  std::string name;
  std::uint64_t bytes = 0;  ///< of device memory; 0 if unknown
};

/// Who computes on the device besides kevo.
struct device_users {
  bool told = false;   ///< false: nothing is known, and `untold` says why
  std::string untold;  ///< what cannot be told here, a sentence; empty if everything can
  std::vector<foreign_process> foreign;
};

/// "python (process 4711, 3120 MiB), ...".
std::string describe(const std::vector<foreign_process>& all);

/// `device_input::kind` of an input whose elements come with each content (content_given).
inline constexpr std::string_view given_input = "given";

/// An input that is drawn at random.
struct device_input {
  std::int32_t type = 0;  ///< see type_code
  std::uint64_t count = 0;
  std::string kind = "normal";
  double a = 0;
  double b = 1;
  std::string law;  ///< of "offsets": how the lengths of rows are distributed
  double parameter = 0;
};

/// An output and when it is accepted.
struct device_output {
  std::int32_t type = 0;
  std::uint64_t count = 0;
  std::int32_t rule = 0;  ///< 0 exact, 1 bounds, 2 accumulation
  double p = 0;           ///< bounds: atol; accumulation: factor * u * sqrt(length)
  double q = 0;           ///< bounds: rtol; accumulation: length times the smallest subnormal
  double cap = -1;
  std::uint64_t allowed_misses = 0;
  bool allow_negative_infinity = false;
  std::int32_t scale = -1;  ///< of the scale tensors; -1: |expected|
  // Of the whole output; a part that is not demanded is infinitely wide.
  double min_cosine = -std::numeric_limits<double>::infinity();
  double max_relative_l1 = std::numeric_limits<double>::infinity();
  double max_rmse = std::numeric_limits<double>::infinity();
  double suite = -1;  ///< KernelBench's tolerance, by which results are compared, too; negative: they are not
  double cancelling = 0;  ///< accumulation: in place of p for sums that cancel (see sum_bound)
  double summands = 1;    ///< accumulation: length
};

struct device_workload {
  std::vector<device_input> inputs;
  std::vector<device_output> outputs;
  std::vector<std::uint64_t> scales;  ///< elements of each scale tensor
  plan reference;                     ///< buffers: inputs, outputs as 64-bit elements, scale tensors
  bool mild = false;                  ///< varieties stay close to the task's own distribution
};

/// Of the inputs that come with each content. [bytes]
/// @throws kevo::error (internal) for a type that there is not
std::uint64_t given_bytes(const device_workload& w);

/// Device memory of one content: the inputs, what is expected, its scales. [bytes]
/// @throws kevo::error (internal) for a type that there is not
std::uint64_t content_bytes(const device_workload& w);

struct device_task {
  compiled_module reference;
  std::vector<device_workload> workloads;
};

/// Contents to be made, if they are not there yet.
struct contents_wanted {
  std::uint32_t workload = 0;
  std::uint32_t timed = 0;       ///< of the task's own distribution
  std::uint32_t varied = 0;      ///< of other distributions
  std::uint64_t most_bytes = 0;  ///< of all contents of this workload together, see `contents_in`
  /// The arena of a worker that computes what is expected; 0: the module of the task does.
  std::uint32_t reference = 0;
};

/// How many contents of `each` bytes have room in `most_bytes`: up to a third of them of other distributions,
/// at most `varied`, and the rest to be timed. Two of either kind are wanted whatever they need.
struct content_room {
  std::uint32_t timed = 2;
  std::uint32_t varied = 2;
};
content_room contents_in(std::uint64_t most_bytes, std::uint64_t each, std::uint32_t varied);

/// One content to be made, of whose inputs some were drawn by kevo: those of the kind `given_input`.
struct content_given {
  std::uint32_t workload = 0;
  std::uint32_t reference = 0;  ///< as in contents_wanted
  bool varied = false;          ///< one to check with, else one to time with
  std::uint32_t kind = 0;       ///< variety of the inputs that are drawn on the device
};

struct contents_made {
  std::uint32_t timed = 0;
  std::uint32_t varied = 0;
  std::string complaint;  ///< what is wrong with the reference; empty if nothing is
  std::string remark;     ///< what a reference's worker says of how it computes
};

/// How the worker ended a request.
enum class call_end : std::uint32_t {
  done,
  refused,        ///< the driver did not take it
  failed,         ///< it failed on the device; the worker's context is dead
  died,           ///< the worker's process has ended
  timed_out,      ///< and must be killed
  contradiction,  ///< claims that cannot be true
};

struct worker_answer {
  call_end end = call_end::done;
  std::int32_t code = 0;
  std::string message;  ///< untrusted text
};

/// Calls of one plan, each of another content, as one measurement.
struct call_wanted {
  std::uint32_t arena = 0;
  std::uint32_t workload = 0;
  std::vector<std::uint32_t> contents;  ///< numbers below `timed`, or `varied_base` + number of a varied one
  bool timed = true;                    ///< held back until the clock runs
  bool cold = false;                    ///< the cache holds nothing of the call (one content only)
  bool verify = true;
  std::uint64_t limit_ns = 0;  ///< of all calls together
  plan what;
  bool fingerprint = false;  ///< of the bits of all outputs
  bool interval = false;  ///< one by one, by the trusted clock alone, from before the first to after the last
  /// Of a hosted interval: host code launches its work before the clock runs; the inputs and the leave to
  /// begin come then.
  bool held = false;
  /// Of an interval of a task in Python: the program has its results where it likes and names the place. The
  /// arena holds inputs alone.
  bool named = false;
  /// Of held calls: the device is busy with a trusted kernel until the clock of a call runs, so that what a
  /// program does there before falls on the clock.
  bool busy_until_begin = false;
  /// Of an interval: the program is not called; what remains is what every call takes around a program.
  bool idle = false;
  /// Of calls that are not held: right before each, the device changes to the context of the worker, so that
  /// the call does not take that time. Of held ones: the worker does so although the device is busy.
  bool touch = false;
  bool hosted = false;   ///< an interval of a hosted program, which learns of each place when its call begins
  bool trusted = false;  ///< the program of a baseline, which leaves nothing behind on purpose
  bool empty = false;    ///< an interval of the trusted empty program: its outputs stay poisoned
  /// Of an interval: for so long the device works before, so that its clock is that of a busy one.
  std::uint64_t busy_ns = 0;
  std::uint32_t untimed = 0;  ///< of an interval: so many of its calls come before the clock runs
  /// For so long the clock frequency of a multiprocessor is measured right before the calls; 0: it is not.
  std::uint64_t frequency_ns = 0;
};
inline constexpr std::uint32_t varied_base = 1U << 16U;

/// What one output of the first call that is not right showed.
struct output_finding {
  std::uint32_t output = 0;
  std::uint64_t wrong = 0;
  std::uint64_t total = 0;
  std::uint64_t first = 0;
  std::uint64_t worst = 0;
  double got = 0;
  double expected = 0;
  double factor = 0;
  std::string contract;  ///< what of the contract is broken, if all elements are accepted
};

struct call_result {
  worker_answer answer;
  double outside_ns = 0;       ///< by the trusted clock, from release to done
  double event_ns = 0;         ///< by the worker's events: a claim
  double clock_mhz = 0;        ///< of a multiprocessor, right after
  double begin_clock_mhz = 0;  ///< the same right before, if `call_wanted::frequency_ns`
  bool unblocked = false;      ///< calls began before they were released
  bool preempted = false;      ///< the trusted thread lost its processor, so that its clock was late
  /// Of admitted calls, and of the timed ones of an interval (with what lies between them), one by one, by
  /// the trusted clock.
  std::vector<double> each_outside_ns;
  std::vector<double> each_event_ns;  ///< the same by the worker's events: claims
  std::vector<double> each_call_ns;   ///< of an interval of calls that are not held: from request to "done"
  double fence_ns = 0;                ///< until all work on the device had ended, after "done" was seen
  bool early = false;                 ///< an output line was not yet what it is, when done was seen
  bool guards = false;                ///< something outside of every buffer was written
  bool inputs = false;                ///< an input was changed
  std::vector<output_finding> findings;  ///< outputs that are not accepted
  std::string fingerprint;               ///< equal for equal bits; empty unless asked for
  double calls_ns = 0;  ///< of an interval: between request and "done" alone, all timed calls together
  std::int64_t suite_misses = -1;  ///< elements that KernelBench's rule refuses; negative: not compared
  std::string remark;  ///< of a hosted interval: what the worker said at its last "done". Untrusted text
};

std::string encode(const device_description& value);
std::string encode(const device_ceilings& value);
std::string encode(const device_users& value);
std::string encode(const device_task& value);
std::string encode(const contents_wanted& value);
std::string encode(const content_given& value);
std::string encode(const contents_made& value);
std::string encode(const worker_answer& value);
std::string encode(const call_wanted& value);
std::string encode(const call_result& value);
/// The inverses. @throws kevo::error (internal) unless `bytes` are exactly what `encode` makes
void decode(std::string_view bytes, device_description& value);
void decode(std::string_view bytes, device_ceilings& value);
void decode(std::string_view bytes, device_users& value);
void decode(std::string_view bytes, device_task& value);
void decode(std::string_view bytes, contents_wanted& value);
void decode(std::string_view bytes, content_given& value);
void decode(std::string_view bytes, contents_made& value);
void decode(std::string_view bytes, worker_answer& value);
void decode(std::string_view bytes, call_wanted& value);
void decode(std::string_view bytes, call_result& value);

}  // namespace kevo::cuda
