#pragma once
// Whether two builds gave the same object: programs that differ only in what the compiler removes. The name
// of the entry differs between any two builds, but is not loaded.

#include <string>

namespace kevo {

/// Whether both files can be read and a loader takes the same from them.
bool same_object(const std::string& path, const std::string& other);

}  // namespace kevo
