#pragma once
// The loops in machine code, from its disassembly: what a reader of a kernel looks for first.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kevo {

/// An innermost loop: what lies between a jump backwards and its target.
struct machine_loop {
  std::string function;
  int depth = 1;                   ///< how many loops it lies in, itself included
  std::vector<std::string> lines;  ///< "vmovups (%rdi,%rax,1),%ymm0", in order; the last one is the jump
  /// Values that are added, multiplied, compared in size, ... in a turn.
  std::size_t arithmetic = 0;
  // Of its instructions, how many
  std::size_t wide = 0;     ///< use zmm registers
  std::size_t middle = 0;   ///< use ymm registers
  std::size_t narrow = 0;   ///< work on several values in xmm registers
  std::size_t fma = 0;      ///< are multiply-adds
  std::size_t loads = 0;    ///< read memory that is not the stack
  std::size_t stores = 0;   ///< write memory that is not the stack
  std::size_t reloads = 0;  ///< read the stack: spilled registers, mostly
  std::size_t spills = 0;   ///< write the stack
  std::size_t slow = 0;     ///< divide, take a root, gather or scatter
  std::size_t calls = 0;    ///< call a function
};

/// The innermost loops of a text of `objdump -d --no-show-raw-insn -w` (x86-64), those first whose
/// instructions compute most, on average. Functions whose name begins with `ignored_prefix`, or does not
/// contain `function`, are left out.
std::vector<machine_loop> innermost_loops(std::string_view disassembly, std::string_view function = {},
                                          std::string_view ignored_prefix = "kevo_");

/// A loop in words, with at most `most_lines` of its instructions.
std::string describe(const machine_loop& loop, std::size_t most_lines);

/// The loop as a block that llvm-mca reads: its instructions without the targets of jumps and calls.
std::string block_of(const machine_loop& loop);

}  // namespace kevo
