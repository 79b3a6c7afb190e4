#pragma once
// Where a function lies in an object file.

#include <cstdint>
#include <optional>
#include <string>

namespace kevo::bundle {

/// The value of a symbol in an ELF64 file; nothing if there is none.
/// @param bytes of the file, which may be anything
std::optional<std::uint64_t> symbol_address(const std::string& bytes, const std::string& symbol);

}  // namespace kevo::bundle
