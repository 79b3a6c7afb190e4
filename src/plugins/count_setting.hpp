#pragma once
// The setting that says how many of something.

#include <cstddef>
#include <cstdint>

#include <kevo/settings.hpp>

namespace kevo {

struct count_setting {
  std::int64_t min = 0;
  std::int64_t max = 1'000'000;
  const char* unit = "";
  const char* doc = "";
};

inline std::size_t count_from(settings& from, const char* key, std::size_t def, const count_setting& what) {
  return static_cast<std::size_t>(from.integer(key, {.def = static_cast<std::int64_t>(def),
                                                     .min = what.min,
                                                     .max = what.max,
                                                     .unit = what.unit,
                                                     .doc = what.doc}));
}

}  // namespace kevo
