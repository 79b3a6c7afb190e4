#pragma once
// Parsed annotations as plain data. Include <kevo/annotation.hpp> instead.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/expression.hpp>

namespace kevo {

/// How a tunable's line is written.
enum class tunable_style : std::uint8_t {
  define,      ///< #define NAME v
  constant,    ///< constexpr int NAME = v;  const auto NAME = v;
  assignment,  ///< NAME = v   NAME: type = v
  option,      ///< build {option: v {...}}; the tunable's name is "build.option"
};

/// One literal that may be replaced by another value of its domain.
struct tunable {
  std::string name;
  std::string value;  ///< the literal as written
  /// The literals it may take, in the order of the annotation; `value` is one of them.
  std::vector<std::string> domain;
  std::size_t current = 0;  ///< index of `value` in `domain`
  tunable_style style = tunable_style::assignment;
  std::size_t file = 0;    ///< index of the program's file
  int line = 0;            ///< 1-based
  int column = 0;          ///< of the literal's first character, 1-based, in bytes
  std::size_t offset = 0;  ///< of the literal in the file's text; it is value.size() bytes long
};

/// A condition over tunables that holds for every valid choice of values.
struct requirement {
  expression condition;
  std::size_t file = 0;
  int line = 0;
};

/// The lines between `begin NAME` and `end NAME`.
struct source_region {
  std::string name;
  std::size_t file = 0;
  int begin_line = 0;      ///< the line of the begin comment, 1-based
  int end_line = 0;        ///< the line of the end comment
  std::size_t offset = 0;  ///< of the first byte after the begin comment's line
  std::size_t length = 0;  ///< up to the first byte of the end comment's line
};

/// A line about launching the kernel.
struct launch_directive {
  std::string word;  ///< its first word: "launch", "when", "for", "memset", "workspace" or "tensormap"
  std::string text;  ///< all of it, `word` included
  std::size_t file = 0;
  int line = 0;
  int column = 0;  ///< of the first character of `text`
};

/// One part of a `build` line: an option of the program's own compilation.
struct build_part {
  std::string name;     ///< of the option
  std::string value;    ///< the literal as written, or the value of the tunable that is named
  std::string tunable;  ///< the tunable that decides it; empty: none
  std::size_t file = 0;
  int line = 0;
  int column = 0;  ///< of the value's first character
};

/// All annotations of a source, each kind in file order.
struct annotations {
  std::vector<tunable> tunables;
  std::vector<requirement> requirements;
  std::vector<source_region> regions;
  std::vector<launch_directive> directives;
  std::vector<build_part> build;  ///< each option once; which options there are is the compilers' to say

  /// Null if there is no tunable of this name.
  const tunable* find_tunable(std::string_view name) const {
    for (const auto& t : tunables) {
      if (t.name == name) return &t;
    }
    return nullptr;
  }
  /// Null if there is no region of this name.
  const source_region* find_region(std::string_view name) const {
    for (const auto& r : regions) {
      if (r.name == name) return &r;
    }
    return nullptr;
  }
};

}  // namespace kevo
