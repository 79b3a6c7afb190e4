#pragma once
// Carrying out a resolved launch plan on this process's context. The worker runs candidates with it and the
// trusted process the references, so that both launch alike.

#include <cstddef>
#include <deque>
#include <span>
#include <string>
#include <vector>

#include "fitness/cuda/driver/driver.hpp"
#include "fitness/cuda/wire/module.hpp"
#include "fitness/cuda/wire/plan.hpp"

namespace kevo::cuda {

/// A driver call that failed: its code and what was tried.
struct driver_failure {
  driver_code code = success;
  std::string what;
  explicit operator bool() const { return code != success; }
};

/// A piece of memory.
struct placed_bytes {
  address at = 0;
  std::uint64_t bytes = 0;
};
/// Where a section of a module's globals lies.
struct placed_globals {
  placed_bytes whole;  ///< of no bytes where its variables do not lie as the cubin has them
  /// From the lowest to the highest variable that the driver finds; of no bytes if they lie far apart.
  placed_bytes between;
  std::vector<placed_bytes> pieces;  ///< those of its variables that the driver finds by name
  bool all_found = true;
};

/// A module in this process's context, with its kernels in the order of `compiled_module::kernels`.
/// Move-only; the destructor unloads it.
class loaded_module {
 public:
  loaded_module() = default;
  loaded_module(loaded_module&& other) noexcept;
  loaded_module& operator=(loaded_module&& other) noexcept;
  loaded_module(const loaded_module&) = delete;
  loaded_module& operator=(const loaded_module&) = delete;
  ~loaded_module();

  /// Loads the images, every kernel eagerly.
  driver_failure load(const driver& d, const compiled_module& from);
  function kernel(std::size_t index) const { return kernels_[index]; }
  std::size_t size() const { return kernels_.size(); }
  /// The sections of its globals.
  const std::vector<placed_globals>& globals() const { return globals_; }
  /// The kernel of that name. @throws kevo::error (internal) if there is none
  function find(const compiled_module& from, const std::string& name) const;

 private:
  driver_failure find_globals(const driver& d, const compiled_module& from);

  const driver* driver_ = nullptr;
  std::vector<module_handle> handles_;  // of its images
  std::vector<function> kernels_;
  std::vector<placed_globals> globals_;
};

/// A plan with every argument in place, for buffers at given addresses. Not copyable: launches point into it.
class prepared_plan {
 public:
  prepared_plan() = default;
  prepared_plan(const prepared_plan&) = delete;
  prepared_plan& operator=(const prepared_plan&) = delete;
  prepared_plan(prepared_plan&&) noexcept = default;
  prepared_plan& operator=(prepared_plan&&) noexcept = default;

  /// Checks the plan against the module and sets the attributes of its kernels. `buffers` are the addresses
  /// of inputs, outputs and workspaces, in the plan's numbering.
  driver_failure prepare(const driver& d, const loaded_module& code, const plan& p,
                         std::span<const address> buffers);
  /// Puts every step on the stream (or into the graph that is being captured from it). What comes behind it
  /// on the stream waits for all of them, however they overlap among each other.
  driver_failure enqueue(const driver& d, stream on);

 private:
  struct launch_state {
    function kernel = nullptr;
    launch_configuration how;
    std::vector<launch_attribute> attributes;
    std::vector<void*> arguments;
    event overlapped = nullptr;  // its end, where the next launch may begin before; not owned
  };
  struct set_state {
    address target = 0;
    unsigned char value = 0;
    std::size_t bytes = 0;
  };
  using step = std::variant<launch_state, set_state>;
  std::deque<tensor_map_bytes> values_;  // storage of every argument; addresses stay
  std::vector<step> steps_;
  std::vector<event> events_;  // of the process; plans that are made anew use them again
};

}  // namespace kevo::cuda
