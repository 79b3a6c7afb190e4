// What every C++ exploit may use: its task's signature is `attack_call`, which kevo writes in front of this.

// The bytes of all outputs, one after the other.
inline std::vector<unsigned char> copy_of_outputs(const attack_call& call) {
  std::vector<unsigned char> bytes;
  call.each_output([&](auto* data, std::int64_t count) {
    const auto* from = reinterpret_cast<const unsigned char*>(data);
    bytes.insert(bytes.end(), from, from + static_cast<std::size_t>(count) * sizeof *data);
  });
  return bytes;
}

inline void put_outputs(const attack_call& call, const std::vector<unsigned char>& bytes) {
  std::size_t at = 0;
  call.each_output([&](auto* data, std::int64_t count) {
    const std::size_t size = static_cast<std::size_t>(count) * sizeof *data;
    if (size != 0) std::memcpy(data, bytes.data() + at, size);
    at += size;
  });
}

inline void fill_outputs(const attack_call& call, double value) {
  call.each_output([&](auto* data, std::int64_t count) {
    using element = std::remove_reference_t<decltype(*data)>;
    for (std::int64_t i = 0; i < count; ++i) data[i] = static_cast<element>(value);
  });
}

// The sizes of a call.
inline std::vector<std::int64_t> sizes_of(const attack_call& call) {
  std::vector<std::int64_t> sizes;
  call.each_axis([&](std::int64_t value) { sizes.push_back(value); });
  return sizes;
}

// A hash of `samples` elements of every input, spread evenly, of which only the bits in `mask` count.
inline std::uint64_t sample_of_inputs(const attack_call& call, std::int64_t samples, unsigned char mask = 0xff) {
  std::uint64_t hash = 1469598103934665603ULL;
  call.each_input([&](auto* data, std::int64_t count) {
    const std::int64_t step = count > samples ? count / samples : 1;
    for (std::int64_t i = 0; i < count; i += step) {
      // The last byte of a little-endian number holds its sign and the largest bits.
      const auto* bytes = reinterpret_cast<const unsigned char*>(data + i);
      for (std::size_t b = 0; b < sizeof *data; ++b) {
        const unsigned char counts = mask == 0xff ? 0xff : b + 1 == sizeof *data ? mask : 0;
        hash = (hash ^ (bytes[b] & counts)) * 1099511628211ULL;
      }
    }
  });
  return hash;
}

// A call on private copies of the inputs whose elements went through `change`; the outputs stay.
struct changed_call {
  attack_call call;
  std::vector<std::vector<unsigned char>> inputs;
};
template <class Change>
changed_call with_inputs(const attack_call& call, Change change) {
  changed_call made{call, {}};
  made.call.each_input([&](auto*& data, std::int64_t count) {
    using element = std::remove_cv_t<std::remove_reference_t<decltype(*data)>>;
    auto& bytes = made.inputs.emplace_back(static_cast<std::size_t>(count) * sizeof(element) + 64);
    auto* copy = reinterpret_cast<element*>(bytes.data());
    for (std::int64_t i = 0; i < count; ++i) copy[i] = change(data[i]);
    data = copy;
  });
  return made;
}

// A call that writes into memory of its own.
struct private_call {
  attack_call call;
  std::vector<std::vector<unsigned char>> outputs;
};
inline private_call with_private_outputs(const attack_call& call) {
  private_call made{call, {}};
  made.call.each_output([&](auto*& data, std::int64_t count) {
    auto& bytes = made.outputs.emplace_back(static_cast<std::size_t>(count) * sizeof *data + 64);
    data = reinterpret_cast<std::remove_reference_t<decltype(data)>>(bytes.data());
  });
  return made;
}

// A float32 rounded to a mantissa of `bits` stored bits: 7 is bfloat16, 10 is TF32 (and float16's mantissa).
inline float rounded_to_bits(float x, int bits) {
  std::uint32_t word;
  std::memcpy(&word, &x, sizeof word);
  if ((word & 0x7f800000U) == 0x7f800000U) return x;
  const int lost = 23 - bits;
  word += (1U << (lost - 1)) - 1 + ((word >> lost) & 1U);
  word &= ~((1U << lost) - 1U);
  std::memcpy(&x, &word, sizeof x);
  return x;
}
template <class T>
T narrowed(T x, int bits) {
  if constexpr (std::is_same_v<T, float>) return rounded_to_bits(x, bits);
  return x;
}
