// Several histograms side by side, so that equal neighbours do not wait for each other's counter; added up at
// the end.
#include <cstdint>
#include <cstring>

// kevo: begin counters
#define COPIES 1         // kevo: {1, 2, 4, 8, 16}
#define COUNTER_BITS 32  // kevo: {16, 32}
#define INTERLEAVED 0    // kevo: {0, 1}
// kevo: end counters

// kevo: begin reading
#define PAIRS 0            // kevo: {0, 1}
constexpr int unroll = 1;  // kevo: {1, 2, 4, 8}
#define PREFETCH 0         // kevo: {0, 256, 1024}
// kevo: end reading

namespace {

constexpr int64_t bins = 256;

template <int bits>
struct counter_of;
template <>
struct counter_of<16> {
  using type = uint16_t;
};
template <>
struct counter_of<32> {
  using type = uint32_t;
};
using counter = counter_of<COUNTER_BITS>::type;

alignas(64) counter table[COPIES * bins];

inline void count(int copy, uint32_t value) {
  const int64_t bin = static_cast<int64_t>(value & 255U);
  ++table[INTERLEAVED != 0 ? bin * COPIES + copy : copy * bins + bin];
}

void count_all(const int32_t* X, int64_t N) {
  constexpr int64_t step = COPIES > 1 ? COPIES : 2;
  int64_t i = 0;
#pragma GCC unroll unroll
  for (; i + step <= N; i += step) {
    if (PREFETCH > 0) {  // an address only: it may lie behind the end of X
      __builtin_prefetch(reinterpret_cast<const void*>(reinterpret_cast<uintptr_t>(X + i) + PREFETCH));
    }
#pragma GCC unroll 16
    for (int s = 0; s < step; s += PAIRS != 0 ? 2 : 1) {
      if (PAIRS != 0) {
        uint64_t two = 0;
        std::memcpy(&two, X + i + s, sizeof two);
        count(s % COPIES, static_cast<uint32_t>(two));
        count((s + 1) % COPIES, static_cast<uint32_t>(two >> 32U));
      } else {
        count(s % COPIES, static_cast<uint32_t>(X[i + s]));
      }
    }
  }
  for (; i < N; ++i) count(0, static_cast<uint32_t>(X[i]));
}

}  // namespace

extern "C" void run(const int32_t* X, int32_t* counts, int64_t N) {
  for (int64_t b = 0; b < bins; ++b) counts[b] = 0;
  // A 16-bit counter is emptied before it can overflow.
  const int64_t slice = COUNTER_BITS == 16 ? 65535 : N;
  for (int64_t start = 0; start < N; start += slice) {
    std::memset(table, 0, sizeof table);
    count_all(X + start, N - start < slice ? N - start : slice);
    for (int64_t b = 0; b < bins; ++b) {
      for (int64_t c = 0; c < COPIES; ++c) {
        counts[b] += static_cast<int32_t>(table[INTERLEAVED != 0 ? b * COPIES + c : c * bins + b]);
      }
    }
  }
}
