#pragma once
// What a built object says of itself: measures for archives.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "fitness/build/running_builds.hpp"
#include "fitness/process/process.hpp"

namespace kevo {

/// Measures of a shared object: `code_bytes` (.text), `object_bytes` (the file), and from the disassembly of
/// its own functions `instructions`, `vector_instructions` (packed xmm, ymm, zmm), `vector_fraction` (their
/// share, 0 to 1), `fma_instructions`. Those of the disassembly are missing where there is no objdump.
/// Functions whose name begins with `ignored_prefix` (the trusted entry) are not counted. `objdump` runs in
/// the sandbox, for it reads what a candidate made.
/// @throws kevo::error (environment) if the file cannot be read or is no ELF64 file
std::map<std::string, double> measures_of_object(const std::string& path,
                                                 sandbox_mode sandbox = sandbox_mode::required,
                                                 std::string_view ignored_prefix = "kevo_",
                                                 running_builds* pausable = nullptr);

/// Counts in the text of `objdump -d --no-show-raw-insn` (x86-64): instructions, vector_instructions,
/// vector_fraction, fma_instructions. Linear in its length.
std::map<std::string, double> count_instructions(std::string_view disassembly,
                                                 std::string_view ignored_prefix = "kevo_");

/// Whether an instruction of x86-64, in AT&T's words, works on several values at once.
bool is_vector_instruction(std::string_view mnemonic, std::string_view operands);

/// The text of `objdump -d --no-show-raw-insn -w` of an object, made in the sandbox, for it reads what a
/// candidate made; empty where there is no objdump or it fails.
std::string disassembly_of(const std::string& path, sandbox_mode sandbox, running_builds* pausable = nullptr);

/// Size of the .text section of an ELF64 file held in memory. @throws kevo::error (input) if it is malformed
std::uint64_t text_bytes_of_elf(std::string_view file);

}  // namespace kevo
