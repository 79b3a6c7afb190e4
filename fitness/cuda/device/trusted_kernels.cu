// The trusted device code, compiled by NVRTC for the device at hand. Nothing here needs a header. Where
// KEVO_KIT_ON_HOST is defined (a test double of the driver), what only a GPU has is brought by the includer.
#ifndef KEVO_KIT_ON_HOST
#define INFINITY_ __longlong_as_double(0x7ff0000000000000ll)
__device__ inline unsigned long long now_ns() {
  unsigned long long t;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(t));
  return t;
}
__device__ inline unsigned short half_bits(double x) {
  unsigned short h;
  asm("cvt.rn.f16.f64 %0, %1;" : "=h"(h) : "d"(x));
  return h;
}
__device__ inline float half_value(unsigned short h) {
  float f;
  asm("cvt.f32.f16 %0, %1;" : "=f"(f) : "h"(h));
  return f;
}
#endif

typedef unsigned long long u64;
typedef unsigned int u32;

__device__ inline u64 place() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
__device__ inline u64 stride() { return (u64)gridDim.x * blockDim.x; }

// Holds the stream until the host opens the barrier, or until `limit` ns have passed (then *barrier[2] says so).
extern "C" __global__ void kevo_block(volatile u64* barrier, u64 wanted, u64 limit) {
  barrier[1] = wanted;
  __threadfence_system();
  const u64 start = now_ns();
  while (barrier[0] != wanted) {
    if (now_ns() - start > limit) { barrier[2] = wanted; return; }
  }
}

// The barrier in front of one call of several in one graph: says that everything before it has ended, waits until the
// host admits the call, and takes over the key to its inputs, which does not exist before. A limit of 0: says it alone.
extern "C" __global__ void kevo_barrier(volatile u64* barrier, u64 wanted, u64 limit, volatile u64* key) {
  __threadfence_system();
  barrier[1] = wanted;
  __threadfence_system();
  if (limit == 0) return;
  const u64 start = now_ns();
  while (barrier[0] != wanted) {
    if (now_ns() - start > limit) { barrier[2] = wanted; return; }
  }
  __threadfence_system();
  key[0] = barrier[4];
  key[1] = barrier[5];
}

// Keeps the device from other contexts until the host writes `wanted` to the word, or for `limit` ns. Adds up the gaps
// between two looks at the clock, in which others had the device.
extern "C" __global__ void kevo_occupy(volatile u32* word, u64 wanted, u64 limit, u64 gap, volatile u64* seen) {
  seen[0] = wanted;
  __threadfence_system();
  const u64 start = now_ns();
  u64 last = start, elsewhere = 0;
  while (word[0] != (u32)wanted && last - start < limit) {
    const u64 now = now_ns();
    if (now - last > gap) elsewhere += now - last;
    last = now;
  }
  seen[1] = elsewhere;
  __threadfence_system();
}

// What a call costs that does nothing: the launch, and the change to the context of its process.
extern "C" __global__ void kevo_nothing() {}

// Philox 4x32-10 (Salmon et al., "Parallel random numbers: as easy as 1, 2, 3", SC 2011).
__device__ inline void philox(u64 counter, u64 lane, u64 key, u32 out[4]) {
  u32 c0 = (u32)counter, c1 = (u32)(counter >> 32), c2 = (u32)lane, c3 = (u32)(lane >> 32);
  u32 k0 = (u32)key, k1 = (u32)(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const u32 h0 = __umulhi(0xD2511F53u, c0), l0 = 0xD2511F53u * c0;
    const u32 h1 = __umulhi(0xCD9E8D57u, c2), l1 = 0xCD9E8D57u * c2;
    const u32 n0 = h1 ^ c1 ^ k0, n2 = h0 ^ c3 ^ k1;
    c0 = n0; c1 = l1; c2 = n2; c3 = l0;
    k0 += 0x9E3779B9u; k1 += 0xBB67AE85u;
  }
  out[0] = c0; out[1] = c1; out[2] = c2; out[3] = c3;
}
__device__ inline double unit(u32 high, u32 low) {
  return (double)((((u64)high << 32) | low) >> 11) * (1.0 / 9007199254740992.0);
}
__device__ inline double short_number(double x) {
  int e = 0;
  const double f = frexp(x, &e);
  return ldexp(floor(f * 8) / 8, e);
}
__device__ inline double clamp(double x, double low, double high) { return x < low ? low : x > high ? high : x; }
__device__ inline float from_bits(u32 w) { return __uint_as_float(w); }

// Types: 0 f64, 1 f32, 2 f16, 3 bf16, 4 i8, 5 i16, 6 i32, 7 i64, 8 u8, 9 u16, 10 u32, 11 bool.
__device__ inline void store(void* to, u64 i, int type, double x) {
  switch (type) {
    case 0: ((double*)to)[i] = x; break;
    case 1: ((float*)to)[i] = (float)clamp(x, -3.4028234663852886e38, 3.4028234663852886e38); break;
    case 2: ((unsigned short*)to)[i] = half_bits(clamp(x, -65504.0, 65504.0)); break;
    case 3: {
      u32 w = __float_as_uint((float)x);
      w += 0x7fffu + ((w >> 16) & 1u);
      ((unsigned short*)to)[i] = (unsigned short)(w >> 16);
      break;
    }
    case 4: ((signed char*)to)[i] = (signed char)clamp(x, -128, 127); break;
    case 5: ((short*)to)[i] = (short)clamp(x, -32768, 32767); break;
    case 6: ((int*)to)[i] = (int)clamp(x, -2147483648.0, 2147483647.0); break;
    case 7: ((long long*)to)[i] = (long long)x; break;
    case 8: ((unsigned char*)to)[i] = (unsigned char)clamp(x, 0, 255); break;
    case 9: ((unsigned short*)to)[i] = (unsigned short)clamp(x, 0, 65535); break;
    case 10: ((u32*)to)[i] = (u32)clamp(x, 0, 4294967295.0); break;
    default: ((unsigned char*)to)[i] = x != 0; break;
  }
}
__device__ inline double load_real(const void* from, u64 i, int type) {
  switch (type) {
    case 0: return ((const double*)from)[i];
    case 1: return ((const float*)from)[i];
    case 2: return half_value(((const unsigned short*)from)[i]);
    default: return from_bits((u32)((const unsigned short*)from)[i] << 16);
  }
}
__device__ inline long long load_integer(const void* from, u64 i, int type) {
  switch (type) {
    case 4: return ((const signed char*)from)[i];
    case 5: return ((const short*)from)[i];
    case 6: return ((const int*)from)[i];
    case 7: return ((const long long*)from)[i];
    case 8: return ((const unsigned char*)from)[i];
    case 9: return ((const unsigned short*)from)[i];
    case 10: return ((const u32*)from)[i];
    default: return ((const unsigned char*)from)[i];
  }
}

// kind: 0 normal, 1 uniform, 2 integers. tail: 0 none, 1 heavy. constant: every element is the first one.
extern "C" __global__ void kevo_generate(void* to, int type, u64 count, u64 key, u64 lane, int kind, double a, double b,
                                         double scale, double shift, double tail, int constant, int upper) {
  for (u64 i = place(); i < count; i += stride()) {
    u32 w[4];
    philox(constant ? 0 : i, lane, key, w);
    double x;
    if (kind == 0) {
      const double radius = sqrt(-2 * log(1 - unit(w[0], w[1])));
      x = radius * cos(6.283185307179586 * unit(w[2], w[3]));
      if (tail > 0) {
        u32 v[4];
        philox(i, lane ^ 0x8000000000000000ull, key, v);
        x = clamp(x / sqrt(-log(1 - unit(v[0], v[1]))), -tail, tail);
      }
      x = a + b * (scale * x + shift);
      if (constant) x = short_number(x);
    } else {
      x = unit(w[0], w[1]);
      if (tail > 0) {
        x = x * x * x * x;
        if (upper) x = 1 - x;
      }
      x = shift + scale * x;
      if (kind == 1) {
        x = a + (b - a) * x;
        if (constant) x = clamp(short_number(x), a, b);
      } else {
        x = clamp(a + floor(x * (b - a + 1)), a, b);
      }
    }
    store(to, i, type, x);
  }
}

// Bytes under a key: masks them, and unmasks what was masked. `lane` tells the buffers of a call apart.
__device__ inline void mask_bytes(unsigned char* data, u64 bytes, u64 lane, u64 key, u64 second_key) {
  const u64 blocks = bytes / 16;
  for (u64 i = place(); i < blocks; i += stride()) {
    u32 w[4];
    philox(i, lane ^ second_key, key, w);
    uint4 x = ((uint4*)data)[i];
    x.x ^= w[0]; x.y ^= w[1]; x.z ^= w[2]; x.w ^= w[3];
    ((uint4*)data)[i] = x;
  }
  if (place() == 0 && blocks * 16 < bytes) {
    u32 w[4];
    philox(blocks, lane ^ second_key, key, w);
    for (u64 i = blocks * 16; i < bytes; ++i) data[i] ^= (unsigned char)(w[(i & 15) / 4] >> (8 * (i & 3)));
  }
}
extern "C" __global__ void kevo_mask(unsigned char* data, u64 bytes, u64 lane, u64 key, u64 second_key) {
  mask_bytes(data, bytes, lane, key, second_key);
}

// What is made ready in front of a call: a buffer whose input is unmasked (`from` is 0), or one that gets back the
// bytes that it began with.
struct kevo_prepared_range { u64 to, from, bytes, lane; };
extern "C" __global__ void __launch_bounds__(1024) kevo_ready(const kevo_prepared_range* all, u64 count, const u64* key, u32 shared_bytes) {
  (void)shared_bytes;  // on a host there is none
#ifndef KEVO_KIT_ON_HOST
  // Nothing is handed on in shared memory: each multiprocessor has one block, which clears all of it.
  extern __shared__ uint4 kevo_shared[];
  volatile u32* words = (volatile u32*)kevo_shared;
  for (u32 i = threadIdx.x; i < shared_bytes / 4; i += blockDim.x) words[i] = 0;
#endif
  for (u64 n = 0; n < count; ++n) {
    const kevo_prepared_range one = all[n];
    if (one.from == 0) {
      mask_bytes((unsigned char*)one.to, one.bytes, one.lane, key[0], key[1]);
      continue;
    }
    const u64 blocks = ((one.to | one.from) & 15) == 0 ? one.bytes / 16 : 0;
    // Only what has changed is written: an honest table stays where caches have it.
    for (u64 i = place(); i < blocks; i += stride()) {
      const uint4 want = ((const uint4*)one.from)[i], have = ((const uint4*)one.to)[i];
      if (want.x != have.x || want.y != have.y || want.z != have.z || want.w != have.w) ((uint4*)one.to)[i] = want;
    }
    for (u64 i = 16 * blocks + place(); i < one.bytes; i += stride()) {
      const unsigned char want = ((const unsigned char*)one.from)[i];
      if (((const unsigned char*)one.to)[i] != want) ((unsigned char*)one.to)[i] = want;
    }
  }
}

// Not to be guessed from the words around: a candidate cannot tell what was poison once from what was an input.
__device__ inline u64 poison(u64 seed, u64 i) {
  u32 w[4];
  philox(i, 0x706f69736f6eull, seed, w);
  return ((u64)w[1] << 32) | w[0];
}
extern "C" __global__ void kevo_poison(u64* words, u64 first, u64 count, u64 seed) {
  for (u64 i = place(); i < count; i += stride()) words[i] = poison(seed, first + i);
}
// Bytes [begin, end) of a region whose word number `first` is at `words`.
extern "C" __global__ void kevo_check_poison(const unsigned char* base, u64 begin, u64 end, u64 seed, u64* misses) {
  const u64 low = begin / 8, high = (end + 7) / 8;
  u64 bad = 0;
  for (u64 i = low + place(); i < high; i += stride()) {
    const u64 got = ((const u64*)base)[i];
    u64 differ = got ^ poison(seed, i);
    if (i * 8 < begin) differ &= ~0ull << (8 * (begin - i * 8));
    if (i * 8 + 8 > end) differ &= ~0ull >> (8 * (i * 8 + 8 - end));
    bad += differ != 0;
  }
  if (bad) atomicAdd(misses, bad);
}
extern "C" __global__ void kevo_differ(const unsigned char* a, const unsigned char* b, u64 bytes, u64* misses) {
  const u64 words = bytes / 8;
  u64 bad = 0;
  for (u64 i = place(); i < words; i += stride()) bad += ((const u64*)a)[i] != ((const u64*)b)[i];
  if (place() == 0) for (u64 i = words * 8; i < bytes; ++i) bad += a[i] != b[i];
  if (bad) atomicAdd(misses, bad);
}

// Puts the elements of a result in the order of its shape. `order`: its extents, then the distances in `from` of what
// lies one apart along each.
extern "C" __global__ void kevo_in_order(const unsigned char* from, unsigned char* to, const u64* order, int rank, int size,
                                         u64 count) {
  for (u64 i = place(); i < count; i += stride()) {
    u64 rest = i, at = 0;
    for (int d = rank - 1; d >= 0; --d) {
      at += rest % order[d] * order[rank + d];
      rest /= order[d];
    }
    for (int b = 0; b < size; ++b) to[i * size + b] = from[at * size + b];
  }
}

__device__ inline double factor_of(double got, double want, double bound) {
  if (got == want) return 0;
  const double miss = fabs(got - want);
  if (!(miss < INFINITY_)) return INFINITY_;
  return bound > 0 ? miss / bound : INFINITY_;
}
__device__ inline void note(u64* found, u64 i, double factor, double got, double want, double cap) {
  if (factor > 1) {
    atomicAdd(found, 1ull);
    atomicMin(found + 1, i);
    if (!isfinite(got) || !isfinite(want)) found[2] = 1;
    atomicMax(found + 4, (u64)__double_as_longlong(factor));
  }
  if (cap >= 0 && got != want && !(fabs(got - want) <= cap)) atomicAdd(found + 3, 1ull);
}
// rule: 0 exact, 1 bounds (p atol, q rtol), 2 accumulation (p slope, q smallest); scale may be null: |expected|.
// pass 0 fills found[0..4]; pass 1 finds the place of the worst factor. found: wrong, first, never, over cap, factor,
// worst.
extern "C" __global__ void kevo_compare(const void* got, int type, const double* want, const double* scale, u64 count,
                                        int rule, double p, double q, double cap, int pass, u64* found) {
  for (u64 i = place(); i < count; i += stride()) {
    const double g = load_real(got, i, type), w = want[i];
    double bound = 0;
    if (rule == 1) bound = isfinite(w) ? p + q * fabs(w) : 0;
    if (rule == 2) bound = p * (scale ? scale[i] : fabs(w)) + q;
    const double factor = factor_of(g, w, bound);
    if (pass == 0) note(found, i, factor, g, w, cap);
    else if ((u64)__double_as_longlong(factor) == found[4]) atomicMin(found + 5, i);
  }
}
extern "C" __global__ void kevo_compare_integers(const void* got, int type, const long long* want, u64 count, int rule,
                                                 double p, double q, double cap, int pass, u64* found) {
  for (u64 i = place(); i < count; i += stride()) {
    const long long gi = load_integer(got, i, type), wi = want[i];
    const double g = (double)gi, w = (double)wi;
    double factor = 0;
    if (gi != wi) {
      const double bound = rule == 1 ? p + q * fabs(w) : 0;
      const double miss = g > w ? g - w : w - g;
      factor = bound > 0 ? (miss > 0 ? miss / bound : 0) : INFINITY_;
    }
    if (pass == 0) note(found, i, factor, g, w, cap);
    else if ((u64)__double_as_longlong(factor) == found[4]) atomicMin(found + 5, i);
  }
}
// sums: got * want, got^2, want^2, |got - want|, |want|, (got - want)^2, of elements that are finite.
extern "C" __global__ void kevo_sums(const void* got, int type, int real, const void* want, u64 count, double* sums) {
  double own[6] = {};
  for (u64 i = place(); i < count; i += stride()) {
    const double g = real ? load_real(got, i, type) : (double)load_integer(got, i, type);
    const double w = real ? ((const double*)want)[i] : (double)((const long long*)want)[i];
    if (!isfinite(g) || !isfinite(w)) continue;
    const double miss = g - w;
    own[0] += g * w;
    own[1] += g * g;
    own[2] += w * w;
    own[3] += fabs(miss);
    own[4] += fabs(w);
    own[5] += miss * miss;
  }
  for (int k = 0; k < 6; ++k) atomicAdd(sums + k, own[k]);
}
// found[0]: neither finite nor an allowed -infinity; found[1]: negative (for scales).
extern "C" __global__ void kevo_finite(const double* values, u64 count, int allow_negative, u64* found) {
  u64 bad = 0, below = 0;
  for (u64 i = place(); i < count; i += stride()) {
    const double x = values[i];
    bad += !(isfinite(x) || (allow_negative && x == -INFINITY_));
    below += x < 0;
  }
  if (bad) atomicAdd(found, bad);
  if (below) atomicAdd(found + 1, below);
}

// What was in the cache is thrown out by writing, and the dirty lines then by reading others (a dirty cache would cost
// the call its write-backs).
extern "C" __global__ void kevo_flush_write(uint4* memory, u64 count, u32 value) {
  for (u64 i = place(); i < count; i += stride()) memory[i] = make_uint4(value, value, value, value);
}
extern "C" __global__ void kevo_flush_read(const uint4* memory, u64 count, u32* sink) {
  u32 sum = 0;
  for (u64 i = place(); i < count; i += stride()) {
    const uint4 x = memory[i];
    sum ^= x.x ^ x.y ^ x.z ^ x.w;
  }
  if (sum == 0x9e3779b9u) *sink = sum;
}
// Cycles and nanoseconds of one multiprocessor at work.
extern "C" __global__ void kevo_clock(u64* out, u64 ns) {
  u64 start = now_ns(), first = start;
  while ((first = now_ns()) == start) {}
  const long long cycles = clock64();
  u64 last = first;
  while (last - first < ns) last = now_ns();
  out[0] = (u64)(clock64() - cycles);
  out[1] = last - first;
}
// Ceilings.
extern "C" __global__ void kevo_copy(uint4* to, const uint4* from, u64 count) {
  for (u64 i = place(); i < count; i += stride()) __stcs(to + i, __ldcs(from + i));
}
extern "C" __global__ void __launch_bounds__(256) kevo_multiply_add(float* out, float a, float b, int rounds) {
  float x[16];
  for (int i = 0; i < 16; ++i) x[i] = threadIdx.x + i;
  for (int r = 0; r < rounds; ++r) {
#pragma unroll
    for (int i = 0; i < 16; ++i) x[i] = fmaf(x[i], a, b);
  }
  float sum = 0;
  for (int i = 0; i < 16; ++i) sum += x[i];
  if (sum == 1.2345f) out[place()] = sum;
}
