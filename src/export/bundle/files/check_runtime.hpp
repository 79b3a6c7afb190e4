#pragma once
// What the tests of a bundle of kevo need: random contents, comparison with the reference, processes. C++17.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <new>
#include <random>
#include <set>
#include <string>
#include <sys/mman.h>
#include <vector>

namespace kevo_bundle {

enum class dtype {
  float64,
  float32,
  float16,
  bfloat16,
  int64,
  int32,
  int16,
  int8,
  uint64,
  uint32,
  uint16,
  uint8,
  boolean
};

inline std::size_t size_of(dtype type) {
  constexpr std::size_t sizes[] = {8, 4, 2, 2, 8, 4, 2, 1, 8, 4, 2, 1, 1};
  return sizes[static_cast<int>(type)];
}

/// A number of 16 bits with `exponent_bits`, rounded to nearest, ties to even: 5 for float16, 8 for bfloat16.
inline std::uint16_t encode_16(double value, int exponent_bits) {
  const int digits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const std::uint16_t sign = std::signbit(value) ? 0x8000 : 0;
  const double size = std::fabs(value);
  if (size == 0) return sign;
  const int exponent = std::max(std::ilogb(size), 1 - bias);
  const double units = std::nearbyint(std::scalbn(size, digits - exponent));
  // A subnormal has no hidden bit; rounding up carries into the exponent by itself.
  const double word = units + (exponent + bias - 1) * std::scalbn(1.0, digits);
  return static_cast<std::uint16_t>(
      sign |
      static_cast<std::uint16_t>(std::min(word, ((1 << exponent_bits) - 1.0) * std::scalbn(1.0, digits))));
}

inline double decode_16(std::uint16_t word, int exponent_bits) {
  const int digits = 15 - exponent_bits;
  const int bias = (1 << (exponent_bits - 1)) - 1;
  const int exponent = (word & 0x7fff) >> digits;
  const int fraction = word & ((1 << digits) - 1);
  double value = exponent == 0 ? std::scalbn(fraction, 1 - bias - digits)
                               : std::scalbn(fraction + (1 << digits), exponent - bias - digits);
  if (exponent == (1 << exponent_bits) - 1) value = fraction == 0 ? INFINITY : NAN;
  return (word & 0x8000) != 0 ? -value : value;
}

/// Memory from the operating system itself. A program that allocates in its calls is to find the state of
/// malloc that it finds in a process of its own, and malloc keeps more for later after large blocks.
template <class T>
struct mapped_memory {
  using value_type = T;
  mapped_memory() = default;
  template <class Other>
  mapped_memory(const mapped_memory<Other>&) {}  // NOLINT: allocators convert
  T* allocate(std::size_t count) {
    void* at = ::mmap(nullptr, count * sizeof(T), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (at == MAP_FAILED) throw std::bad_alloc();
    return static_cast<T*>(at);
  }
  void deallocate(T* at, std::size_t count) { ::munmap(at, count * sizeof(T)); }
  friend bool operator==(const mapped_memory&, const mapped_memory&) { return true; }
  friend bool operator!=(const mapped_memory&, const mapped_memory&) { return false; }
};
using mapped_bytes = std::vector<unsigned char, mapped_memory<unsigned char>>;

/// A tensor in host memory.
struct tensor {
  dtype type = dtype::float32;
  std::size_t count = 0;
  mapped_bytes bytes;

  tensor(dtype element, std::size_t elements)
      : type(element), count(elements), bytes(elements * size_of(element)) {}

  template <class T>
  T* data() {
    return reinterpret_cast<T*>(bytes.data());
  }
  double at(std::size_t i) const {
    const unsigned char* p = bytes.data() + i * size_of(type);
    switch (type) {
      case dtype::float64:
        return read<double>(p);
      case dtype::float32:
        return static_cast<double>(read<float>(p));
      case dtype::float16:
        return decode_16(read<std::uint16_t>(p), 5);
      case dtype::bfloat16:
        return decode_16(read<std::uint16_t>(p), 8);
      case dtype::int64:
        return static_cast<double>(read<std::int64_t>(p));
      case dtype::int32:
        return read<std::int32_t>(p);
      case dtype::int16:
        return read<std::int16_t>(p);
      case dtype::int8:
        return read<std::int8_t>(p);
      case dtype::uint64:
        return static_cast<double>(read<std::uint64_t>(p));
      case dtype::uint32:
        return read<std::uint32_t>(p);
      case dtype::uint16:
        return read<std::uint16_t>(p);
      default:
        return read<std::uint8_t>(p);
    }
  }
  void set(std::size_t i, double value) {
    unsigned char* p = bytes.data() + i * size_of(type);
    switch (type) {
      case dtype::float64:
        return write(p, value);
      case dtype::float32:
        return write(p, static_cast<float>(value));
      case dtype::float16:
        return write(p, encode_16(value, 5));
      case dtype::bfloat16:
        return write(p, encode_16(value, 8));
      case dtype::int64:
        return write(p, static_cast<std::int64_t>(value));
      case dtype::int32:
        return write(p, static_cast<std::int32_t>(value));
      case dtype::int16:
        return write(p, static_cast<std::int16_t>(value));
      case dtype::int8:
        return write(p, static_cast<std::int8_t>(value));
      case dtype::uint64:
        return write(p, static_cast<std::uint64_t>(value));
      case dtype::uint32:
        return write(p, static_cast<std::uint32_t>(value));
      case dtype::uint16:
        return write(p, static_cast<std::uint16_t>(value));
      default:
        return write(p, static_cast<std::uint8_t>(value));
    }
  }

 private:
  template <class T>
  static T read(const unsigned char* p) {
    T value;
    std::memcpy(&value, p, sizeof value);
    return value;
  }
  template <class T>
  static void write(unsigned char* p, T value) {
    std::memcpy(p, &value, sizeof value);
  }
};

using random_numbers = std::mt19937_64;

inline void draw_normal(tensor& to, random_numbers& random, double mean, double deviation) {
  std::normal_distribution<double> draw(mean, deviation);
  for (std::size_t i = 0; i < to.count; ++i) to.set(i, draw(random));
}
inline void draw_uniform(tensor& to, random_numbers& random, double low, double high) {
  std::uniform_real_distribution<double> draw(low, high);
  for (std::size_t i = 0; i < to.count; ++i) to.set(i, draw(random));
}
inline void draw_integers(tensor& to, random_numbers& random, double low, double high) {
  std::uniform_int_distribution<std::int64_t> draw(static_cast<std::int64_t>(low),
                                                   static_cast<std::int64_t>(high));
  for (std::size_t i = 0; i < to.count; ++i) to.set(i, static_cast<double>(draw(random)));
}

inline void draw_sorted(tensor& to, random_numbers& random, double low, double high) {
  draw_integers(to, random, low, high);
  std::vector<double> values(to.count);
  for (std::size_t i = 0; i < to.count; ++i) values[i] = to.at(i);
  std::sort(values.begin(), values.end());
  for (std::size_t i = 0; i < to.count; ++i) to.set(i, values[i]);
}
/// Each number from 0 to one less than the count once.
inline void draw_permutation(tensor& to, random_numbers& random, double, double) {
  std::vector<double> values(to.count);
  for (std::size_t i = 0; i < to.count; ++i) values[i] = static_cast<double>(i);
  std::shuffle(values.begin(), values.end(), random);
  for (std::size_t i = 0; i < to.count; ++i) to.set(i, values[i]);
}
/// Integers of which the k-th most frequent one is proportional to k^-exponent.
inline void draw_zipf(tensor& to, random_numbers& random, double low, double high, double exponent) {
  std::vector<double> weights;
  std::vector<double> values;
  for (double value = std::ceil(low); value <= high; ++value) {
    weights.push_back(std::pow(static_cast<double>(weights.size() + 1), -exponent));
    values.push_back(value);
  }
  std::shuffle(values.begin(), values.end(), random);
  std::discrete_distribution<std::size_t> draw(weights.begin(), weights.end());
  for (std::size_t i = 0; i < to.count; ++i) to.set(i, values[draw(random)]);
}
/// The columns of a sparse matrix, ascending and distinct in each row. `rows` are the offsets of its rows.
inline void draw_columns(tensor& to, random_numbers& random, double columns, double, const tensor& rows) {
  const auto all = static_cast<std::int64_t>(columns);
  for (std::size_t row = 0; row + 1 < rows.count; ++row) {
    const auto first = static_cast<std::int64_t>(rows.at(row));
    const auto length = static_cast<std::int64_t>(rows.at(row + 1)) - first;
    std::set<std::int64_t> chosen;  // by Floyd's algorithm
    for (std::int64_t last = all - length; last < all; ++last) {
      const auto one = std::uniform_int_distribution<std::int64_t>(0, last)(random);
      chosen.insert(chosen.count(one) == 0 ? one : last);
    }
    auto at = static_cast<std::size_t>(first);
    for (const auto one : chosen) to.set(at++, static_cast<double>(one));
  }
}

/// Ascending numbers from 0 to `total`, the offsets of rows. The lengths of the rows are at most `longest`
/// (0: any) and follow a law: "equal", "uniform" (from 0 to twice the mean), "power_law" (the k-th of a
/// random order of the rows is proportional to k^-exponent), or "" (as between uniformly distributed
/// offsets). O(rows) for each round in which some row becomes full.
inline void draw_offsets(tensor& to, random_numbers& random, double total, double longest, const char* law,
                         double exponent) {
  const std::size_t rows = to.count > 0 ? to.count - 1 : 0;
  const auto all = static_cast<std::int64_t>(total);
  const auto most = longest > 0 ? static_cast<std::int64_t>(longest) : all;
  std::uniform_real_distribution<double> draw(0, 1);
  std::vector<double> weights(rows, 1);
  for (std::size_t i = 0; i < rows; ++i) {
    if (std::strcmp(law, "uniform") == 0) weights[i] = 2 * draw(random);
    if (std::strcmp(law, "power_law") == 0) weights[i] = std::pow(static_cast<double>(i + 1), -exponent);
    if (*law == 0) weights[i] = -std::log(1 - draw(random));
  }
  std::shuffle(weights.begin(), weights.end(), random);
  std::vector<std::int64_t> lengths(rows, 0);
  for (std::int64_t left = all; rows > 0 && left > 0;) {
    double wanted = 0;
    for (std::size_t i = 0; i < rows; ++i) wanted += lengths[i] < most ? weights[i] : 0;
    if (!(wanted > 0)) break;
    const std::int64_t before = left;
    for (std::size_t i = 0; i < rows; ++i) {
      const double share = weights[i] / wanted * static_cast<double>(before);
      const auto more = std::min({static_cast<std::int64_t>(share), most - lengths[i], left});
      lengths[i] += more;
      left -= more;
    }
    // Less than one for each row is left: one more for some of them.
    for (std::size_t i = 0; i < rows && left == before; ++i) {
      if (lengths[i] < most) ++lengths[i], --left;
    }
  }
  std::int64_t offset = 0;
  if (to.count > 0) to.set(0, 0);
  for (std::size_t i = 0; i < rows; ++i) to.set(i + 1, static_cast<double>(offset += lengths[i]));
}

/// Whether the outputs are within their bounds; prints the first one that is not. `allowed` elements may
/// miss. `bound(i)` is the largest error of element i.
template <class Bound>
bool agrees(const char* workload, const char* name, const tensor& got, const tensor& expected,
            std::size_t allowed, const Bound& bound) {
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < got.count; ++i) {
    const double a = got.at(i);
    const double b = expected.at(i);
    const bool right = a == b || (std::isfinite(a) && std::fabs(a - b) <= bound(i));
    if (!right && wrong++ == 0)
      std::printf("%s: %s[%zu] is %.9g, but must be %.9g (error at most %.3g)\n", workload, name, i, a, b,
                  bound(i));
  }
  std::printf("%s: %s: %zu of %zu elements are wrong%s\n", workload, name, wrong, got.count,
              wrong <= allowed ? "" : ", which is too many");
  return wrong <= allowed;
}

inline double median(std::vector<double> values) {
  if (values.empty()) return NAN;
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

/// Starts the program that many times with this option, because a program takes longer in one process than in
/// another, and gives each line that it prints to `read(process, line)`. False if one of them failed.
template <class Read>
bool read_processes(const std::string& program, const std::string& option, int processes, const Read& read) {
  for (int i = 0; i < processes; ++i) {
    std::FILE* output = ::popen(("'" + program + "' " + option).c_str(), "r");
    if (output == nullptr) return false;
    char line[4096];
    while (std::fgets(line, sizeof line, output) != nullptr) read(i, line);
    if (::pclose(output) != 0) return false;
  }
  return true;
}

/// By what part a figure may lie outside of the interval that the run gave, on a device of the same name: a
/// measurement of kevo controls more than the test of a bundle can.
constexpr double tolerated = 0.15;
/// What a test of the speed ends with where it has nothing to compare with: skipped, to CTest.
constexpr int skipped = 77;

/// Says that the figure of the run is one of another device.
inline int skip_on(const std::string& here, const std::string& recorded) {
  std::printf("SKIPPED: the run measured on %s, and this is %s; its figures say nothing of that\n",
              recorded.c_str(), here.c_str());
  return skipped;
}

}  // namespace kevo_bundle
