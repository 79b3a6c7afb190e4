#include "fitness/process/supervisor.hpp"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <system_error>
#include <thread>

#include <kevo/error.hpp>

#include "fitness/process/proc.hpp"
#include "src/base/process/group_keeper.hpp"
#include "src/base/process/pipe.hpp"

namespace kevo::detail {
namespace {

using clock = process_state::clock;

enum : std::uint64_t { channel_exit, channel_out, channel_err, channel_status, channel_count };

// Whether bubblewrap noted that argv[0] ran and ended, and how.
std::optional<int> exit_code_in(const std::string& status) {
  const std::string key = "\"exit-code\":";
  const auto at = status.find(key);
  if (at == std::string::npos) return std::nullopt;
  return std::atoi(status.c_str() + at + key.size());
}

class supervisor {
  struct request {
    const spawn_plan* plan;
    spawned result;
    std::exception_ptr failure;
    bool done;
  };

 public:
  supervisor()
      : keeper_(start_group_keeper()),
        events_(::epoll_create1(EPOLL_CLOEXEC)),
        wake_event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
    if (!events_ || !wake_event_)
      throw error(error_code::environment, "cannot watch processes: epoll or eventfd is not available");
    watch(wake_event_.get(), ~std::uint64_t{0});
    std::thread([this] { work(); }).detach();
  }

  spawned start(const spawn_plan& plan) {
    request mine{&plan, {}, nullptr, false};
    std::unique_lock lock(mutex_);
    starts_.push_back(&mine);
    ring();
    answered_.wait(lock, [&mine] { return mine.done; });
    if (mine.failure) std::rethrow_exception(mine.failure);
    return std::move(mine.result);
  }

  void add(std::shared_ptr<process_state> state) {
    {
      const std::lock_guard lock(mutex_);
      added_.push_back(std::move(state));
    }
    ring();
  }

  int keeper() const { return keeper_.get(); }

  void ring() {
    const std::uint64_t one = 1;
    if (::write(wake_event_.get(), &one, sizeof one) < 0) return;  // full: it rings already
  }

 private:
  void watch(int fd, std::uint64_t key) {
    epoll_event event = {};
    event.events = EPOLLIN;
    event.data.u64 = key;
    ::epoll_ctl(events_.get(), EPOLL_CTL_ADD, fd, &event);
  }

  [[noreturn]] void work() {
    sigset_t all;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, nullptr);  // signals of the program are its other threads' business
    std::array<epoll_event, 32> events{};
    for (;;) {
      const int count =
          ::epoll_wait(events_.get(), events.data(), static_cast<int>(events.size()), timeout_ms());
      for (int i = 0; i < count; ++i) handle(events[static_cast<std::size_t>(i)].data.u64);
      take_requests();
      keep_limits();
    }
  }

  void take_requests() {
    std::deque<request*> starts;
    std::deque<std::shared_ptr<process_state>> added;
    {
      const std::lock_guard lock(mutex_);
      starts.swap(starts_);
      added.swap(added_);
    }
    for (auto* start : starts) {
      spawned result;
      std::exception_ptr failure;
      try {
        result = spawn(*start->plan);
      } catch (...) {
        failure = std::current_exception();
      }
      const std::lock_guard lock(mutex_);  // the request lives no longer than its owner waits
      start->result = std::move(result);
      start->failure = failure;
      start->done = true;
    }
    if (!starts.empty()) answered_.notify_all();
    for (auto& state : added) {
      state->id = next_id_++;
      const std::uint64_t key = state->id * channel_count;
      watch(state->out.get(), key + channel_out);
      watch(state->err.get(), key + channel_err);
      if (state->status) watch(state->status.get(), key + channel_status);
      watch(state->handle.get(), key + channel_exit);
      processes_.emplace(state->id, std::move(state));
    }
  }

  void handle(std::uint64_t key) {
    if (key == ~std::uint64_t{0}) {
      std::uint64_t rings = 0;
      if (::read(wake_event_.get(), &rings, sizeof rings) < 0) return;
      return;
    }
    const auto found = processes_.find(key / channel_count);
    if (found == processes_.end()) return;
    const auto state = found->second;
    switch (key % channel_count) {
      case channel_out:
        read_output(state, state->out, state->report.out);
        break;
      case channel_err:
        read_output(state, state->err, state->report.err);
        break;
      case channel_status:
        read_status(*state);
        break;
      default:
        reap(state);
    }
  }

  void read_status(process_state& state) {
    while (state.status && read_some(state.status, state.status_text)) {
    }
  }

  void read_output(const std::shared_ptr<process_state>& state, descriptor& from, std::string& into) {
    const auto cap = static_cast<std::size_t>(state->limits.output_bytes);
    // One chunk a turn, so that a flood from one process starves no other; all that is left once it has
    // ended.
    bool more = static_cast<bool>(from);
    while (more) {
      more = read_some(from, into) && state->reaped;
      if (into.size() > cap) {
        into.resize(cap);
        if (!state->reaped) {
          kill_supervised(state, exit_kind::output_exceeded);
        } else if (!state->cause) {
          state->cause = exit_kind::output_exceeded;
        }
        from.reset();
        return;
      }
    }
  }

  void reap(const std::shared_ptr<process_state>& state) {
    if (!state->contained)
      kill_tree(state->pid, true);  // what it left behind; its zombie still holds the process id
    ::kill(-state->pid, SIGKILL);
    forget_group(keeper_.get(), state->pid);
    int status = 0;
    rusage usage = {};
    {
      const std::lock_guard lock(state->mutex);
      if (::wait4(state->pid, &status, WNOHANG, &usage) != state->pid) return;
      state->reaped = true;
    }
    read_output(state, state->out, state->report.out);
    read_output(state, state->err, state->report.err);
    read_status(*state);
    {
      const std::lock_guard lock(state->mutex);
      finish(*state, status, usage);
      state->done = true;
    }
    state->changed.notify_all();
    processes_.erase(state->id);
    // The descriptors go with the state; the pidfd must leave the epoll set now.
    ::epoll_ctl(events_.get(), EPOLL_CTL_DEL, state->handle.get(), nullptr);
    state->out.reset();
    state->err.reset();
    state->status.reset();
  }

  static void finish(process_state& state, int status, const rusage& usage) {
    auto& report = state.report;
    const auto seconds = [](const timeval& t) {
      return static_cast<double>(t.tv_sec) + 1e-6 * static_cast<double>(t.tv_usec);
    };
    auto wall = clock::now() - state.started - state.paused_total;
    if (state.pauses > 0) wall -= clock::now() - state.paused_since;
    report.wall_s = std::chrono::duration<double>(wall).count();
    report.cpu_s = seconds(usage.ru_utime) + seconds(usage.ru_stime);
    const auto rss = static_cast<std::uint64_t>(usage.ru_maxrss) << 10U;
    report.max_rss = rss > state.parent_rss + (std::uint64_t{1} << 20U) ? rss : 0;

    if (state.contained) {
      if (const auto code = exit_code_in(state.status_text)) {
        report.kind = exit_kind::exited;
        report.code = *code;
        if (*code > 128 && *code <= 128 + 64) {
          report.kind = exit_kind::signalled;
          report.signal = *code - 128;
          report.code = 0;
        }
      } else {
        report.kind = exit_kind::not_started;
      }
    } else if (WIFSIGNALED(status)) {
      report.kind = exit_kind::signalled;
      report.signal = WTERMSIG(status);
    } else {
      report.kind = exit_kind::exited;
      report.code = WEXITSTATUS(status);
    }
    // The kernel counts processor time for this limit by ticks, so that a process may end well before the
    // exact sum says.
    const bool spent =
        state.cpu_limit_s > 0 && report.kind == exit_kind::signalled &&
        (report.signal == SIGXCPU || (report.signal == SIGKILL && report.cpu_s >= 0.5 * state.cpu_limit_s));
    if (state.cause) {
      report.kind = *state.cause;
    } else if (spent) {
      report.kind = exit_kind::timed_out;
    }
  }

  static std::optional<clock::time_point> deadline(process_state& state) {
    const std::lock_guard lock(state.mutex);
    if (state.reaped) return std::nullopt;
    if (state.hard_kill_at) return state.hard_kill_at;
    if (state.cause || state.pauses > 0 || state.limits.wall_s <= 0) return std::nullopt;
    const std::chrono::duration<double> wall(std::min(state.limits.wall_s, 1e9));
    return state.started + state.paused_total + std::chrono::duration_cast<clock::duration>(wall);
  }

  void keep_limits() {
    const auto now = clock::now();
    const auto processes = processes_;  // killing may change it
    for (const auto& [id, state] : processes) {
      const auto limit = deadline(*state);
      if (!limit || *limit > now) continue;
      {
        const std::lock_guard lock(state->mutex);
        if (state->hard_kill_at) {
          // Bubblewrap should have noticed the end of its child by now.
          ::kill(-state->pid, SIGKILL);
          state->hard_kill_at = now + std::chrono::seconds(1);
          continue;
        }
      }
      kill_supervised(state, exit_kind::timed_out);
    }
  }

  int timeout_ms() {
    std::optional<clock::time_point> next;
    for (const auto& [id, state] : processes_) {
      const auto limit = deadline(*state);
      if (limit && (!next || *limit < *next)) next = limit;
    }
    if (!next) return -1;
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(*next - clock::now()).count();
    return static_cast<int>(std::clamp<long>(left + 1, 0, 3'600'000));
  }

  descriptor keeper_;
  descriptor events_;
  descriptor wake_event_;
  std::mutex mutex_;
  std::condition_variable answered_;
  std::deque<request*> starts_;
  std::deque<std::shared_ptr<process_state>> added_;
  std::map<std::uint64_t, std::shared_ptr<process_state>> processes_;
  std::uint64_t next_id_ = 0;
};

// Lives as long as the process: children die with the thread that started them.
supervisor& the_supervisor() {
  static auto* const instance = new supervisor;
  return *instance;
}

}  // namespace

spawned spawn_supervised(spawn_plan plan) {
  plan.keeper = the_supervisor().keeper();
  return the_supervisor().start(plan);
}

void abandon(pid_t process) {
  ::kill(-process, SIGKILL);
  forget_group(the_supervisor().keeper(), process);
  siginfo_t info;
  ::waitid(P_PID, static_cast<id_t>(process), &info, WEXITED);
}

void supervise(const std::shared_ptr<process_state>& state) {
  the_supervisor().add(state);
}

void wake_supervisor() {
  the_supervisor().ring();
}

void kill_supervised(const std::shared_ptr<process_state>& state, exit_kind cause) {
  {
    const std::lock_guard lock(state->mutex);
    if (state->reaped || state->cause) return;
    state->cause = cause;
    if (state->contained) {
      // The end of the first process of a process id namespace is the end of all in it; bubblewrap reaps it
      // and ends. If bubblewrap were killed at once, nobody would know when the tree is gone.
      state->inner->kill();
      state->hard_kill_at = clock::now() + std::chrono::seconds(2);
    } else {
      kill_tree(state->pid, true);
    }
  }
  wake_supervisor();
}

}  // namespace kevo::detail
