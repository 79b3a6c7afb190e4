#pragma once
// Whether two builds gave the same object, byte for byte: programs that differ only in what the compiler
// removes.

#include <string>

namespace kevo {

/// Whether both files can be read and have the same bytes.
bool same_object(const std::string& path, const std::string& other);

}  // namespace kevo
