#include "fitness/torch/python_server.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <boost/json.hpp>

#include <kevo/error.hpp>

#include "fitness/process/own_program.hpp"
#include "fitness/process/read_memory.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/torch/module_folder.hpp"
#include "fitness/torch/python_spec.hpp"
#include "src/base/json/exact_parse.hpp"
#include "src/base/process/descriptor.hpp"
#include "src/base/process/memory_file.hpp"
#include "src/base/process/pipe.hpp"

namespace kevo::torch {
namespace {

constexpr const char* helper_inside = "/kevo/kevo-worker-torch.so";
constexpr int most_files_with_device = 4096;     // a driver opens hundreds
constexpr std::uint64_t own_bytes = 16U << 20U;  // of the /tmp of a process
constexpr int longest_import_ms = 120'000;
constexpr int longest_fork_ms = 20'000;

[[noreturn]] void fail(const std::string& what, const std::string& said = {}) {
  throw error(
      error_code::environment, what + (said.empty() ? "" : ": " + said), {},
      "try `kevo doctor`, and python3 -c 'import torch' with the Python and the packages that it names");
}

launch_spec spec_of(const python_tools& tools, sandbox_mode sandbox, const std::string& helper, int socket,
                    const std::optional<python_device>& device, const std::string& modules) {
  const bool on_device = device && !device->pretended;
  const bool owns_files = contains(sandbox) && (!on_device || device->scratch_bytes == 0);
  auto spec = python_spec(tools, sandbox, torch_script(),
                          {"serve", helper_inside,
                           !device             ? "none"
                           : device->pretended ? "ahead"
                                               : "device",
                           owns_files ? std::to_string(own_bytes) : "0", tools.packages},
                          socket);
  if (owns_files) spec.policy = syscall_policy::forker;
  spec.mounts.push_back({helper, helper_inside});
  spec.mounts.push_back({modules, "/kevo/modules"});
  if (!device) {
    // Without it PyTorch takes the processor for one without vector instructions.
    spec.mounts.push_back({"/proc/cpuinfo", "/proc/cpuinfo", false, true});
    // NumPy, with which Triton's interpreter computes products, would start threads in a forked process that
    // may not start any, and wait for them for ever. Freed memory is always used again and never given back
    // to the kernel, in one heap, for tensors of every size (a threshold for mappings of their own may be 32
    // MiB at most): a call does not pay for new pages, which by default the layout of the heap would decide,
    // nor is anything gained by a program that arranges for this itself.
    for (const char* one :
         {"CUDA_VISIBLE_DEVICES=", "TRITON_INTERPRET=1", "OPENBLAS_NUM_THREADS=1", "MALLOC_MMAP_MAX_=0",
          "MALLOC_TRIM_THRESHOLD_=1099511627776", "MALLOC_ARENA_MAX=1"})
      spec.environment.emplace_back(one);
    return spec;
  }
  const auto places = mount_libraries(spec, device->libraries);
  for (const auto& one :
       {"LD_LIBRARY_PATH=" + places, "TRITON_LIBCUDA_PATH=" + places,
        "CUDA_VISIBLE_DEVICES=" + device->visible, std::string("CUDA_MODULE_LOADING=LAZY"),
        std::string("CUDA_CACHE_DISABLE=1"), std::string("USER=kevo"),
        std::string("TORCHINDUCTOR_CACHE_DIR=/tmp/inductor"), std::string("TORCHINDUCTOR_COMPILE_THREADS=1")})
    spec.environment.push_back(one);
  // Where a process mounts its own; without one it must not write to that of all.
  if (owns_files && on_device)
    spec.parts = {{folder_part::kind::names, "/tmp"}, {folder_part::kind::sealed, "/tmp"}};
  spec.devices = device->nodes;
  spec.own_proc = true;  // the driver does not start without
  spec.limits.scratch_bytes = device->scratch_bytes;
  spec.limits.open_files = most_files_with_device;
  return spec;
}

void wait_readable(int socket, int limit_ms, const char* what) {
  pollfd poll = {socket, POLLIN, 0};
  for (;;) {
    const int ready = ::poll(&poll, 1, limit_ms);
    if (ready == 1) return;
    if (ready < 0 && errno == EINTR) continue;
    fail(std::string("the Python process of the torch backend does not ") + what);
  }
}

constexpr std::size_t most_descriptors = 6;

// A byte with descriptors. The job itself is in one of them, so that the process that forks never reads it:
// those that it forks later would find what is left of it in their copies of its memory.
bool send_request(int socket, char request, const std::vector<int>& descriptors) {
  iovec part = {&request, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(most_descriptors * sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = CMSG_SPACE(descriptors.size() * sizeof(int));
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(descriptors.size() * sizeof(int));
  std::memcpy(CMSG_DATA(rights), descriptors.data(), descriptors.size() * sizeof(int));
  return ::sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

// What the server imports before it forks, as kevo_torch.py numbers it.
char imports_of(const boost::json::object& job) {
  const auto says = [&job](const char* key) {
    const auto* value = job.if_contains(key);
    return value != nullptr && value->as_bool();
  };
  return static_cast<char>((says("models") ? 1 : 0) | (says("inductor") ? 2 : 0));
}

// The forked process sends one byte; the kernel says whose it is, as this process counts processes.
pid_t receive_process(int socket) {
  char byte = 0;
  iovec part = {&byte, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(ucred))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  if (::recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1) return -1;
  for (cmsghdr* one = CMSG_FIRSTHDR(&message); one != nullptr; one = CMSG_NXTHDR(&message, one)) {
    if (one->cmsg_level != SOL_SOCKET || one->cmsg_type != SCM_CREDENTIALS) continue;
    ucred sender = {};
    std::memcpy(&sender, CMSG_DATA(one), sizeof sender);
    return sender.pid;
  }
  return -1;
}

}  // namespace

struct python_server::state {
  python_tools tools;
  sandbox_mode sandbox;
  std::string helper;
  std::optional<python_device> device;
  std::mutex mutex;
  child_process process;
  detail::descriptor socket;
  torch_facts facts;
  std::shared_ptr<known_chain> chain;

  std::optional<module_folder> modules;

  const std::string& folder() {
    if (!modules) modules.emplace(sandbox != sandbox_mode::off);
    return modules->path();
  }
  void start_server();
  forked_process fork(const boost::json::object& job, const std::vector<int>& descriptors);
  void require_server() {
    if (!process || process.try_wait()) start_server();
  }
};

void python_server::state::start_server() {
  if (chain) chain->retire();
  chain = std::make_shared<known_chain>("kevo-worker-torch.so");
  if (helper.empty()) helper = own_program("kevo-worker-torch.so", "KEVO_WORKER_TORCH");
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    fail("cannot make a socket", std::strerror(errno));
  socket = detail::descriptor(ends[0]);
  detail::descriptor theirs(ends[1]);
  process = launch(spec_of(tools, sandbox, helper, theirs.get(), device, folder()));
  theirs.reset();
  std::string line;
  for (;;) {
    wait_readable(socket.get(), longest_import_ms, "answer");
    char byte = 0;
    if (::read(socket.get(), &byte, 1) != 1) {
      process.kill();
      const auto report = process.wait();
      std::string said = report.err;
      if (said.size() > 1500) said = "... " + said.substr(said.size() - 1500);
      fail("PyTorch cannot be imported in the sandbox", describe(report) + "; " + said);
    }
    if (byte == '\n') break;
    line += byte;
  }
  const auto said = parse_json_exactly(line).as_object();
  facts.version = said.at("torch").as_string();
  facts.capability = said.at("capability").as_string();
  facts.own_files = said.at("own_files").as_bool();
  const int on = 1;  // from now on: a line read in pieces has no sender
  ::setsockopt(socket.get(), SOL_SOCKET, SO_PASSCRED, &on, sizeof on);
  if (!device) facts.readable = may_read_memory(fork({{"role", "rest"}}, {}).inner_pid());
}

python_server::python_server(python_tools tools, sandbox_mode sandbox, std::string helper,
                             std::optional<python_device> device)
    : state_(std::make_unique<state>()) {
  state_->tools = std::move(tools);
  state_->sandbox = sandbox;
  state_->helper = std::move(helper);
  state_->device = std::move(device);
}
python_server::~python_server() = default;

forked_process python_server::state::fork(const boost::json::object& job,
                                          const std::vector<int>& descriptors) {
  const bool imports = imports_of(job) != 0;
  auto [told, tell] = detail::make_pipe(false);
  const auto text = detail::memory_file("kevo-job", boost::json::serialize(job));
  std::vector<int> all = {tell.get(), text.get()};
  all.insert(all.end(), descriptors.begin(), descriptors.end());
  if (all.size() > most_descriptors)
    throw error(error_code::internal, "too many descriptors for a process of Python");
  if (!send_request(socket.get(), imports_of(job), all))
    fail("the Python process of the torch backend has ended");
  wait_readable(socket.get(), imports ? longest_import_ms : longest_fork_ms, "fork");
  const pid_t child = receive_process(socket.get());
  if (child <= 0) fail("the Python process of the torch backend has ended");
  return {child, std::move(told)};
}

forked_process python_server::start(const boost::json::object& job, const std::vector<int>& descriptors) {
  const std::lock_guard lock(state_->mutex);
  state_->require_server();
  return state_->fork(job, descriptors);
}

const torch_facts& python_server::facts() {
  const std::lock_guard lock(state_->mutex);
  state_->require_server();
  return state_->facts;
}
std::shared_ptr<known_chain> python_server::chain() {
  const std::lock_guard lock(state_->mutex);
  state_->require_server();
  return state_->chain;
}
std::string python_server::modules() {
  const std::lock_guard lock(state_->mutex);
  return state_->folder();
}
const python_tools& python_server::tools() const {
  return state_->tools;
}

// PyTorch wants a folder for files where it imports what the device "meta" needs.
python_device pretended_device() {
  python_device made;
  made.scratch_bytes = 1U << 20U;
  made.pretended = true;
  return made;
}

python_tools find_torch(const std::string& configured, bool contained) {
  static const python_wish wish = {
      .package = "torch",
      .people_say = "PyTorch",
      .beside = {"torch", "python"},
      .check =
          "assert any(os.path.exists(os.path.join(os.path.dirname(origin), '_C' + end)) for end in "
          "importlib.machinery.EXTENSION_SUFFIXES)",
      .purpose = "which runs PyTorch programs",
      .hint =
          "run scripts/setup.sh --torch, or name a Python that has PyTorch (fitness.python, or the "
          "environment "
          "variable KEVO_PYTHON)"};
  return find_python(wish, configured, contained);
}

}  // namespace kevo::torch
