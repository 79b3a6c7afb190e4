#include "fitness/worker/worker_parent.hpp"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <poll.h>
#include <sched.h>
#include <string>
#include <sys/socket.h>

#include <kevo/error.hpp>

#include "fitness/process/own_program.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/worker/thread_runtime.hpp"

namespace kevo {
namespace {

using std::chrono::milliseconds;

constexpr const char* object_inside = "/kevo/candidate.so";
constexpr const char* worker_inside = "/kevo/kevo-worker-cpu";
// A process that was killed is gone, and its parent answers, within milliseconds of having a processor.
constexpr auto most_ending = std::chrono::seconds(5);

// Starting a sandbox takes several milliseconds of processor time: two that are started at once share the
// processors of workers and controller. A worker binds itself to its own ones before it loads anything.
std::vector<int> cpus_to_start_on(std::vector<int> cpus) {
  cpu_set_t own;
  CPU_ZERO(&own);
  if (cpus.empty() || ::sched_getaffinity(0, sizeof own, &own) != 0) return cpus;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &own) && std::find(cpus.begin(), cpus.end(), i) == cpus.end()) cpus.push_back(i);
  }
  return cpus;
}

std::string list_of(const std::vector<int>& cpus) {
  std::string text;
  for (const int cpu : cpus) text += (text.empty() ? "" : ",") + std::to_string(cpu);
  return text.empty() ? "any" : text;
}

launch_spec spec_of(const worker_settings& settings, const std::string& object, int requests) {
  launch_spec spec;
  spec.argv = {worker_inside, object_inside, std::to_string(settings.threads), list_of(settings.cpus)};
  if (settings.error_output) spec.argv.emplace_back(error_output_argument);
  spec.environment = worker_environment(settings.threads, settings.yield);
  spec.mounts = runtime_mounts({"libc.so.6", "libm.so.6", "libmvec.so.1", "libstdc++.so.6", "libgcc_s.so.1"});
  if (!settings.libraries.empty()) {
    for (auto& extra : runtime_mounts(settings.libraries)) {
      const bool known = std::any_of(spec.mounts.begin(), spec.mounts.end(),
                                     [&](const mount& m) { return m.inside == extra.inside; });
      if (!known) spec.mounts.push_back(std::move(extra));
    }
  }
  spec.mounts.push_back(
      {settings.program.empty() ? own_program("kevo-worker-cpu", "KEVO_WORKER_CPU") : settings.program,
       worker_inside});
  spec.mounts.push_back({object, object_inside});
  spec.file_descriptors = {{requests, fork_request_descriptor}};
  spec.limits = settings.limits;
  spec.limits.scratch_bytes = 0;
  spec.limits.wall_s = 0;
  if (spec.limits.processes > 0) ++spec.limits.processes;  // the parent itself
  spec.sandbox = settings.sandbox;
  spec.policy = syscall_policy::parent;
  // Two parents at different addresses serve calls differently fast, by up to 0.7 % of 2 microseconds, in all
  // pairs of an evaluation. A candidate has addresses that are drawn for each process (random_addresses.hpp).
  spec.fixed_addresses = true;
  spec.cpus = cpus_to_start_on(settings.cpus);
  return spec;
}

[[noreturn]] void fail(const std::string& what) {
  throw error(error_code::environment, what + ": " + std::strerror(errno));
}

}  // namespace

worker_parent::worker_parent(const worker_settings& settings, const std::string& object) {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) fail("cannot create a socket");
  socket_ = detail::descriptor(ends[0]);
  const detail::descriptor theirs(ends[1]);
  // The kernel names the sender of every message.
  const int on = 1;
  if (::setsockopt(ends[0], SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0) fail("cannot set up a socket");
  process_ = launch(spec_of(settings, object, theirs.get()));
}

void worker_parent::begin(int control, int arena) {
  ++began_;
  worker_.reset();
  verdict_.reset();
  report_.reset();
  killed_ = false;
  iovec data = {&began_, sizeof began_};
  alignas(cmsghdr) char room[CMSG_SPACE(2 * sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  cmsghdr* const head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(2 * sizeof(int));
  const int both[2] = {control, arena};
  std::memcpy(CMSG_DATA(head), both, sizeof both);
  // A parent that has ended says why in its report.
  if (::sendmsg(socket_.get(), &message, MSG_NOSIGNAL) < 0) report_ = process_.wait();
}

std::optional<worker_parent::heard> worker_parent::receive(milliseconds limit) {
  pollfd ready = {socket_.get(), POLLIN, 0};
  if (limit.count() > 0) ::poll(&ready, 1, static_cast<int>(limit.count()));
  heard result = {};
  iovec data = {&result.message, sizeof result.message};
  alignas(cmsghdr) char room[CMSG_SPACE(sizeof(ucred))] = {};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = room;
  message.msg_controllen = sizeof room;
  const auto size = ::recvmsg(socket_.get(), &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (size != static_cast<ssize_t>(sizeof result.message)) return std::nullopt;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_CREDENTIALS) continue;
    ucred sender = {};
    std::memcpy(&sender, CMSG_DATA(head), sizeof sender);
    result.sender = sender.pid;
  }
  return result;
}

// Takes in what the present worker, or its parent about it, has said. Anything about an earlier one is old.
void worker_parent::listen(milliseconds limit) {
  const auto next = receive(limit);
  if (!next || next->message.worker != began_) return;
  if (next->message.kind != parent_message::kind_of::begun) {
    verdict_ = next->message;
  } else if (!worker_ && next->sender > 0) {
    worker_.emplace(
        next->sender);  // at worst a zombie: its parent buries it when it is asked for the next one
  }
}

bool worker_parent::begun() {
  if (!worker_ && !report_) listen(milliseconds(0));
  return worker_.has_value();
}

// The worker has ended. So does its parent, for it holds what was written to standard error.
void worker_parent::conclude() {
  const auto until = std::chrono::steady_clock::now() + most_ending;
  while (!verdict_ && !process_.try_wait() && std::chrono::steady_clock::now() < until)
    listen(milliseconds(10));
  process_.kill();
  const auto of_parent = process_.wait();
  report_ = of_parent;
  if (!verdict_ || of_parent.kind != exit_kind::cancelled) return;
  if (verdict_->kind == parent_message::kind_of::failed) {
    report_->kind = exit_kind::not_started;
    report_->err += std::string("cannot fork a worker process: ") + std::strerror(verdict_->status);
  } else if (!killed_) {
    report_->kind = verdict_->signalled != 0 ? exit_kind::signalled : exit_kind::exited;
    (verdict_->signalled != 0 ? report_->signal : report_->code) = verdict_->status;
  }
}

std::optional<exit_report> worker_parent::try_wait() {
  if (report_) return report_;
  if (auto report = process_.try_wait()) return report_ = std::move(report);
  if (!worker_) listen(milliseconds(0));
  if (verdict_ || (worker_ && worker_->ended())) conclude();
  return report_;
}

void worker_parent::kill() {
  if (report_) return;
  killed_ = true;
  const auto until = std::chrono::steady_clock::now() + most_ending;
  while (!worker_ && !verdict_ && !process_.try_wait() && std::chrono::steady_clock::now() < until)
    listen(milliseconds(10));
  if (worker_) {
    worker_->kill();
  } else {
    process_.kill();
  }
}

// Memory that a worker had mapped may be lent again when this has returned, so that nothing but the end of
// the worker ends this.
void worker_parent::end() {
  if (report_ && (!worker_ || worker_->ended())) return;
  kill();
  if (worker_ && worker_->await_end(most_ending)) return;
  process_.kill();
  report_ = process_.wait();  // the first process of a namespace ends when all others have
  while (worker_ && !worker_->await_end(most_ending)) {
  }
}

exit_report worker_parent::wait() {
  if (!report_ && worker_) worker_->await_end(most_ending);
  if (!report_) conclude();
  return *report_;
}

}  // namespace kevo
