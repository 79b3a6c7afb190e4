#pragma once
// Where Python and its packages are: Triton and PyTorch, which programs of users are written for.

#include <string>
#include <vector>

#include "fitness/sandbox/sandbox.hpp"

namespace kevo {

/// A Python that has a package.
struct python_tools {
  std::string python;                ///< absolute path
  std::string packages;              ///< folder that contains the package
  std::vector<std::string> folders;  ///< of Python's own modules
  std::string version;               ///< of the package: "3.6.0"
};

/// What is looked for.
struct python_wish {
  std::string package;     ///< "torch"
  std::string people_say;  ///< "PyTorch": for messages
  std::vector<std::string>
      beside;         ///< folders of packages beside this program, or one or two folders above it: "python"
  std::string check;  ///< Python statements that fail where the package was made for another Python; `origin`
                      ///< is its file
  std::string purpose;  ///< "which compiles programs in Triton": for messages
  std::string hint;     ///< how to get it
};

/// Finds a Python that has the package. `configured`, else the environment variable KEVO_PYTHON, is a Python
/// or a folder of packages; else it is looked for in the folders beside this program, and in the packages of
/// python3 along PATH and of /usr/bin/python3. Asks each, which takes some 100 ms.
/// @param contained it is to run in the sandbox: if this process is root's, others must be able to read it
/// @throws kevo::error (environment) that names every place, if none has it
python_tools find_python(const python_wish& wish, const std::string& configured, bool contained);

/// What a sandbox must contain to run that Python with its package, all read-only.
std::vector<mount> mounts_of(const python_tools& tools);

}  // namespace kevo
