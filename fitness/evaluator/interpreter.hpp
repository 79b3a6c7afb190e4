#pragma once
// A Python that a user names, and what it needs in a sandbox.

#include <string>
#include <vector>

namespace kevo {

/// An interpreter as it was named: a link in a virtual environment is not followed, for that is how the
/// environment is found.
struct python_interpreter {
  std::string path;                   ///< absolute
  std::string environment;            ///< folder of the virtual environment; empty if there is none
  std::vector<std::string> prefixes;  ///< folders of its modules that are not the system's software
};

/// Asks an interpreter where its modules are.
/// @throws kevo::error (environment) if there is none, or if it does not run
python_interpreter find_interpreter(const std::string& named);

}  // namespace kevo
