#include "src/llm/program_call.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <optional>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

#include <boost/json.hpp>
#include <fmt/format.h>

#include <kevo/error.hpp>

#include "src/base/process/find_program.hpp"
#include "src/base/process/pipe.hpp"
#include "src/base/process/spawn.hpp"
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

/// Where a program is: along PATH, or in `directory` if its name has a slash, as for a shell there.
std::string path_of(const std::string& name, const std::string& directory) {
  const bool beside = name.find('/') != std::string::npos && name.front() != '/' && !directory.empty();
  std::string path = find_program(beside ? directory + "/" + name : name);
  if (path.empty()) throw error(error_code::environment, "there is no such executable file");
  return path;
}

/// A running program of a process group of its own, which ends with this.
class running_program {
 public:
  /// @throws kevo::error (environment) if it cannot be started
  running_program(const std::vector<std::string>& command, const std::string& directory,
                  const std::string& input) {
    const detail::descriptor in = detail::input_of(input);
    detail::pipe_ends printed = detail::make_pipe(true);
    detail::pipe_ends complained = detail::make_pipe(true);
    detail::spawn_plan plan;
    plan.argv = command;
    plan.argv.front() = path_of(command.front(), directory);
    for (char** one = environ; *one != nullptr; ++one) plan.environment.emplace_back(*one);
    plan.directory = directory;
    plan.input = in.get();
    plan.output = printed.write.get();
    plan.errors = complained.write.get();
    process_ = detail::spawn(plan);
    out_ = std::move(printed.read);
    err_ = std::move(complained.read);
  }
  running_program(const running_program&) = delete;
  running_program& operator=(const running_program&) = delete;
  ~running_program() {
    ::kill(-process_.pid, SIGKILL);  // what it left behind, too
    siginfo_t info;
    ::waitid(P_PIDFD, static_cast<id_t>(process_.handle.get()), &info, WEXITED);
  }

  /// Takes what it writes until it ends. Nothing if `stop` or the time came first.
  std::optional<siginfo_t> wait(clock::time_point end, const std::stop_token& stop) {
    while (!stop.stop_requested() && clock::now() < end) {
      std::array<pollfd, 3> ready{pollfd{out_.get(), POLLIN, 0}, pollfd{err_.get(), POLLIN, 0},
                                  pollfd{process_.handle.get(), POLLIN, 0}};
      ::poll(ready.data(), ready.size(), 50);
      take(out_, out, most_output_bytes);
      take(err_, err, most_error_bytes);
      if (ready[2].revents == 0) continue;
      siginfo_t info{};
      // What it started may hold the pipes open; what the program itself wrote was taken.
      ::waitid(P_PIDFD, static_cast<id_t>(process_.handle.get()), &info, WEXITED | WNOWAIT);
      return info;
    }
    return std::nullopt;
  }

  std::string out;
  std::string err;

 private:
  /// What goes beyond `most` is left out. A pipe holds less than these readings; what a process in the
  /// background goes on writing is left for the next time.
  static void take(detail::descriptor& from, std::string& to, std::size_t most) {
    for (int i = 0; i < 16 && from && detail::read_some(from, to); ++i) {
      if (to.size() > most) to.resize(most);
    }
  }

  detail::spawned process_;
  detail::descriptor out_;
  detail::descriptor err_;
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
  std::optional<running_program> program;
  try {
    program.emplace(command, directory, input);
  } catch (const error& why) {
    return failure(reply_status::rejected,
                   fmt::format("the program '{}' cannot be started: {} (llm.models[].command)",
                               command.front(), why.message()));
  }
  const auto ended = program->wait(end, stop);
  if (stop.stop_requested()) return failure(reply_status::cancelled, "cancelled");
  if (!ended)
    return failure(reply_status::timed_out,
                   fmt::format("the program '{}' took longer than {:g} s (timeouts.total): {}",
                               command.front(), limit_s, tail_of(program->err)));
  if (ended->si_code != CLD_EXITED)
    return failure(reply_status::server_error,
                   fmt::format("the program '{}' was ended by signal {}: {}", command.front(),
                               ended->si_status, tail_of(program->err)));
  if (ended->si_status != 0)
    return failure(reply_status::server_error,
                   fmt::format("the program '{}' ended with exit code {}: {}", command.front(),
                               ended->si_status, tail_of(program->err)));
  return reply_of_program(program->out, ids);
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
