#include "fitness/cuda/wire/plan.hpp"

#include "fitness/cuda/wire/wire.hpp"

namespace kevo::cuda {
namespace {

constexpr std::uint32_t plan_format = 1;

template <class T, std::size_t N>
void put_array(byte_writer& to, const std::array<T, N>& values) {
  for (const auto value : values) to.put(value);
}
template <class T, std::size_t N>
std::array<T, N> get_array(byte_reader& from) {
  std::array<T, N> values{};
  for (auto& value : values) value = from.get<T>();
  return values;
}

void put_tensor_map(byte_writer& to, const tensor_map& map) {
  to.put(map.buffer).put(map.byte_offset).put(map.dtype);
  to.put_all(map.dims).put_all(map.strides).put_all(map.box).put_all(map.element_strides);
  to.put(map.interleave).put(map.swizzle).put(map.l2_promotion).put(map.oob_fill);
}
tensor_map get_tensor_map(byte_reader& from) {
  tensor_map map;
  map.buffer = from.get<std::uint32_t>();
  map.byte_offset = from.get<std::uint64_t>();
  map.dtype = from.get(tensor_map_dtype::bfloat16);
  map.dims = from.get_all<std::uint64_t>();
  map.strides = from.get_all<std::uint64_t>();
  map.box = from.get_all<std::uint32_t>();
  map.element_strides = from.get_all<std::uint32_t>();
  map.interleave = from.get(tensor_map_interleave::bytes_32);
  map.swizzle = from.get(tensor_map_swizzle::bytes_128);
  map.l2_promotion = from.get(tensor_map_l2_promotion::bytes_256);
  map.oob_fill = from.get(tensor_map_oob_fill::nan);
  return map;
}

void put_argument(byte_writer& to, const launch_argument& argument) {
  to.put(static_cast<std::uint8_t>(argument.index()));
  if (const auto* buffer = std::get_if<buffer_argument>(&argument)) {
    to.put(buffer->buffer).put(buffer->byte_offset);
  } else if (const auto* scalar = std::get_if<scalar_argument>(&argument)) {
    put_array(to, scalar->bytes);
    to.put(scalar->size);
  } else if (const auto* map = std::get_if<tensor_map_argument>(&argument)) {
    to.put(map->index);
  }
}
launch_argument get_argument(byte_reader& from) {
  switch (from.get<std::uint8_t>()) {
    case 0: {
      const auto buffer = from.get<std::uint32_t>();
      return buffer_argument{buffer, from.get<std::uint64_t>()};
    }
    case 1: {
      const auto bytes = get_array<std::uint8_t, 16>(from);
      const auto size = from.get<std::uint32_t>();
      if (size == 0 || size > bytes.size()) byte_reader::fail("a scalar of no known size");
      return scalar_argument{bytes, size};
    }
    case 2:
      return tensor_map_argument{from.get<std::uint32_t>()};
    case 3:
      return null_argument{};
    default:
      byte_reader::fail("an argument of an unknown kind");
  }
}

void put_step(byte_writer& to, const plan_step& step) {
  to.put(static_cast<std::uint8_t>(step.index()));
  if (const auto* set = std::get_if<memory_set>(&step)) {
    to.put(set->buffer).put(set->byte_offset).put(set->value).put(set->bytes);
    return;
  }
  const auto& launch = std::get<kernel_launch>(step);
  to.put(launch.kernel);
  put_array(to, launch.grid);
  put_array(to, launch.block);
  to.put(launch.dynamic_shared_bytes);
  put_array(to, launch.cluster);
  to.put(launch.cooperative).put(launch.programmatic);
  to.put(launch.carveout.has_value()).put(launch.carveout.value_or(0));
  to.put_all(launch.arguments, put_argument);
}
plan_step get_step(byte_reader& from) {
  const auto kind = from.get<std::uint8_t>();
  if (kind > 1) byte_reader::fail("a step of an unknown kind");
  if (kind == 1) {
    memory_set set;
    set.buffer = from.get<std::uint32_t>();
    set.byte_offset = from.get<std::uint64_t>();
    set.value = from.get<std::uint8_t>();
    set.bytes = from.get<std::uint64_t>();
    return set;
  }
  kernel_launch launch;
  launch.kernel = from.get<std::uint32_t>();
  launch.grid = get_array<std::uint32_t, 3>(from);
  launch.block = get_array<std::uint32_t, 3>(from);
  launch.dynamic_shared_bytes = from.get<std::uint32_t>();
  launch.cluster = get_array<std::uint32_t, 3>(from);
  launch.cooperative = from.get<bool>();
  launch.programmatic = from.get<bool>();
  const bool carved = from.get<bool>();
  const auto carveout = from.get<std::uint32_t>();
  if (carved) launch.carveout = carveout;
  launch.arguments = from.get_all<launch_argument>(1, get_argument);
  return launch;
}

}  // namespace

std::string encode(const plan& p) {
  byte_writer to;
  to.put(plan_format).put(p.inputs).put(p.outputs);
  to.put_all(p.workspaces, [](byte_writer& w, const workspace& space) {
    w.put(space.name).put(space.dtype).put(space.bytes).put(space.align);
  });
  to.put_all(p.tensor_maps, put_tensor_map);
  to.put_all(p.steps, put_step);
  return to.take();
}

plan decode_plan(std::string_view bytes) {
  byte_reader from(bytes);
  if (from.get<std::uint32_t>() != plan_format) byte_reader::fail("a plan of another format");
  plan p;
  p.inputs = from.get<std::uint32_t>();
  p.outputs = from.get<std::uint32_t>();
  p.workspaces = from.get_all<workspace>(32, [](byte_reader& r) {
    workspace space;
    space.name = r.get_text();
    space.dtype = r.get_text();
    space.bytes = r.get<std::uint64_t>();
    space.align = r.get<std::uint64_t>();
    return space;
  });
  p.tensor_maps = from.get_all<tensor_map>(60, get_tensor_map);
  p.steps = from.get_all<plan_step>(21, get_step);
  from.finish();
  return p;
}

}  // namespace kevo::cuda
