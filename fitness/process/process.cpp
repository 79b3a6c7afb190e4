#include "fitness/process/process.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <utility>

#include <kevo/error.hpp>

#include "fitness/process/launch.hpp"
#include "fitness/process/proc.hpp"
#include "fitness/process/supervisor.hpp"
#include "fitness/sandbox/bubblewrap.hpp"
#include "fitness/sandbox/filters.hpp"
#include "fitness/sandbox/sandbox.hpp"

namespace kevo {
namespace detail {
namespace {

struct pipe_ends {
  descriptor read;
  descriptor write;
};

[[noreturn]] void fail(const std::string& what) {
  throw error(error_code::environment, what + ": " + std::strerror(errno));
}

/// Our end does not block, theirs does.
pipe_ends make_pipe(bool ours_reads) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) fail("cannot make a pipe");
  pipe_ends result{descriptor(ends[0]), descriptor(ends[1])};
  if (ours_reads) ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return result;
}

descriptor input_of(const std::string& text) {
  if (text.empty()) {
    descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
    if (!nothing) fail("cannot open /dev/null");
    return nothing;
  }
  return memory_file("kevo-input", text);
}

std::uint64_t resident_bytes() {
  std::FILE* file = std::fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  unsigned long total = 0;
  unsigned long resident = 0;
  const int read = std::fscanf(file, "%lu %lu", &total, &resident);
  std::fclose(file);
  return read == 2 ? resident * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)) : 0;
}

std::vector<resource_limit> resource_limits(const process_limits& limits, rlim_t processes) {
  std::vector<resource_limit> result;
  const auto add = [&result](int resource, std::uint64_t value) {
    if (value > 0) result.push_back({resource, value, value});
  };
  result.push_back({RLIMIT_CORE, 0, 0});
  add(RLIMIT_AS, limits.memory_bytes);
  add(RLIMIT_DATA, limits.data_bytes);
  add(RLIMIT_FSIZE, limits.file_bytes);
  add(RLIMIT_STACK, limits.stack_bytes);
  if (limits.open_files > 0) add(RLIMIT_NOFILE, static_cast<std::uint64_t>(limits.open_files));
  if (limits.processes > 0) add(RLIMIT_NPROC, processes);
  if (limits.cpu_s > 0) {
    // The soft limit's SIGXCPU does not reach the first process of a namespace; the hard limit's SIGKILL
    // does.
    const auto seconds = static_cast<rlim_t>(std::ceil(limits.cpu_s));
    result.push_back({RLIMIT_CPU, seconds, seconds});
  }
  return result;
}

/// Raising a hard limit is for root alone: what is asked for is capped by what we have.
void cap_by_own(std::vector<resource_limit>& limits) {
  for (auto& limit : limits) {
    rlimit own = {};
    if (::getrlimit(static_cast<__rlimit_resource>(limit.resource), &own) != 0) continue;
    limit.hard = std::min(limit.hard, own.rlim_max);
    limit.soft = std::min(limit.soft, limit.hard);
  }
}

std::string drain(const descriptor& from) {
  std::string text;
  char buffer[4096];
  for (;;) {
    pollfd poll = {from.get(), POLLIN, 0};
    if (::poll(&poll, 1, 200) != 1) break;
    const ssize_t length = ::read(from.get(), buffer, sizeof buffer);
    if (length <= 0) break;
    text.append(buffer, static_cast<std::size_t>(length));
    if (text.size() > 4096) break;
  }
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
  return text;
}

/// Reads bubblewrap's first JSON object up to the process id of its child; 0 if bubblewrap ended before.
pid_t read_child_pid(const descriptor& status, std::string& text) {
  const std::string key = "\"child-pid\":";
  char buffer[512];
  for (int waited_ms = 0; waited_ms < 10'000;) {
    if (text.find('}') != std::string::npos) {
      const auto at = text.find(key);
      return at == std::string::npos ? 0 : static_cast<pid_t>(std::atoi(text.c_str() + at + key.size()));
    }
    pollfd poll = {status.get(), POLLIN, 0};
    if (::poll(&poll, 1, 100) == 0) {
      waited_ms += 100;
      continue;
    }
    const ssize_t length = ::read(status.get(), buffer, sizeof buffer);
    if (length == 0) return 0;
    if (length > 0) text.append(buffer, static_cast<std::size_t>(length));
  }
  return 0;
}

/// Paths as seen inside become the host's.
std::string translate(const std::string& text, const std::vector<mount>& mounts) {
  const mount* best = nullptr;
  for (const auto& m : mounts) {
    const bool below = text == m.inside || (text.size() > m.inside.size() && text.starts_with(m.inside) &&
                                            (m.inside.ends_with('/') || text[m.inside.size()] == '/'));
    if (below && (best == nullptr || m.inside.size() > best->inside.size())) best = &m;
  }
  return best == nullptr ? text : best->host + text.substr(best->inside.size());
}

}  // namespace

descriptor memory_file(const char* name, std::string_view content) {
  descriptor file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) fail("cannot make a memory file");
  for (std::size_t at = 0; at < content.size();) {
    const ssize_t written = ::write(file.get(), content.data() + at, content.size() - at);
    if (written < 0) fail("cannot fill a memory file");
    at += static_cast<std::size_t>(written);
  }
  ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL);
  ::lseek(file.get(), 0, SEEK_SET);
  return file;
}

bool reachable_by_others(const std::string& path) {
  struct stat info = {};
  if (::stat(path.c_str(), &info) != 0) return false;
  if ((info.st_mode & S_IROTH) == 0 || (S_ISDIR(info.st_mode) && (info.st_mode & S_IXOTH) == 0)) return false;
  char resolved[PATH_MAX];
  if (::realpath(path.c_str(), resolved) == nullptr) return false;
  std::string folder = resolved;
  for (;;) {
    const auto slash = folder.rfind('/');
    if (slash == std::string::npos || slash == 0) return true;
    folder.resize(slash);
    if (::stat(folder.c_str(), &info) != 0 || (info.st_mode & S_IXOTH) == 0) return false;
  }
}

child_process launch_in(const containment& how, const launch_spec& spec, void (*held)(pid_t, void*),
                        void* context) {
  if (spec.argv.empty()) throw error(error_code::usage, "nothing to launch: argv is empty");
  auto state = std::make_shared<process_state>();
  state->limits = spec.limits;
  state->limits.output_bytes = std::min<std::uint64_t>(spec.limits.output_bytes, std::uint64_t{1} << 30U);
  state->cpu_limit_s = spec.limits.cpu_s > 0 ? std::ceil(spec.limits.cpu_s) : 0;
  state->contained = !how.bubblewrap.empty();

  auto out = make_pipe(true);
  auto err = make_pipe(true);
  pipe_ends status;
  pipe_ends block;
  const descriptor input = input_of(spec.standard_input);
  descriptor filter;
  std::vector<descriptor> copies;

  spawn_plan plan;
  plan.drop_root = how.drop_root;
  plan.cpus = spec.cpus;
  plan.input = input.get();
  plan.output = out.write.get();
  plan.errors = err.write.get();
  plan.descriptors = spec.file_descriptors;
  std::vector<resource_limit> limits;
  if (state->contained) {
    status = make_pipe(true);
    block = make_pipe(false);
    if (how.filter) filter = descriptor(filter_descriptor(spec.policy));
    int next = 3;
    for (const auto& [ours, theirs] : spec.file_descriptors) next = std::max(next, theirs + 1);
    const auto hand_over = [&](int ours) {
      plan.descriptors.emplace_back(ours, next);
      return next++;
    };
    bubblewrap_plan bubble;
    bubble.program = how.bubblewrap;
    bubble.status_fd = hand_over(status.write.get());
    bubble.block_fd = hand_over(block.read.get());
    if (filter) bubble.filter_fd = hand_over(filter.get());
    plan.argv = bubblewrap_arguments(bubble, spec, how.drop_root, [&](descriptor file) {
      copies.push_back(std::move(file));
      return hand_over(copies.back().get());
    });
    // Limits are set on the inner process once it is in its user namespace: there the number of processes is
    // counted for this sandbox alone, and bubblewrap itself needs none of them.
    limits = resource_limits(spec.limits, static_cast<rlim_t>(spec.limits.processes));
    plan.environment = {};
  } else {
    for (const auto& argument : spec.argv) plan.argv.push_back(translate(argument, spec.mounts));
    plan.environment = spec.environment;
    plan.adopt = true;
    plan.directory = translate(spec.directory, spec.mounts);
    // Outside of a user namespace all processes of the user count.
    rlim_t processes = 0;
    if (spec.limits.processes > 0) {
      processes = static_cast<rlim_t>(spec.limits.processes);
      processes += static_cast<rlim_t>(tasks_of_user(how.drop_root ? sandbox_uid : ::getuid()));
    }
    plan.limits = resource_limits(spec.limits, processes);
    cap_by_own(plan.limits);
    if (how.filter) plan.filter = compile_filter(spec.policy);
  }

  state->parent_rss = resident_bytes();
  auto process = spawn_supervised(plan);
  state->pid = process.pid;
  state->handle = std::move(process.handle);
  state->out = std::move(out.read);
  state->err = std::move(err.read);
  out.write.reset();
  err.write.reset();
  const auto give_up = [&](const std::string& what) {
    ::kill(-state->pid, SIGKILL);
    siginfo_t info;
    ::waitid(P_PID, static_cast<id_t>(state->pid), &info, WEXITED);
    const std::string said = drain(state->err);
    throw error(error_code::environment, what + (said.empty() ? "" : ": " + said));
  };
  if (state->contained) {
    status.write.reset();
    block.read.reset();
    state->status = std::move(status.read);
    const pid_t inner = read_child_pid(state->status, state->status_text);
    if (inner <= 0) give_up("the sandbox could not be set up");
    try {
      state->inner.emplace(inner);
    } catch (const error&) {
      give_up("the sandbox could not be set up");
    }
    cap_by_own(limits);
    if (const int reason = limit_process(inner, limits, how.drop_root); reason != 0) {
      give_up("cannot limit a sandboxed process: " + std::string(std::strerror(reason)));
    }
    if (held != nullptr) held(inner, context);
  }
  state->started = process_state::clock::now();
  supervise(state);
  child_process result(state);
  // The end of the pipe lets it go. A byte would, too, but if it has ended while it was held (its report says
  // so), that would be a SIGPIPE for whoever uses this library.
  block.write.reset();
  return result;
}

}  // namespace detail

std::string_view to_string(exit_kind kind) {
  switch (kind) {
    case exit_kind::exited:
      return "exited";
    case exit_kind::signalled:
      return "signalled";
    case exit_kind::timed_out:
      return "timed_out";
    case exit_kind::output_exceeded:
      return "output_exceeded";
    case exit_kind::cancelled:
      return "cancelled";
    case exit_kind::not_started:
      return "not_started";
  }
  return "not_started";
}

std::string describe(const exit_report& report) {
  switch (report.kind) {
    case exit_kind::exited:
      return "ended with exit code " + std::to_string(report.code);
    case exit_kind::signalled: {
      std::string text = "was ended by signal " + std::to_string(report.signal);
      if (report.signal == SIGSYS) return text + " (forbidden system call)";
      const char* name = ::sigdescr_np(report.signal);
      return name == nullptr ? text : text + " (" + name + ')';
    }
    case exit_kind::timed_out:
      return "timed out after " + std::to_string(static_cast<int>(report.wall_s)) + " s";
    case exit_kind::output_exceeded:
      return "wrote more output than allowed";
    case exit_kind::cancelled:
      return "was cancelled";
    case exit_kind::not_started:
      return "could not be started";
  }
  return "could not be started";
}

child_process& child_process::operator=(child_process&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}

child_process::~child_process() {
  if (!state_) return;
  kill();
  wait();
}

pid_t child_process::pid() const {
  return state_->pid;
}
pid_t child_process::inner_pid() const {
  return state_->root();
}
bool child_process::contained() const {
  return state_->contained;
}
freezer child_process::inner_freezer() const {
  return freezer(state_->root());
}

void child_process::pause() {
  const std::lock_guard pausing(state_->pausing);
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->pauses++ == 0) state_->paused_since = detail::process_state::clock::now();
    if (state_->reaped) return;
  }
  if (detail::stop_tree(state_->root(), !state_->contained, 2)) return;
  {
    const std::lock_guard lock(state_->mutex);
    --state_->pauses;
    if (state_->reaped) return;
  }
  detail::continue_tree(state_->root(), !state_->contained);
  throw error(error_code::environment, "a process tree could not be stopped within two seconds");
}

bool child_process::confirmed_paused() const {
  const std::lock_guard pausing(state_->pausing);
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->reaped) return true;
    if (state_->pauses == 0) return false;
  }
  return detail::tree_stands_still(state_->root(), !state_->contained);
}

void child_process::resume() {
  const std::lock_guard pausing(state_->pausing);
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->pauses == 0 || --state_->pauses > 0) return;
    state_->paused_total += detail::process_state::clock::now() - state_->paused_since;
    if (state_->reaped) return;
  }
  detail::continue_tree(state_->root(), !state_->contained);
  detail::wake_supervisor();
}

void child_process::kill() {
  detail::kill_supervised(state_, exit_kind::cancelled);
}

exit_report child_process::wait(std::stop_token stop) {
  const std::stop_callback cancel(stop, [this] { kill(); });
  std::unique_lock lock(state_->mutex);
  state_->changed.wait(lock, [this] { return state_->done; });
  return state_->report;
}

std::optional<exit_report> child_process::try_wait() const {
  const std::lock_guard lock(state_->mutex);
  if (!state_->done) return std::nullopt;
  return state_->report;
}

exit_report run(const launch_spec& spec, std::stop_token stop) {
  return launch(spec).wait(std::move(stop));
}

}  // namespace kevo
