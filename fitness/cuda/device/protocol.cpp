#include "fitness/cuda/device/protocol.hpp"

#include <algorithm>
#include <type_traits>

#include "fitness/cuda/device/type_code.hpp"
#include "fitness/cuda/wire/wire.hpp"

namespace kevo::cuda {
namespace {

// One list of members a type, for both directions: `codec` is a writer or a reader.
struct writer {
  byte_writer to;
  template <class T>
  void operator()(const T& value) {
    if constexpr (requires { value.data(); } && std::is_same_v<T, std::string>) {
      to.put(std::string_view(value));
    } else if constexpr (std::is_arithmetic_v<T> || std::is_enum_v<T>) {
      to.put(value);
    } else if constexpr (std::is_same_v<T, plan> || std::is_same_v<T, compiled_module>) {
      to.put(std::string_view(encode(value)));
    } else if constexpr (requires { value.begin(); }) {
      to.put(static_cast<std::uint64_t>(value.size()));
      for (const auto& one : value) (*this)(one);
    } else {
      members(*this, const_cast<T&>(value));
    }
  }
};
struct reader {
  byte_reader from;
  template <class T>
  void operator()(T& value) {
    if constexpr (std::is_same_v<T, std::string>) {
      value = from.get_text();
    } else if constexpr (std::is_same_v<T, call_end>) {
      value = from.get(call_end::contradiction);
    } else if constexpr (std::is_arithmetic_v<T>) {
      value = from.get<T>();
    } else if constexpr (std::is_same_v<T, plan>) {
      value = decode_plan(from.get_text());
    } else if constexpr (std::is_same_v<T, compiled_module>) {
      value = decode_module(from.get_text());
    } else if constexpr (requires { value.begin(); }) {
      value = from.get_all<typename T::value_type>(1, [this](byte_reader&) {
        typename T::value_type one{};
        (*this)(one);
        return one;
      });
    } else {
      members(*this, value);
    }
  }
};

template <class Codec>
void members(Codec& c, device_description& v) {
  c(v.name), c(v.uuid), c(v.driver), c(v.major), c(v.minor), c(v.multiprocessors), c(v.clock_khz);
  c(v.memory_clock_khz), c(v.memory_bus_bits), c(v.shared_per_block), c(v.shared_per_multiprocessor);
  c(v.registers_per_multiprocessor), c(v.threads_per_multiprocessor), c(v.blocks_per_multiprocessor);
  c(v.l2_bytes), c(v.memory_bytes), c(v.free_bytes), c(v.libraries), c(v.nodes), c(v.devices);
}
template <class Codec>
void members(Codec& c, device_ceilings& v) {
  c(v.copy_bytes_per_s), c(v.read_bytes_per_s), c(v.float32_flops_per_s), c(v.launch_overhead_ns);
}
template <class Codec>
void members(Codec& c, foreign_process& v) {
  c(v.id), c(v.name), c(v.bytes);
}
template <class Codec>
void members(Codec& c, device_users& v) {
  c(v.told), c(v.untold), c(v.foreign);
}
template <class Codec>
void members(Codec& c, device_input& v) {
  c(v.type), c(v.count), c(v.kind), c(v.a), c(v.b), c(v.law), c(v.parameter);
}
template <class Codec>
void members(Codec& c, device_output& v) {
  c(v.type), c(v.count), c(v.rule), c(v.p), c(v.q), c(v.cap), c(v.allowed_misses),
      c(v.allow_negative_infinity);
  c(v.scale), c(v.min_cosine), c(v.max_relative_l1), c(v.max_rmse), c(v.suite), c(v.cancelling),
      c(v.summands);
}
template <class Codec>
void members(Codec& c, device_workload& v) {
  c(v.inputs), c(v.outputs), c(v.scales), c(v.reference), c(v.mild);
}
template <class Codec>
void members(Codec& c, device_task& v) {
  c(v.reference), c(v.workloads);
}
template <class Codec>
void members(Codec& c, contents_wanted& v) {
  c(v.workload), c(v.timed), c(v.varied), c(v.most_bytes), c(v.reference);
}
template <class Codec>
void members(Codec& c, content_given& v) {
  c(v.workload), c(v.reference), c(v.varied), c(v.kind);
}
template <class Codec>
void members(Codec& c, contents_made& v) {
  c(v.timed), c(v.varied), c(v.complaint), c(v.remark);
}
template <class Codec>
void members(Codec& c, worker_answer& v) {
  c(v.end), c(v.code), c(v.message);
}
template <class Codec>
void members(Codec& c, call_wanted& v) {
  c(v.arena), c(v.workload), c(v.contents), c(v.timed), c(v.cold), c(v.verify), c(v.limit_ns), c(v.what),
      c(v.fingerprint), c(v.interval), c(v.held), c(v.named), c(v.busy_until_begin), c(v.idle), c(v.touch),
      c(v.hosted), c(v.trusted), c(v.empty), c(v.busy_ns), c(v.untimed), c(v.frequency_ns);
}
template <class Codec>
void members(Codec& c, output_finding& v) {
  c(v.output), c(v.wrong), c(v.total), c(v.first), c(v.worst), c(v.got), c(v.expected), c(v.factor),
      c(v.contract);
}
template <class Codec>
void members(Codec& c, call_result& v) {
  c(v.answer), c(v.outside_ns), c(v.event_ns), c(v.clock_mhz), c(v.begin_clock_mhz), c(v.unblocked),
      c(v.preempted), c(v.each_outside_ns), c(v.each_event_ns), c(v.each_call_ns), c(v.fence_ns), c(v.early),
      c(v.guards), c(v.inputs);
  c(v.findings), c(v.fingerprint), c(v.calls_ns), c(v.suite_misses), c(v.remark);
}

template <class T>
std::string encode_members(const T& value) {
  writer w;
  w(value);
  return w.to.take();
}
template <class T>
void decode_members(std::string_view bytes, T& value) {
  reader r{byte_reader(bytes)};
  r(value);
  r.from.finish();
}

}  // namespace

#define KEVO_CODEC(type)                             \
  std::string encode(const type& value) {            \
    return encode_members(value);                    \
  }                                                  \
  void decode(std::string_view bytes, type& value) { \
    decode_members(bytes, value);                    \
  }
KEVO_CODEC(device_description)
KEVO_CODEC(device_ceilings)
KEVO_CODEC(device_users)
KEVO_CODEC(device_task)
KEVO_CODEC(contents_wanted)
KEVO_CODEC(content_given)
KEVO_CODEC(contents_made)
KEVO_CODEC(worker_answer)
KEVO_CODEC(call_wanted)
KEVO_CODEC(call_result)
#undef KEVO_CODEC

std::string device_description::architecture() const {
  return "sm_" + std::to_string(10 * major + minor) + (major >= 9 ? "a" : "");
}

std::uint64_t given_bytes(const device_workload& w) {
  std::uint64_t bytes = 0;
  for (const auto& input : w.inputs) {
    if (input.kind == given_input) bytes += input.count * element_of(input.type).size;
  }
  return bytes;
}

content_room contents_in(std::uint64_t most_bytes, std::uint64_t each, std::uint32_t varied) {
  const auto most = std::min<std::uint64_t>(most_bytes / std::max<std::uint64_t>(each, 1), ~std::uint32_t{0});
  content_room room;
  room.varied = std::min(varied, static_cast<std::uint32_t>(std::max<std::uint64_t>(2, most / 3)));
  room.timed = static_cast<std::uint32_t>(
      std::max<std::uint64_t>(2, most - std::min<std::uint64_t>(most, room.varied)));
  return room;
}

std::uint64_t content_bytes(const device_workload& w) {
  std::uint64_t bytes = 0;
  for (const auto& input : w.inputs) bytes += input.count * element_of(input.type).size;
  for (const auto& output : w.outputs) bytes += 8 * output.count;
  for (const auto count : w.scales) bytes += 8 * count;
  return bytes;
}

std::string describe(const std::vector<foreign_process>& all) {
  std::string text;
  for (const auto& one : all) {
    text += (text.empty() ? "" : ", ") + one.name + " (process " + std::to_string(one.id);
    if (one.bytes > 0) text += ", " + std::to_string(one.bytes >> 20U) + " MiB";
    text += ')';
  }
  return text;
}

double device_description::peak_bytes_per_s() const {
  return 2e3 * memory_clock_khz * memory_bus_bits / 8.0;  // two transfers a clock
}

}  // namespace kevo::cuda
