#include "fitness/oracle/element_type.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include <kevo/error.hpp>

namespace kevo {
namespace {

template <class T>
constexpr double lowest = static_cast<double>(std::numeric_limits<T>::lowest());
template <class T>
constexpr double highest = static_cast<double>(std::numeric_limits<T>::max());

constexpr std::array<element_type, 12> types = {{
    {"float64", "double", 8, element_kind::real, 0x1p-53, highest<double>, 0x1p-1074, "float32"},
    {"float32", "float", 4, element_kind::real, 0x1p-24, highest<float>, 0x1p-149, "bfloat16"},
    {"float16", "std::uint16_t", 2, element_kind::real, 0x1p-11, 65504.0, 0x1p-24, ""},
    {"bfloat16", "std::uint16_t", 2, element_kind::real, 0x1p-8, 0x1.fep127, 0x1p-133, ""},
    {"int8", "std::int8_t", 1, element_kind::integer, 0, 127, -128, ""},
    {"int16", "std::int16_t", 2, element_kind::integer, 0, 32767, -32768, ""},
    {"int32", "std::int32_t", 4, element_kind::integer, 0, highest<std::int32_t>, lowest<std::int32_t>, ""},
    {"int64", "std::int64_t", 8, element_kind::integer, 0, highest<std::int64_t>, lowest<std::int64_t>, ""},
    {"uint8", "std::uint8_t", 1, element_kind::integer, 0, 255, 0, ""},
    {"uint16", "std::uint16_t", 2, element_kind::integer, 0, 65535, 0, ""},
    {"uint32", "std::uint32_t", 4, element_kind::integer, 0, 4294967295.0, 0, ""},
    {"bool", "std::uint8_t", 1, element_kind::boolean, 0, 1, 0, ""},
}};

// A double to a narrow binary format with `digits` significant bits, rounded once; the result as a double.
double round_to(double x, int digits, int lowest_exponent, double largest) {
  if (!std::isfinite(x) || x == 0) return x;
  int exponent = 0;
  std::frexp(x, &exponent);
  const int unit = std::max(exponent - digits, lowest_exponent);  // the weight of the last bit is 2^unit
  const double rounded = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  return std::abs(rounded) > largest ? std::copysign(std::numeric_limits<double>::infinity(), x) : rounded;
}

std::uint16_t to_bfloat16(double x) {
  const auto narrow = static_cast<float>(round_to(x, 8, -133, 0x1.fep127));
  return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(narrow) >> 16U);
}

float from_bfloat16(std::uint16_t word) {
  return std::bit_cast<float>(static_cast<std::uint32_t>(word) << 16U);
}

std::uint16_t to_float16(double x) {
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000U : 0U);
  if (std::isnan(x)) return 0x7e00U;
  const double magnitude = std::abs(round_to(x, 11, -24, 65504.0));
  if (std::isinf(magnitude)) return static_cast<std::uint16_t>(sign | 0x7c00U);
  if (magnitude < 0x1p-14)
    return static_cast<std::uint16_t>(sign | static_cast<unsigned>(magnitude * 0x1p24));
  int exponent = 0;
  const double fraction = std::frexp(magnitude, &exponent);  // in [0.5, 1)
  const auto bits = static_cast<unsigned>((fraction * 2 - 1) * 1024);
  return static_cast<std::uint16_t>(sign | (static_cast<unsigned>(exponent + 14) << 10U) | bits);
}

double from_float16(std::uint16_t word) {
  const double sign = (word & 0x8000U) != 0 ? -1 : 1;
  const int exponent = (word >> 10U) & 31;
  const double fraction = word & 1023U;
  if (exponent == 31) {
    return fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                         : sign * std::numeric_limits<double>::infinity();
  }
  return exponent == 0 ? sign * fraction * 0x1p-24 : sign * std::ldexp(1 + fraction / 1024, exponent - 15);
}

// Calls `f` with a tag of the C++ type and conversions from and to it.
template <class From>
void store_as(const element_type& type, std::span<const From> values, std::byte* target) {
  const auto each = [&](auto convert) {
    for (const From x : values) {
      const auto element = convert(x);
      std::memcpy(target, &element, sizeof element);
      target += sizeof element;
    }
  };
  const auto clamp_to = [&]<class T>(T) {
    each([](From x) {
      if constexpr (std::is_floating_point_v<From>) {
        if (std::isnan(x)) return T{0};
        if (x >= highest<T>) return std::numeric_limits<T>::max();
        if (x <= lowest<T>) return std::numeric_limits<T>::lowest();
        return static_cast<T>(x);
      } else {
        return static_cast<T>(
            std::clamp<std::int64_t>(x, std::numeric_limits<T>::lowest(), std::numeric_limits<T>::max()));
      }
    });
  };
  if (type.name == "float64") return each([](From x) { return static_cast<double>(x); });
  if (type.name == "float32") return each([](From x) { return static_cast<float>(x); });
  if (type.name == "float16") return each([](From x) { return to_float16(static_cast<double>(x)); });
  if (type.name == "bfloat16") return each([](From x) { return to_bfloat16(static_cast<double>(x)); });
  if (type.name == "int8") return clamp_to(std::int8_t{});
  if (type.name == "int16") return clamp_to(std::int16_t{});
  if (type.name == "int32") return clamp_to(std::int32_t{});
  if (type.name == "int64") return clamp_to(std::int64_t{});
  if (type.name == "uint8") return clamp_to(std::uint8_t{});
  if (type.name == "uint16") return clamp_to(std::uint16_t{});
  if (type.name == "uint32") return clamp_to(std::uint32_t{});
  each([](From x) { return static_cast<std::uint8_t>(x != 0); });
}

template <class To>
std::vector<To> load_as(const element_type& type, std::span<const std::byte> bytes) {
  std::vector<To> values(bytes.size() / type.size);
  const auto each = [&]<class T>(T, auto convert) {
    const std::byte* source = bytes.data();
    for (auto& value : values) {
      T element;
      std::memcpy(&element, source, sizeof element);
      source += sizeof element;
      value = static_cast<To>(convert(element));  // NOLINT(bugprone-signed-char-misuse): an int8 is a number
    }
  };
  const auto plain = [&]<class T>(T tag) { each(tag, [](T x) { return x; }); };
  if (type.name == "float64")
    plain(double{});
  else if (type.name == "float32")
    plain(float{});
  else if (type.name == "float16")
    each(std::uint16_t{}, from_float16);
  else if (type.name == "bfloat16")
    each(std::uint16_t{}, from_bfloat16);
  else if (type.name == "int8")
    plain(std::int8_t{});
  else if (type.name == "int16")
    plain(std::int16_t{});
  else if (type.name == "int32")
    plain(std::int32_t{});
  else if (type.name == "uint16")
    plain(std::uint16_t{});
  else if (type.name == "uint32")
    plain(std::uint32_t{});
  else if (type.name == "int64")
    plain(std::int64_t{});
  else
    plain(std::uint8_t{});
  return values;
}

}  // namespace

const element_type* find_element_type(std::string_view name) {
  for (const auto& type : types) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

const element_type& element_type_of(const tensor& t) {
  if (const auto* type = find_element_type(t.dtype)) return *type;
  std::string known;
  for (const auto& type : types) known += (known.empty() ? "" : ", ") + std::string(type.name);
  throw error(error_code::input,
              "the CPU backend does not support the dtype '" + t.dtype + "' of '" + t.name + "'", {},
              "known: " + known);
}

void store_values(const element_type& type, std::span<const double> values, std::byte* target) {
  store_as<double>(type, values, target);
}
void store_values(const element_type& type, std::span<const std::int64_t> values, std::byte* target) {
  store_as<std::int64_t>(type, values, target);
}
std::vector<double> load_reals(const element_type& type, std::span<const std::byte> bytes) {
  return load_as<double>(type, bytes);
}
std::vector<std::int64_t> load_integers(const element_type& type, std::span<const std::byte> bytes) {
  return load_as<std::int64_t>(type, bytes);
}
double load_real(const element_type& type, const std::byte* element) {
  return load_as<double>(type, {element, type.size}).front();
}
std::int64_t load_integer(const element_type& type, const std::byte* element) {
  return load_as<std::int64_t>(type, {element, type.size}).front();
}

}  // namespace kevo
