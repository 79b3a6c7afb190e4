#include "fitness/cuda/compile/standard_headers.hpp"

namespace kevo::cuda {
namespace {

// The same types as libcu++ has under NVRTC, so that both can be included.
constexpr const char* integers = R"(#pragma once
typedef signed char int8_t;
typedef signed short int16_t;
typedef signed int int32_t;
typedef signed long long int64_t;
typedef unsigned char uint8_t;
typedef unsigned short uint16_t;
typedef unsigned int uint32_t;
typedef unsigned long long uint64_t;
typedef int64_t intptr_t;
typedef uint64_t uintptr_t;
namespace std {
using ::int8_t; using ::int16_t; using ::int32_t; using ::int64_t;
using ::uint8_t; using ::uint16_t; using ::uint32_t; using ::uint64_t;
using ::intptr_t; using ::uintptr_t;
}
)";

constexpr const char* sizes = R"(#pragma once
namespace std { typedef decltype(sizeof(0)) size_t; typedef decltype((char*)0 - (char*)0) ptrdiff_t; }
typedef decltype(sizeof(0)) size_t;
typedef decltype((char*)0 - (char*)0) ptrdiff_t;
#ifndef NULL
#define NULL 0
#endif
)";

constexpr const char* limits = R"(#pragma once
#define CHAR_BIT 8
#define INT_MAX 2147483647
#define INT_MIN (-INT_MAX - 1)
#define UINT_MAX 4294967295u
#define LLONG_MAX 9223372036854775807ll
#define LLONG_MIN (-LLONG_MAX - 1)
#define ULLONG_MAX 18446744073709551615ull
)";

constexpr const char* reals = R"(#pragma once
#define FLT_MAX 3.402823466e+38f
#define FLT_MIN 1.175494351e-38f
#define FLT_EPSILON 1.192092896e-07f
#define DBL_MAX 1.7976931348623158e+308
#define DBL_MIN 2.2250738585072014e-308
#define DBL_EPSILON 2.2204460492503131e-016
)";

constexpr const char* mathematics = R"(#pragma once
#ifndef INFINITY
#define INFINITY __int_as_float(0x7f800000)
#endif
#ifndef NAN
#define NAN __int_as_float(0x7fffffff)
#endif
)";

// All that device code needs of the driver's header.
constexpr const char* driver = R"(#pragma once
struct alignas(64) CUtensorMap { unsigned long long opaque[16]; };
)";

}  // namespace

std::vector<source_text> standard_headers() {
  std::vector<source_text> headers;
  const auto add = [&headers](const char* text, std::initializer_list<const char*> names) {
    for (const char* name : names) headers.push_back({name, text});
  };
  add(integers, {"cstdint", "stdint.h"});
  add(sizes, {"cstddef", "stddef.h"});
  add(limits, {"climits", "limits.h"});
  add(reals, {"cfloat", "float.h"});
  add(mathematics, {"cmath", "math.h"});
  add(driver, {"cuda.h", "cudaTypedefs.h"});
  add("#pragma once\n",
      {"cassert", "assert.h", "cstdio", "stdio.h", "cstdlib", "stdlib.h", "cstring", "string.h"});
  return headers;
}

}  // namespace kevo::cuda
