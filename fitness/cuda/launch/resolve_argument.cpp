#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <string_view>

#include <fmt/format.h>

#include <kevo/detail/nearest.hpp>

#include "fitness/cuda/launch/resolve_parts.hpp"
#include "fitness/oracle/element_type.hpp"

namespace kevo::cuda::detail {
namespace {

enum class parameter_kind { unknown, pointer, real, integer, other };

/// What the compiler's spelling of a type says.
parameter_kind kind_of(std::string_view type) {
  if (type.empty()) return parameter_kind::unknown;
  if (type.ends_with('*')) return parameter_kind::pointer;
  for (const std::string_view real : {"float", "double", "__half", "__nv_bfloat16"}) {
    if (type == real) return parameter_kind::real;
  }
  for (const std::string_view integer :
       {"int", "unsigned int", "long", "unsigned long", "long long", "unsigned long long", "short",
        "unsigned short", "char", "signed char", "unsigned char", "bool"}) {
    if (type == integer) return parameter_kind::integer;
  }
  return parameter_kind::other;
}

bool is_unsigned(std::string_view type) {
  return type.starts_with("unsigned") || type == "bool";
}

struct argument_context {
  const argument_line& line;
  const kernel_parameter& parameter;
  std::size_t number;
  parameter_kind kind;

  [[noreturn]] void fail(const std::string& what, const std::string& hint = {}) const {
    throw error(error_code::input,
                fmt::format("argument {} ('{}'): {}", number, kevo::detail::shown(line.text, 40), what),
                line.place, hint);
  }
  std::string wanted() const {
    return parameter.type.empty() ? fmt::format("{} bytes", parameter.size)
                                  : fmt::format("{} ({} bytes)", parameter.type, parameter.size);
  }
  void need_pointer(const std::string& what) const {
    if (parameter.size == 8 && (kind == parameter_kind::unknown || kind == parameter_kind::pointer)) return;
    fail(what + ", but the kernel parameter is " + wanted());
  }
};

scalar_argument real_bytes(const argument_context& c, const element_type& type, double value) {
  std::array<std::byte, 8> bytes{};
  if (std::fabs(value) > type.largest) c.fail(fmt::format("{} does not fit in {}", value, type.name));
  store_values(type, std::span<const double>(&value, 1), bytes.data());
  scalar_argument scalar;
  scalar.size = static_cast<std::uint32_t>(type.size);
  std::memcpy(scalar.bytes.data(), bytes.data(), type.size);
  return scalar;
}

scalar_argument integer_bytes(const argument_context& c, std::int64_t value, std::uint32_t size,
                              bool allow_signed, bool allow_unsigned) {
  if (size != 1 && size != 2 && size != 4 && size != 8) {
    c.fail("got an integer, but the kernel parameter is " + c.wanted(),
           size == 128 ? "a parameter of 128 bytes is a tensor map: declare one with 'tensormap'" : "");
  }
  const auto bits = static_cast<int>(size) * 8;
  bool fits = size == 8 && (allow_signed || value >= 0);
  if (size < 8) {
    const std::int64_t half = std::int64_t{1} << (bits - 1);
    fits = (allow_signed && value >= -half && value < half) ||
           (allow_unsigned && value >= 0 && value < 2 * half);
  }
  if (!fits) c.fail(fmt::format("{} does not fit in the kernel parameter, which is {}", value, c.wanted()));
  scalar_argument scalar;
  scalar.size = size;
  std::memcpy(scalar.bytes.data(), &value, size);  // little endian, as the device
  return scalar;
}

launch_argument typed(const argument_context& c, const typed_argument& argument, const scope& known,
                      const loop_index* index) {
  if (argument.type.size != c.parameter.size) {
    c.fail(fmt::format("got a {} of {} bytes, but the kernel parameter is {}", argument.type.name,
                       argument.type.size, c.wanted()));
  }
  const bool real = argument.type.kind == dtype_kind::real;
  if (c.kind == parameter_kind::pointer || (c.kind == parameter_kind::real && !real) ||
      (c.kind == parameter_kind::integer && real)) {
    c.fail(fmt::format("got a {}, but the kernel parameter is {}", argument.type.name, c.wanted()));
  }
  if (const auto* e = std::get_if<expression>(&argument.value)) {
    const bool is_signed = argument.type.kind == dtype_kind::integer;
    const auto value = known.names->value(*e, index);
    if (argument.type.kind == dtype_kind::boolean && value != 0 && value != 1)
      c.fail(fmt::format("{} is not a bool (0 or 1)", value));
    return integer_bytes(c, value, c.parameter.size, is_signed, !is_signed);
  }
  const auto& e = std::get<real_expression>(argument.value);
  const auto value = e.evaluate([&](std::string_view name) -> std::optional<double> {
    for (const auto& scalar : known.workload->scalars) {
      if (scalar.name != name) continue;
      const auto* type = find_element_type(scalar.dtype);
      return type == nullptr ? std::nullopt
                             : std::optional<double>(
                                   load_real(*type, reinterpret_cast<const std::byte*>(scalar.bytes.data())));
    }
    const auto whole = known.names->find(name, index);
    return whole ? std::optional<double>(static_cast<double>(*whole)) : std::nullopt;
  });
  return real_bytes(c, *find_element_type(argument.type.name), value);
}

launch_argument plain(const argument_context& c, const plain_argument& argument, const scope& known,
                      const loop_index* index) {
  if (argument.name) {
    const std::string& name = argument.name->text;
    if (known.buffers.contains(name)) {
      c.need_pointer("got a buffer");
      const auto& buffer = known.buffer(*argument.name);
      return buffer_argument{buffer.index, known.byte_offset(buffer, argument.offset, index, c.line.place)};
    }
    if (const auto absent = known.absent.find(name); absent != known.absent.end()) {
      c.fail("the " + absent->second + " '" + name + "' does not exist for this workload");
    }
    if (!argument.offset) {
      if (const auto map = known.tensor_maps.find(name); map != known.tensor_maps.end()) {
        if (c.parameter.size != 128)
          c.fail("got a tensor map of 128 bytes, but the kernel parameter is " + c.wanted(),
                 "declare the parameter as const __grid_constant__ CUtensorMap");
        return tensor_map_argument{map->second};
      }
      for (const auto& scalar : known.workload->scalars) {
        if (scalar.name != name) continue;
        const auto* type = find_element_type(scalar.dtype);
        if (type == nullptr || type->size != c.parameter.size || c.kind == parameter_kind::pointer)
          c.fail("got a scalar of type " + scalar.dtype + ", but the kernel parameter is " + c.wanted());
        scalar_argument value;
        value.size = static_cast<std::uint32_t>(type->size);
        std::memcpy(value.bytes.data(), scalar.bytes.data(), type->size);
        return value;
      }
    }
    if (!known.names->find(name, index)) {
      std::vector<std::string> words;
      for (const auto& [word, buffer] : known.buffers) words.push_back(word);
      for (const auto& [word, map] : known.tensor_maps) words.push_back(word);
      for (const auto& scalar : known.workload->scalars) words.push_back(scalar.name);
      for (const auto& [word, value] : known.workload->axes) words.push_back(word);
      c.fail("unknown name '" + kevo::detail::shown(name) + "'",
             kevo::detail::hint_for(name, words, "names"));
    }
  }
  const auto value = known.names->value(*argument.value, index);
  if (c.kind == parameter_kind::pointer) c.fail("got an integer, but the kernel parameter is " + c.wanted());
  if (c.kind == parameter_kind::real) {
    for (const auto* type : {"float32", "float64", "float16", "bfloat16"}) {
      const bool same = (c.parameter.type == "float" && std::string_view(type) == "float32") ||
                        (c.parameter.type == "double" && std::string_view(type) == "float64") ||
                        (c.parameter.type == "__half" && std::string_view(type) == "float16") ||
                        (c.parameter.type == "__nv_bfloat16" && std::string_view(type) == "bfloat16");
      if (same) return real_bytes(c, *find_element_type(type), static_cast<double>(value));
    }
  }
  const bool known_integer = c.kind == parameter_kind::integer;
  return integer_bytes(c, value, c.parameter.size, !known_integer || !is_unsigned(c.parameter.type),
                       !known_integer || is_unsigned(c.parameter.type));
}

}  // namespace

const known_buffer& scope::buffer(const placed_name& name) const {
  if (const auto found = buffers.find(name.text); found != buffers.end()) return found->second;
  if (const auto found = absent.find(name.text); found != absent.end()) {
    throw error(error_code::input,
                "the " + found->second + " '" + name.text + "' does not exist for this workload", name.place,
                "the condition of its 'when' is false");
  }
  std::vector<std::string> words;
  for (const auto& [word, buffer] : buffers) words.push_back(word);
  throw error(error_code::input, "unknown buffer '" + kevo::detail::shown(name.text) + "'", name.place,
              kevo::detail::hint_for(name.text, words, "buffers"));
}

std::uint64_t scope::byte_offset(const known_buffer& b, const std::optional<expression>& elements,
                                 const loop_index* index, const error_place& place) const {
  if (!elements) return 0;
  const auto offset = names->value(*elements, index);
  if (offset < 0 || static_cast<std::uint64_t>(offset) > b.elements) {
    throw error(
        error_code::input,
        fmt::format("the offset of {} elements is outside the buffer of {} elements", offset, b.elements),
        place);
  }
  return static_cast<std::uint64_t>(offset) * b.type.size;
}

launch_argument resolve_argument(const argument_line& line, const kernel_parameter& parameter,
                                 std::size_t number, const scope& known, const loop_index* index) {
  const argument_context c{line, parameter, number, kind_of(parameter.type)};
  if (const auto* argument = std::get_if<plain_argument>(&line.value))
    return plain(c, *argument, known, index);
  if (const auto* argument = std::get_if<typed_argument>(&line.value))
    return typed(c, *argument, known, index);
  c.need_pointer("got a null pointer");
  return null_argument{};
}

}  // namespace kevo::cuda::detail
