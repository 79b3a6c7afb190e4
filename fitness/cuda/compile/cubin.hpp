#pragma once
// What a cubin (an ELF image of device code) and the assembler's log say of kernels and variables.

#include <string>
#include <string_view>
#include <vector>

#include "fitness/cuda/wire/module.hpp"

namespace kevo::cuda {

/// What an image holds.
struct cubin_contents {
  std::vector<compiled_kernel> kernels;  ///< by symbol, `name` empty; figures of the log left out
  std::vector<module_global> globals;    ///< all variables of the module, by section and offset
  std::vector<std::string> managed;      ///< symbols of variables that host and device share
  std::vector<std::string> external;     ///< functions that the driver provides: "malloc", "vprintf", ...
};

/// Reads the sections .symtab, .text.*, .nv.info*, .nv.global*, .nv.constant*. Linear in the image's size.
/// @throws kevo::error (input) if it is no cubin or damaged: every offset is checked
cubin_contents read_cubin(std::string_view image);

/// Adds what `ptxas -v` says of each kernel: stack, spills, shared and constant memory, barriers.
void add_assembler_figures(std::string_view log, std::vector<compiled_kernel>& kernels);

/// Types of the parameters of a mangled C++ name; empty if it is none ("extern C") or cannot be read.
std::vector<std::string> parameter_types(const std::string& mangled);

/// Words that occur once in the whole text of PTX code, outside of functions, sorted: a variable of that name
/// is declared and never used. Headers bring hundreds of such constants.
/// O(size of the text, times the logarithm of the number of its words).
std::vector<std::string> unused_words(std::string_view ptx);

/// A readable form of a mangled name.
std::string readable(const std::string& symbol);

}  // namespace kevo::cuda
