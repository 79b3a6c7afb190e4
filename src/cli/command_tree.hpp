#pragma once
// The verbs of the program and their options as plain structs, read from what parses the command line. The
// manual page and the completions of shells are written from it, so that they cannot differ from --help.

#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kevo::cli {

/// An option ("--set") or a positional argument ("task") of a verb.
struct option_description {
  std::vector<std::string> names;  ///< as typed: "-h", "--help"; of a positional argument its name
  std::string value;               ///< kind of its value ("TEXT"); empty for a flag
  std::string description;
  bool positional = false;
  bool required = false;
  bool repeats = false;  ///< takes several values
};

/// A verb; the program itself is the root, whose name is "kevo".
struct verb_description {
  std::string name;
  std::string description;
  std::vector<option_description> options;  ///< in the order of --help, positional arguments first
  std::vector<verb_description> verbs;
};

/// Reads a parser and all its subcommands.
verb_description describe(const CLI::App& program);

}  // namespace kevo::cli
