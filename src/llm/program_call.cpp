#include "src/llm/program_call.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include "src/base/text/utf8.hpp"
#include "src/llm/openai.hpp"
#include "src/llm/openai_fields.hpp"

namespace kevo {
namespace {

using clock = std::chrono::steady_clock;
namespace json = boost::json;

constexpr std::size_t most_output_bytes = std::size_t{32} << 20U;
constexpr std::size_t most_error_bytes = 65536;
constexpr std::size_t told_error_bytes = 600;

chat_reply failure(reply_status status, std::string detail) {
  chat_reply reply;
  reply.status = status;
  reply.detail = std::move(detail);
  return reply;
}

/// A file descriptor that is closed at the end. Move-only.
class descriptor {
 public:
  descriptor() = default;
  explicit descriptor(int number) : number_(number) {}
  descriptor(descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  descriptor& operator=(descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  descriptor(const descriptor&) = delete;
  descriptor& operator=(const descriptor&) = delete;
  ~descriptor() { close(); }
  void close() {
    if (number_ >= 0) ::close(std::exchange(number_, -1));
  }
  int number() const { return number_; }
  bool is_open() const { return number_ >= 0; }

 private:
  int number_ = -1;
};

struct pipe_ends {
  descriptor read;
  descriptor write;
};
std::optional<pipe_ends> make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) return std::nullopt;
  return pipe_ends{descriptor(ends[0]), descriptor(ends[1])};
}

/// Ours of the ends, without waiting.
void do_not_block(const descriptor& one) {
  ::fcntl(one.number(), F_SETFL, ::fcntl(one.number(), F_GETFL) | O_NONBLOCK);
}

/// A write without SIGPIPE, which would end the whole process if the program reads no further.
ssize_t write_quietly(int to, const char* from, std::size_t bytes) {
  sigset_t pipe;
  sigset_t before;
  sigemptyset(&pipe);
  sigaddset(&pipe, SIGPIPE);
  ::pthread_sigmask(SIG_BLOCK, &pipe, &before);
  const ssize_t written = ::write(to, from, bytes);
  const int why = errno;
  if (written < 0 && why == EPIPE) {
    const timespec at_once{};
    ::sigtimedwait(&pipe, nullptr, &at_once);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  errno = why;
  return written;
}

/// A running program of a process group of its own.
class running_program {
 public:
  running_program(const std::vector<std::string>& command, const std::string& directory) {
    auto in = make_pipe();
    auto printed = make_pipe();
    auto complained = make_pipe();
    if (!in || !printed || !complained) {
      why_ = std::string("no pipe could be made: ") + std::strerror(errno);
      return;
    }
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, in->read.number(), 0);
    posix_spawn_file_actions_adddup2(&actions, printed->write.number(), 1);
    posix_spawn_file_actions_adddup2(&actions, complained->write.number(), 2);
    if (!directory.empty()) posix_spawn_file_actions_addchdir_np(&actions, directory.c_str());
    posix_spawnattr_t attributes;
    posix_spawnattr_init(&attributes);
    sigset_t none;
    sigset_t usual;
    sigemptyset(&none);
    sigfillset(&usual);
    posix_spawnattr_setpgroup(&attributes, 0);
    posix_spawnattr_setsigmask(&attributes, &none);
    posix_spawnattr_setsigdefault(&attributes, &usual);
    posix_spawnattr_setflags(&attributes,
                             POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
    std::vector<std::string> words = command;
    std::vector<char*> argv;
    argv.reserve(words.size() + 1);
    for (auto& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    const int failed = ::posix_spawnp(&pid_, argv.front(), &actions, &attributes, argv.data(), environ);
    posix_spawnattr_destroy(&attributes);
    posix_spawn_file_actions_destroy(&actions);
    if (failed != 0) {
      pid_ = -1;
      why_ = std::strerror(failed);
      return;
    }
    in_ = std::move(in->write);
    out_ = std::move(printed->read);
    err_ = std::move(complained->read);
    for (const auto* one : {&in_, &out_, &err_}) do_not_block(*one);
  }
  running_program(const running_program&) = delete;
  running_program& operator=(const running_program&) = delete;
  ~running_program() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }

  bool started() const { return pid_ > 0; }
  const std::string& why_not() const { return why_; }

  /// Passes text in and out until the program has closed its outputs. False if `stop` or the time came first.
  bool talk(const std::string& input, clock::time_point end, const std::stop_token& stop) {
    std::size_t given = 0;
    if (input.empty()) in_.close();
    while (out_.is_open() || err_.is_open()) {
      if (stop.stop_requested() || clock::now() >= end) return false;
      std::array<pollfd, 3> ready{pollfd{in_.number(), POLLOUT, 0}, pollfd{out_.number(), POLLIN, 0},
                                  pollfd{err_.number(), POLLIN, 0}};
      ::poll(ready.data(), ready.size(), 50);
      if (ready[0].revents != 0 && in_.is_open()) give(input, given);
      if (ready[1].revents != 0) take(out_, out, most_output_bytes);
      if (ready[2].revents != 0) take(err_, err, most_error_bytes);
      if (out.size() >= most_output_bytes) return true;
      if (ready[0].revents == 0 && ready[1].revents == 0 && ready[2].revents == 0 && ended()) {
        // What it started may hold the pipes open; what the program itself wrote is there.
        take(out_, out, most_output_bytes);
        take(err_, err, most_error_bytes);
        return true;
      }
    }
    return true;
  }

  /// The state of the program by waitpid; nothing if it had to be ended.
  std::optional<int> status(clock::time_point end, const std::stop_token& stop) {
    while (!ended()) {
      if (stop.stop_requested() || clock::now() >= end) return std::nullopt;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return status_;
  }

  std::string out;
  std::string err;

 private:
  bool ended() {
    if (pid_ <= 0) return true;
    int state = 0;
    if (::waitpid(pid_, &state, WNOHANG) != pid_) return false;
    status_ = state;
    ::kill(-pid_, SIGKILL);  // what it left behind
    pid_ = 0;
    return true;
  }
  void give(const std::string& input, std::size_t& given) {
    const auto written = write_quietly(in_.number(), input.data() + given, input.size() - given);
    if (written > 0) given += static_cast<std::size_t>(written);
    const bool broken = written < 0 && errno != EAGAIN && errno != EINTR;  // it reads no further
    if (broken || given == input.size()) in_.close();
  }
  static void take(descriptor& from, std::string& to, std::size_t most) {
    std::array<char, 65536> buffer{};
    for (;;) {
      const auto got = from.is_open() ? ::read(from.number(), buffer.data(), buffer.size()) : -1;
      if (got > 0) {
        if (to.size() < most) to.append(buffer.data(), static_cast<std::size_t>(got));
        continue;
      }
      if (got == 0) from.close();
      return;
    }
  }

  pid_t pid_ = -1;
  int status_ = 0;
  std::string why_;
  descriptor in_;
  descriptor out_;
  descriptor err_;
};

/// The end of what a program wrote on its standard error, on one line.
std::string tail_of(const std::string& text) {
  std::string tail =
      as_utf8(text.size() > told_error_bytes ? text.substr(text.size() - told_error_bytes) : text);
  for (char& c : tail) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  const auto begin = tail.find_first_not_of(' ');
  if (begin == std::string::npos) return "it wrote nothing to its standard error";
  return tail.substr(begin, tail.find_last_not_of(' ') - begin + 1);
}

}  // namespace

chat_reply ask_program(const std::vector<std::string>& command, const std::string& directory,
                       const std::string& input, const std::string& ids, double limit_s,
                       const std::stop_token& stop) {
  const auto end = clock::now() + std::chrono::duration_cast<clock::duration>(
                                      std::chrono::duration<double>(std::min(limit_s, 1e8)));
  running_program program(command, directory);
  if (!program.started())
    return failure(reply_status::rejected,
                   fmt::format("the program '{}' cannot be started: {} (llm.models[].command)",
                               command.front(), program.why_not()));
  const bool whole = program.talk(input, end, stop);
  const auto status = whole ? program.status(end, stop) : std::nullopt;
  if (stop.stop_requested()) return failure(reply_status::cancelled, "cancelled");
  if (!status)
    return failure(reply_status::timed_out,
                   fmt::format("the program '{}' took longer than {:g} s (timeouts.total): {}",
                               command.front(), limit_s, tail_of(program.err)));
  if (WIFSIGNALED(*status))
    return failure(reply_status::server_error,
                   fmt::format("the program '{}' was ended by signal {}: {}", command.front(),
                               WTERMSIG(*status), tail_of(program.err)));
  if (WEXITSTATUS(*status) != 0)
    return failure(reply_status::server_error,
                   fmt::format("the program '{}' ended with exit code {}: {}", command.front(),
                               WEXITSTATUS(*status), tail_of(program.err)));
  return reply_of_program(program.out, ids);
}

chat_reply reply_of_program(std::string_view text, const std::string& ids) {
  std::string why;
  const json::object all = openai::parsed_object(text, why);
  if (why.empty() && (all.contains("choices") || all.contains("error"))) return parse_chat(text);
  if (!why.empty() || !(all.contains("content") || all.contains("tool_calls"))) {
    chat_reply reply;
    reply.content = as_utf8(std::string(text));
    openai::judge(reply, "stop", {});
    return reply;
  }
  json::object message = all;
  if (auto* calls = message.contains("tool_calls") ? message.at("tool_calls").if_array() : nullptr) {
    std::size_t number = 0;
    for (auto& call : *calls) {
      auto* one = call.if_object();
      if (one == nullptr) continue;
      if (!one->contains("function"))
        (*one)["function"] = json::object{
            {"name", openai::text_of(*one, "name")},
            {"arguments", one->contains("arguments") ? one->at("arguments") : json::value(json::object())}};
      if (openai::text_of(*one, "id").empty()) (*one)["id"] = ids + std::to_string(number);
      ++number;
    }
  }
  json::object answer{
      {"choices", json::array{json::object{{"message", std::move(message)}, {"finish_reason", "stop"}}}}};
  for (const char* key : {"usage", "model"}) {
    if (const auto* value = all.if_contains(key)) answer[key] = *value;
  }
  return parse_chat(json::serialize(answer));
}

}  // namespace kevo
