#pragma once
// What a program's function is called by. It is compiled apart from the program, which so is compiled as by
// its user, and learns nothing of it.

#include <string>

namespace kevo {

/// All trusted text.
struct program_entry {
  std::string function;  ///< "run": what the program has to define
  /// Compiled behind the program's main file, so that another type of the function is an error there. One
  /// line ends with "// what the task calls".
  std::string declaration;
  /// A source of its own: declares the function and defines `kevo_call`, which calls it. That name is
  /// replaced by one that is drawn for each build, so that no program can define it or refer to it.
  std::string text;

  bool empty() const { return text.empty(); }
};

}  // namespace kevo
