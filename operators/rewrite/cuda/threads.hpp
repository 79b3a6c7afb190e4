#pragma once
// What the threads of a kernel are for: variables that number the threads of the whole grid along an axis,
// and the test that lets threads without work go.

#include <optional>
#include <string>
#include <vector>

#include "operators/rewrite/action.hpp"
#include "operators/rewrite/cuda/launches.hpp"

namespace kevo::rewriting {

/// `const int m = blockIdx.y * BLOCK + threadIdx.y`, where each block covers BLOCK values, or with
/// `threadIdx.y * APART`.
struct thread_index {
  const node* statement = nullptr;  ///< the declaration
  const node* variable = nullptr;
  std::string name;
  long id = -1;
  char axis = 'x';
  std::string block;        ///< how many values a block covers, as it is written, without a suffix
  std::string apart = "1";  ///< what threadIdx is multiplied with
};

/// A kernel with its launch.
struct device_kernel {
  const node* function = nullptr;
  const node* body = nullptr;
  std::vector<launch_text> launches;  ///< of this kernel
  std::vector<thread_index> indices;
  std::size_t axis(char name) const { return static_cast<std::size_t>(name - 'x'); }
  /// How many threads a block has along an axis, as the first launch line has it.
  std::string threads(char name) const;
  const thread_index* index_of(long id) const;
};

/// All kernels that launch lines name, in the order of the text.
std::vector<device_kernel> device_kernels(const kernel& of);
/// The kernel of a site whose `at` is a function, or lies in one. Throws `refusal` if there is none.
device_kernel device_kernel_at(const kernel& of, const site& where);

/// How many threads a block has, as the first launch line has it: a product.
std::string threads_of_block(const device_kernel& one);

/// `if (m >= M || n >= N) return;`: for each index its bound.
struct thread_guard {
  const node* statement = nullptr;
  std::vector<std::pair<const thread_index*, std::string>> bounds;
};
std::optional<thread_guard> guard_of(const kernel& of, const device_kernel& one);

/// Adds a parameter behind the others, and its argument to each launch line.
void put_parameter(changes& all, const device_kernel& one, const std::string& parameter,
                   const std::string& argument);
/// The parameters, in their order.
std::vector<const node*> parameters_of(const device_kernel& one);
/// Whether the kernel, or a function of its source that it may call, shares memory or waits for other
/// threads.
bool threads_meet(const kernel& of);

/// The type of a device function's lines, "// ..." and a function, added at the top unless they are there.
void put_helper(changes& all, const kernel& of, std::string_view name, const std::string& text);

}  // namespace kevo::rewriting
