#pragma once
// Parsed annotations as plain data. Include <kevo/annotation.hpp> instead.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kevo/expression.hpp>

namespace kevo {

/// The form of the line that defines a tunable.
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
  /// The literals that the tunable may have, in the order of the annotation. `value` is one of them.
  std::vector<std::string> domain;
  std::size_t current = 0;  ///< index of `value` in `domain`
  tunable_style style = tunable_style::assignment;
  std::size_t file = 0;    ///< index of the program's file
  int line = 0;            ///< 1-based
  int column = 0;          ///< column of the literal's first character, 1-based, in bytes
  std::size_t offset = 0;  ///< offset of the literal in the file's text, in bytes; its length is value.size()
};

/// A `require` annotation: a condition that the values of the tunables must satisfy together.
struct requirement {
  expression condition;  ///< satisfied if its value is not 0
  std::size_t file = 0;  ///< index of the program's file
  int line = 0;          ///< 1-based
};

/// The lines between `begin NAME` and `end NAME`.
struct source_region {
  std::string name;
  std::size_t file = 0;
  int begin_line = 0;      ///< the line of the begin comment, 1-based
  int end_line = 0;        ///< the line of the end comment
  std::size_t offset = 0;  ///< offset of the first byte after the line of the begin comment
  std::size_t length = 0;  ///< number of bytes from `offset` to the line of the end comment
};

/// An annotation that says how a CUDA kernel is launched (docs/launch.md).
struct launch_directive {
  std::string word;  ///< its first word: "launch", "when", "for", "memset", "workspace" or "tensormap"
  std::string text;  ///< the whole directive, with `word`
  std::size_t file = 0;
  int line = 0;
  int column = 0;  ///< column of the first character of `text`, 1-based
};

/// One option of a `build` annotation, which sets how this program is compiled.
struct build_part {
  std::string name;     ///< name of the option
  std::string value;    ///< the literal as written; if it names a tunable, the value of that tunable
  std::string tunable;  ///< name of the tunable that determines the value; empty if there is none
  std::size_t file = 0;
  int line = 0;
  int column = 0;  ///< column of the first character of the value, 1-based
};

/// All annotations of a source, each kind in file order.
struct annotations {
  std::vector<tunable> tunables;
  std::vector<requirement> requirements;
  std::vector<source_region> regions;
  std::vector<launch_directive> directives;
  /// At most one entry for each option; the compilers check the names of the options.
  std::vector<build_part> build;

  /// The tunable with this name; null if there is none.
  const tunable* find_tunable(std::string_view name) const {
    for (const auto& t : tunables) {
      if (t.name == name) return &t;
    }
    return nullptr;
  }
  /// The region with this name; null if there is none.
  const source_region* find_region(std::string_view name) const {
    for (const auto& r : regions) {
      if (r.name == name) return &r;
    }
    return nullptr;
  }
};

}  // namespace kevo
