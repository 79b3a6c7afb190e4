#pragma once
// Which shared libraries a trusted object needs at run time, so that exactly they are mounted for it.

#include <string>
#include <vector>

namespace kevo {

/// Names in the DT_NEEDED entries of an ELF64 file; empty if it is none. @throws kevo::error (environment) if
/// unreadable
std::vector<std::string> needed_libraries(const std::string& object);

/// All libraries that a trusted object needs, directly or not, by file name, where this machine's loader
/// finds them.
std::vector<std::string> library_closure(const std::string& object);

}  // namespace kevo
