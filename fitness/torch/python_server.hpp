#pragma once
// A Python process in the sandbox that has imported PyTorch, and forks a process for every program: importing
// takes seconds, a fork milliseconds.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <boost/json.hpp>

#include "fitness/build/python_packages.hpp"
#include "fitness/process/forked_process.hpp"
#include "fitness/process/process.hpp"
#include "fitness/worker/call_chain.hpp"

namespace kevo::torch {

/// Finds a Python with PyTorch, as `find_python` does. scripts/setup.sh --torch makes one in build/torch.
/// @throws kevo::error (environment)
python_tools find_torch(const std::string& configured, bool contained);

/// What the server says of its PyTorch.
struct torch_facts {
  std::string version;     ///< "2.11.0+cu130"
  std::string capability;  ///< vector instructions that it uses: "AVX2"
  /// Whether the kernel lets this process read the memory of those that the server forks.
  bool readable = false;
  /// Whether each process that it forks has a /tmp of its own; otherwise it can write nowhere.
  bool own_files = false;
};

/// The device that the processes of a server may use; without one they see none.
struct python_device {
  std::string visible;                 ///< for CUDA_VISIBLE_DEVICES
  std::vector<std::string> libraries;  ///< the driver's, by path
  std::vector<std::string> nodes;      ///< device nodes
  /// Room for files in a /tmp that all processes of the server share; 0: each has a small one of its own, if
  /// the system lets it. [bytes]
  std::uint64_t scratch_bytes = 0;
  bool pretended = false;  ///< there is none, and programs are only built for one (building_pass.hpp)
};

/// For processes that build ahead.
python_device pretended_device();

/// The warm process. It executes no program: a process that it has forked for one gives up its rights before
/// it does, shares no memory with it that could be written, and has no descriptor that leads to it. Started
/// when it is first needed. Thread-safe.
class python_server {
 public:
  /// @param helper path of kevo-worker-torch.so; empty: found (own_program.hpp)
  python_server(python_tools tools, sandbox_mode sandbox, std::string helper = {},
                std::optional<python_device> device = {});
  python_server(const python_server&) = delete;
  python_server& operator=(const python_server&) = delete;
  ~python_server();

  /// Forks a process that begins with this job (see kevo_torch.py). The descriptors stay the caller's; the
  /// process has copies. For the first job that is `true` under "models" or "inductor", the server imports
  /// transformers or the parts of PyTorch that compile, which takes seconds.
  /// @throws kevo::error (environment) if the server cannot be started or has ended
  forked_process start(const boost::json::object& job, const std::vector<int>& descriptors);

  /// @throws kevo::error (environment) if the server cannot be started
  const torch_facts& facts();
  /// Where the processes that it forks wait for calls. @throws kevo::error (environment) as `facts`
  std::shared_ptr<known_chain> chain();
  const python_tools& tools() const;
  /// A folder of the host that its processes see as /kevo/modules: a compile_server leaves there what they
  /// load. They can read what they know the name of, and not list it. @throws kevo::error (environment)
  std::string modules();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

/// The text of kevo_torch.py.
std::string_view torch_script();

}  // namespace kevo::torch
