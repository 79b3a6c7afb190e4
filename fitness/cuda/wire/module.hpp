#pragma once
// What the compile stage makes of a candidate's device code: a cubin and what is known of it. Found in the
// cubin itself (ELF) and in the assembler's log; no GPU is needed.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kevo::cuda {

/// One parameter of a kernel.
struct kernel_parameter {
  std::uint32_t offset = 0;  ///< in the parameter buffer [bytes]
  std::uint32_t size = 0;    ///< [bytes]
  std::string type;          ///< as the compiler spells it: "float const*"; empty for extern "C" kernels
  friend bool operator==(const kernel_parameter&, const kernel_parameter&) = default;
};

/// What the compiler decides of a kernel's launch, where launch lines do not: Triton's kernels.
struct decided_launch {
  /// Which of the line's arguments by position the kernel takes, in its order; the compiler has put in the
  /// others, whose values it knows. Two pointers follow: to scratch memory, and one that is not used.
  std::vector<std::uint32_t> arguments;
  std::uint32_t threads = 0;               ///< a block
  std::uint32_t dynamic_shared_bytes = 0;  ///< a block
  std::uint32_t cluster_blocks = 1;
  bool cooperative = false;
  std::uint64_t scratch_bytes = 0;                ///< global memory that a block of the grid needs
  std::uint64_t scratch_align = 1;                ///< [bytes]
  std::map<std::string, std::int64_t> constants;  ///< values of the parameters that are constants, by name
  friend bool operator==(const decided_launch&, const decided_launch&) = default;
};

/// One kernel (a __global__ function) of a module.
struct compiled_kernel {
  std::string name;     ///< as launch lines write it, template arguments included: "matmul<64, float>"
  std::string mangled;  ///< its symbol in the cubin
  std::vector<kernel_parameter> parameters;  ///< in the order of declaration
  std::uint32_t registers = 0;               ///< a thread
  std::uint32_t spill_stores = 0;            ///< [bytes] a thread
  std::uint32_t spill_loads = 0;             ///< [bytes] a thread
  std::uint32_t stack_bytes = 0;             ///< [bytes] a thread, local arrays and spills
  std::uint32_t static_shared_bytes = 0;     ///< [bytes] a block
  std::uint32_t constant_bytes = 0;          ///< [bytes] of its own constant bank, parameters included
  std::uint32_t max_threads = 0;             ///< a block, from __launch_bounds__; 0: not stated
  std::uint32_t barriers = 0;                ///< named barriers in use
  std::uint64_t code_bytes = 0;              ///< size of its machine code
  std::uint32_t image = 0;                   ///< in compiled_module::images
  bool hidden = false;                       ///< only hidden workloads launch it: nobody is told of it
  std::optional<decided_launch> decided;     ///< nothing: launch lines say all
  friend bool operator==(const compiled_kernel&, const compiled_kernel&) = default;
};

/// A module-scope variable that kernels use, in writable or constant memory: compilers' tables and the
/// program's own. Its initial content is to be restored before each call, so that nothing survives one.
struct module_global {
  std::string symbol;       ///< as the cubin names it, for cuModuleGetGlobal
  std::uint64_t bytes = 0;  ///< its own size
  /// The section of the cubin that it lies in: ".nv.global" (zeros at the start), ".nv.global.init" or
  /// ".nv.constant3". A loaded section is one piece of memory that begins at the address of any of its
  /// symbols less the symbol's offset. Restoring whole sections covers symbols that the driver does not
  /// find by name, and the gaps between symbols, in which device code could keep state, too.
  std::string section;
  std::uint64_t offset = 0;         ///< in its section [bytes]
  std::uint64_t section_bytes = 0;  ///< size of the whole section
  std::uint32_t image = 0;          ///< in compiled_module::images
  friend bool operator==(const module_global&, const module_global&) = default;
};

/// A compiled candidate. A value.
struct compiled_module {
  std::string architecture;              ///< "sm_90a"
  std::vector<std::string> images;       ///< cubins (ELF), for cuModuleLoadData: one, or one a Triton kernel
  std::vector<compiled_kernel> kernels;  ///< those that launch lines name first, in order of first mention
  std::vector<std::string> lasting;      ///< state outside of `globals` that outlives a launch: the device's
                                         ///< heap ("malloc()"), managed variables; refused unless allowed
  std::vector<module_global> globals;    ///< by image, section and offset; empty if no kernel uses any
  std::string log;                       ///< of compiler and assembler: warnings, resources

  friend bool operator==(const compiled_module&, const compiled_module&) = default;
};

/// A module as bytes, for another process of this machine or a cache. O(size).
std::string encode(const compiled_module& m);

/// The inverse. @throws kevo::error (internal) unless `bytes` are exactly what `encode` makes
compiled_module decode_module(std::string_view bytes);

}  // namespace kevo::cuda
