#pragma once
// A Python process in the sandbox that has imported PyTorch, and forks a process for every program: importing
// takes seconds, a fork milliseconds.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fitness/build/python_packages.hpp"
#include "fitness/process/forked_process.hpp"
#include "fitness/process/process.hpp"

namespace kevo::torch {

/// Finds a Python with PyTorch, as `find_python` does. scripts/setup.sh --torch makes one in build/torch.
/// @throws kevo::error (environment)
python_tools find_torch(const std::string& configured, bool contained);

/// What the server says of its PyTorch.
struct torch_facts {
  std::string version;     ///< "2.11.0+cu130"
  std::string capability;  ///< vector instructions that it uses: "AVX2"
};

/// The warm process. It executes no program: a process that it has forked for one gives up its rights before
/// it does, shares no memory with it that could be written, and has no descriptor that leads to it. Started
/// when it is first needed. Thread-safe.
class python_server {
 public:
  /// @param helper path of kevo-worker-torch.so; empty: found (own_program.hpp)
  python_server(python_tools tools, sandbox_mode sandbox, std::string helper = {});
  python_server(const python_server&) = delete;
  python_server& operator=(const python_server&) = delete;
  ~python_server();

  /// Forks a process that begins with this job (see kevo_torch.py). The descriptors stay the caller's; the
  /// process has copies.
  /// @throws kevo::error (environment) if the server cannot be started or has ended
  forked_process start(const std::string& job, const std::vector<int>& descriptors);

  /// @throws kevo::error (environment) if the server cannot be started
  const torch_facts& facts();
  const python_tools& tools() const;

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The text of kevo_torch.py.
std::string_view torch_script();

}  // namespace kevo::torch
