#include "fitness/sandbox/launch_in.hpp"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <poll.h>
#include <unistd.h>
#include <utility>

#include <kevo/error.hpp>

#include "fitness/process/proc.hpp"
#include "fitness/process/supervisor.hpp"
#include "fitness/sandbox/bubblewrap.hpp"
#include "fitness/sandbox/filters.hpp"
#include "src/base/process/pipe.hpp"

namespace kevo::detail {
namespace {

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

/// What is open for the new process while it is being started.
struct start_files {
  pipe_ends out = make_pipe(true);
  pipe_ends err = make_pipe(true);
  pipe_ends status;  // bubblewrap's JSON
  pipe_ends block;   // bubblewrap's child runs once our end is closed
  descriptor input;
  descriptor filter;
  std::vector<descriptor> copies;  // of files that nobody may not read
};

/// bubblewrap's command line and descriptors. The limits are not in the plan: they are set on the inner
/// process.
void plan_namespaces(const containment& how, const launch_spec& spec, start_files& files, spawn_plan& plan) {
  files.status = make_pipe(true);
  files.block = make_pipe(false);
  if (how.filter) files.filter = descriptor(filter_descriptor(spec.policy));
  int next = 3;
  for (const auto& [ours, theirs] : spec.file_descriptors) next = std::max(next, theirs + 1);
  const auto hand_over = [&](int ours) {
    plan.descriptors.emplace_back(ours, next);
    return next++;
  };
  bubblewrap_plan bubble;
  bubble.program = how.bubblewrap;
  bubble.status_fd = hand_over(files.status.write.get());
  bubble.block_fd = hand_over(files.block.read.get());
  if (files.filter) bubble.filter_fd = hand_over(files.filter.get());
  plan.argv = bubblewrap_arguments(bubble, spec, how.drop_root, [&](descriptor file) {
    files.copies.push_back(std::move(file));
    return hand_over(files.copies.back().get());
  });
  plan.environment = {};
}

/// The process itself, on the host's paths.
void plan_without_namespaces(const containment& how, const launch_spec& spec, spawn_plan& plan) {
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

/// Ends what was started and throws, with what it wrote to standard error.
[[noreturn]] void give_up(const process_state& state, const std::string& what) {
  abandon(state.pid);
  const std::string said = drain(state.err);
  throw error(error_code::environment, what + (said.empty() ? "" : ": " + said));
}

/// Waits for the process inside of bubblewrap, which is held, and limits it. Limits are set once it is in its
/// user namespace: there the number of processes is counted for this sandbox alone, and bubblewrap itself
/// needs none of them.
pid_t limit_inner(const containment& how, const launch_spec& spec, process_state& state) {
  const pid_t inner = read_child_pid(state.status, state.status_text);
  if (inner <= 0) give_up(state, "cannot set up the sandbox");
  try {
    state.inner.emplace(inner);
  } catch (const error&) {
    give_up(state, "cannot set up the sandbox");
  }
  auto limits = resource_limits(spec.limits, static_cast<rlim_t>(spec.limits.processes));
  cap_by_own(limits);
  if (const int reason = limit_process(inner, limits, how.drop_root); reason != 0)
    give_up(state, "cannot limit a sandboxed process: " + std::string(std::strerror(reason)));
  return inner;
}

}  // namespace

child_process launch_in(const containment& how, const launch_spec& spec, void (*held)(pid_t, void*),
                        void* context) {
  if (spec.argv.empty()) throw error(error_code::usage, "no program to start: argv is empty");
  auto state = std::make_shared<process_state>();
  state->limits = spec.limits;
  state->limits.output_bytes = std::min<std::uint64_t>(spec.limits.output_bytes, std::uint64_t{1} << 30U);
  state->cpu_limit_s = spec.limits.cpu_s > 0 ? std::ceil(spec.limits.cpu_s) : 0;
  state->contained = !how.bubblewrap.empty();

  start_files files;
  files.input = input_of(spec.standard_input);
  spawn_plan plan;
  plan.drop_root = how.drop_root;
  plan.cpus = spec.cpus;
  plan.fixed_addresses = spec.fixed_addresses;
  plan.input = files.input.get();
  plan.output = files.out.write.get();
  plan.errors = files.err.write.get();
  plan.descriptors = spec.file_descriptors;
  if (state->contained) {
    plan_namespaces(how, spec, files, plan);
  } else {
    plan_without_namespaces(how, spec, plan);
  }

  state->parent_rss = resident_bytes();
  auto process = spawn_supervised(plan);
  state->pid = process.pid;
  state->handle = std::move(process.handle);
  state->out = std::move(files.out.read);
  state->err = std::move(files.err.read);
  files.out.write.reset();
  files.err.write.reset();
  if (state->contained) {
    files.status.write.reset();
    files.block.read.reset();
    state->status = std::move(files.status.read);
    const pid_t inner = limit_inner(how, spec, *state);
    if (held != nullptr) held(inner, context);
  }
  state->started = process_state::clock::now();
  supervise(state);
  child_process result(state);
  // The end of the pipe lets it go. A byte would, too, but if it has ended while it was held (its report says
  // so), that would be a SIGPIPE for whoever uses this library.
  files.block.write.reset();
  return result;
}

}  // namespace kevo::detail
