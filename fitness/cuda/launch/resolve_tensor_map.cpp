#include <algorithm>
#include <array>

#include <fmt/format.h>

#include <kevo/detail/nearest.hpp>

#include "fitness/cuda/launch/resolve_parts.hpp"

namespace kevo::cuda::detail {
namespace {

std::optional<tensor_map_dtype> map_dtype(std::string_view name) {
  struct entry {
    std::string_view name;
    tensor_map_dtype type;
  };
  // Types that the engine does not know move as unsigned integers of their width.
  static constexpr std::array<entry, 13> entries = {{{"float64", tensor_map_dtype::float64},
                                                     {"float32", tensor_map_dtype::float32},
                                                     {"float16", tensor_map_dtype::float16},
                                                     {"bfloat16", tensor_map_dtype::bfloat16},
                                                     {"int64", tensor_map_dtype::int64},
                                                     {"int32", tensor_map_dtype::int32},
                                                     {"int16", tensor_map_dtype::uint16},
                                                     {"int8", tensor_map_dtype::uint8},
                                                     {"uint64", tensor_map_dtype::uint64},
                                                     {"uint32", tensor_map_dtype::uint32},
                                                     {"uint16", tensor_map_dtype::uint16},
                                                     {"uint8", tensor_map_dtype::uint8},
                                                     {"bool", tensor_map_dtype::uint8}}};
  for (const auto& e : entries) {
    if (e.name == name) return e.type;
  }
  return std::nullopt;
}

/// A mode: one of some words or byte counts, in the order of the driver's enumerators.
template <class Mode>
Mode mode_of(const std::optional<mode_line>& line, std::initializer_list<std::string_view> words,
             const environment& names, const std::string& what, const error_place& statement) {
  if (!line) return Mode{};
  std::string text;
  error_place place = statement;
  if (const auto* word = std::get_if<placed_name>(&*line)) {
    text = word->text;
    place = word->place;
  } else {
    const auto value = names.value(std::get<expression>(*line));
    text = value == 0 ? std::string(*words.begin()) : std::to_string(value) + "B";
  }
  std::uint32_t index = 0;
  for (const auto word : words) {
    if (word == text) return static_cast<Mode>(index);
    ++index;
  }
  throw error(error_code::input, fmt::format("unknown {} '{}'", what, kevo::detail::shown(text)), place,
              kevo::detail::hint_for(text, words, "known"));
}

}  // namespace

// The limits are those that the driver's reference states for cuTensorMapEncodeTiled.
tensor_map resolve_tensor_map(const tensor_map_line& line, const statement_line& statement,
                              const scope& known) {
  const environment& names = *known.names;
  const auto fail = [&](const std::string& message, const std::string& hint = {}) {
    throw error(error_code::input, "tensor map '" + line.id.text + "': " + message, line.id.place, hint);
  };
  const known_buffer& buffer = known.buffer(line.buffer);
  tensor_map map;
  map.buffer = buffer.index;
  map.byte_offset = known.byte_offset(buffer, line.offset, nullptr, line.buffer.place);
  map.dtype = map_dtype(buffer.type.name).value_or(tensor_map_dtype::uint8);
  map.swizzle = mode_of<tensor_map_swizzle>(line.swizzle, {"none", "32B", "64B", "128B"}, names, "swizzle",
                                            statement.place);
  map.interleave = mode_of<tensor_map_interleave>(line.interleave, {"none", "16B", "32B"}, names,
                                                  "interleave", statement.place);
  map.l2_promotion = mode_of<tensor_map_l2_promotion>(line.l2_promotion, {"none", "64B", "128B", "256B"},
                                                      names, "l2 promotion", statement.place);
  map.oob_fill =
      mode_of<tensor_map_oob_fill>(line.oob_fill, {"zero", "nan"}, names, "oob fill", statement.place);
  const auto in_range = [&](const expression& e, std::int64_t least, std::int64_t most,
                            const std::string& what) {
    const auto value = names.value(e);
    if (value < least || value > most)
      fail(fmt::format("{} is {}, but must be {} to {}", what, value, least, most));
    return static_cast<std::uint64_t>(value);
  };
  const auto element = static_cast<std::uint64_t>(buffer.type.size);
  for (const auto& e : line.dims) map.dims.push_back(in_range(e, 1, std::int64_t{1} << 32, "an extent"));
  for (const auto& e : line.strides)
    map.strides.push_back(in_range(e, 1, (std::int64_t{1} << 40) - 1, "a stride"));
  for (const auto& e : line.box)
    map.box.push_back(static_cast<std::uint32_t>(in_range(e, 1, 256, "an extent of the box")));
  for (const auto& e : line.element_strides)
    map.element_strides.push_back(static_cast<std::uint32_t>(in_range(e, 1, 8, "an element stride")));
  if (map.element_strides.empty()) map.element_strides.assign(map.dims.size(), 1);

  const bool wide = map.interleave == tensor_map_interleave::bytes_32;
  const std::uint64_t unit = wide ? 32 : 16;
  if (map.byte_offset % unit != 0) fail(fmt::format("its start must be aligned to {} bytes", unit));
  for (const auto stride : map.strides) {
    if (stride % unit != 0)
      fail(fmt::format("a stride of {} bytes is not a multiple of {}", stride, unit),
           "restrict the line to extents that allow it: when K % 8 == 0: ...");
  }
  if (map.interleave != tensor_map_interleave::none && map.dims.size() < 3)
    fail("interleaving needs three dimensions or more");
  const std::uint64_t inner = map.box.front() * element;
  if (map.interleave == tensor_map_interleave::none && inner % 16 != 0)
    fail(fmt::format("the innermost extent of the box is {} bytes, which is not a multiple of 16", inner));
  const std::array<std::uint64_t, 4> spans = {0, 32, 64, 128};
  const auto span = spans.at(static_cast<std::size_t>(map.swizzle));
  if (span > 0 && inner > span)
    fail(fmt::format("the innermost extent of the box is {} bytes, more than the {} of its swizzle mode",
                     inner, span));
  if (map.oob_fill == tensor_map_oob_fill::nan && buffer.type.kind != dtype_kind::real)
    fail("only real numbers can be filled with nan");

  // The last element that the map can reach must lie in the buffer.
  std::uint64_t last = map.dims.front() * element;
  for (std::size_t i = 1; i < map.dims.size(); ++i) {
    std::uint64_t step = 0;
    if (__builtin_mul_overflow(map.dims[i] - 1, map.strides[i - 1], &step) ||
        __builtin_add_overflow(last, step, &last))
      fail("it is larger than the address space");
  }
  if (last > buffer.bytes() - map.byte_offset)
    fail(fmt::format("it covers {} bytes, but only {} bytes of '{}' follow its start", last,
                     buffer.bytes() - map.byte_offset, line.buffer.text));
  return map;
}

}  // namespace kevo::cuda::detail
