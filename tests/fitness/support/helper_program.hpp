#pragma once
// A small program that does what a sandboxed process must not manage to do, and says how far it came. Built
// once for each test program.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <stdexcept>
#include <string>

#include "fitness/process/process.hpp"
#include "fitness/sandbox/sandbox.hpp"

namespace kevo::test {

inline const char* helper_source = R"(
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <thread>
#include <vector>
#include <fcntl.h>
#include <dirent.h>
#include <linux/perf_event.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
static void say(const char* name, long result) { std::printf("%s %s\n", name, result < 0 ? std::strerror(errno) : "allowed"); }
int main(int argc, char** argv) {
  const std::string mode = argc > 1 ? argv[1] : "";
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  if (mode == "forbidden") {
    say("socket", socket(AF_INET, SOCK_STREAM, 0));
    say("ptrace", ptrace(PTRACE_TRACEME, 0, 0, 0));
    say("mount", mount("none", "/tmp", "tmpfs", 0, nullptr));
    say("unshare", syscall(SYS_unshare, 0x10000000));
    say("clone", syscall(SYS_clone, 0x10000000 | SIGCHLD, 0, 0, 0, 0));
    say("bpf", syscall(SYS_bpf, 0, nullptr, 0));
    say("keyctl", syscall(SYS_keyctl, 0, 0, 0, 0, 0));
    say("userfaultfd", syscall(SYS_userfaultfd, 0));
    perf_event_attr attributes{}; attributes.size = sizeof attributes;
    say("perf_event_open", syscall(SYS_perf_event_open, &attributes, 0, -1, -1, 0));
    say("io_uring_setup", syscall(SYS_io_uring_setup, 1, nullptr));
    say("process_vm_readv", syscall(SYS_process_vm_readv, getpid(), nullptr, 0, nullptr, 0, 0));
  } else if (mode == "fork_bomb") {
    int made = 0;
    for (int i = 0; i < 200; ++i) {
      const pid_t child = fork();
      if (child == 0) { pause(); _exit(0); }
      if (child < 0) break;
      ++made;
    }
    std::printf("%d\n", made);
    for (;;) pause();
  } else if (mode == "descriptors") {
    for (int fd = 0; fd < 256; ++fd) if (fcntl(fd, F_GETFD) >= 0) std::printf("%d ", fd);
  } else if (mode == "memory") {
    std::size_t megabytes = 0;
    for (; megabytes < 4096; ++megabytes) {
      void* p = mmap(nullptr, 1 << 20, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
      if (p == MAP_FAILED) break;
    }
    std::printf("%zu\n", megabytes);
  } else if (mode == "count") {  // several processes and threads count in the shared memory of descriptor 5
    const int processes = std::atoi(argv[2]), threads = std::atoi(argv[3]);
    auto* counters = static_cast<volatile std::uint64_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 5, 0));
    for (int p = 1; p < processes; ++p) {
      if (fork() == 0) {
        if (p % 2) setsid();
        for (;;) { counters[p] = counters[p] + 1; }
      }
    }
    std::vector<std::thread> running;
    for (int t = 1; t < threads; ++t) running.emplace_back([=] { for (;;) counters[64 + t] = counters[64 + t] + 1; });
    for (;;) counters[0] = counters[0] + 1;
  } else if (mode == "spawn_forever") {  // each step is a new process; counts in descriptor 5
    auto* counters = static_cast<volatile std::uint64_t*>(mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, 5, 0));
    for (;;) {
      const pid_t child = vfork();
      if (child == 0) { execl("/usr/bin/true", "true", nullptr); _exit(1); }
      counters[0] = counters[0] + 1;
      if (child > 0) waitpid(child, nullptr, 0);
    }
  } else if (mode == "grandchild") {  // a daemon that holds standard output
    if (fork() == 0) {
      setsid();
      if (fork() == 0) { signal(SIGTERM, SIG_IGN); for (;;) pause(); }
      _exit(0);
    }
    wait(nullptr);
    if (argc > 2) { for (;;) pause(); }
  } else if (mode == "stubborn") {
    for (int s = 1; s < 32; ++s) signal(s, SIG_IGN);
    std::puts("ready");
    for (;;) pause();
  } else if (mode == "flood") {
    const std::string line(4096, 'x');
    for (;;) if (write(argc > 2 ? 2 : 1, line.data(), line.size()) < 0) return 1;
  } else if (mode == "big_file") {
    const int fd = open(argv[2], O_CREAT | O_WRONLY, 0600);
    const std::string block(1 << 16, 'x');
    long total = 0;
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 4096; ++i) { const long n = write(fd, block.data(), block.size()); if (n <= 0) break; total += n; }
    std::printf("%ld\n", total);
  } else if (mode == "list") {
    if (DIR* folder = opendir(argv[2])) { while (auto* e = readdir(folder)) std::printf("%s\n", e->d_name); } else std::puts(std::strerror(errno));
  } else if (mode == "spin") {
    for (volatile long i = 0;; i = i + 1) {}
  } else if (mode == "segv") {
    raise(SIGSEGV);
    *static_cast<volatile int*>(nullptr) = 1;
  } else if (mode == "affinity") {
    cpu_set_t set; sched_getaffinity(0, sizeof set, &set); std::printf("%d\n", CPU_COUNT(&set));
  } else if (mode == "identity") {
    char name[64]; gethostname(name, 64); std::printf("%d %d %s\n", int(getuid()), int(getpid()), name);
    setpriority(PRIO_PROCESS, 0, 0);
  }
  return 0;
}
)";

/// Host path of the helper program.
inline const std::string& helper_program() {
  static const std::string path = [] {
    // Not a scratch_folder: it must live to the end, and others must be able to read it.
    std::string folder = "/tmp/kevo-test-XXXXXX";
    if (::mkdtemp(folder.data()) == nullptr) throw std::runtime_error("mkdtemp");
    static const struct remover {
      std::string path;
      ~remover() { std::filesystem::remove_all(path); }
    } at_end{folder};
    ::chmod(folder.c_str(), 0755);
    std::ofstream(folder + "/helper.cpp") << "#include <string>\n" << helper_source;
    launch_spec spec;
    spec.argv = {"/usr/bin/g++",     "-std=c++17",          "-O0", "-w", "-static", "-pthread", "-o",
                 folder + "/helper", folder + "/helper.cpp"};
    spec.environment = {"PATH=/usr/bin:/bin"};
    spec.sandbox = sandbox_mode::off;
    const auto report = run(spec);
    if (!report.ok()) throw std::runtime_error("cannot build the helper: " + report.err);
    return folder + "/helper";
  }();
  return path;
}

/// The helper in the sandbox (or not), with nothing else of the host but `mounts`.
inline launch_spec helper_spec(std::vector<std::string> arguments,
                               sandbox_mode mode = sandbox_mode::required) {
  launch_spec spec;
  spec.argv = {"/helper"};
  spec.argv.insert(spec.argv.end(), arguments.begin(), arguments.end());
  spec.mounts = {{helper_program(), "/helper"}};
  spec.limits.wall_s = 20;
  spec.sandbox = mode;
  return spec;
}

}  // namespace kevo::test
