#pragma once
// `kevo serve` as a process of its own, for tests and benchmarks.

#include <chrono>
#include <csignal>
#include <cstdlib>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "tests/support/shell.hpp"

namespace shell {

/// A server on this machine. It is killed with the object, unless it has ended.
class served {
 public:
  /// @param words program, "serve" and what follows, without --listen
  served(std::vector<std::string> words, std::string folder)
      : words_(std::move(words)), folder_(std::move(folder)) {
    start();
  }
  served(const served&) = delete;
  served& operator=(const served&) = delete;
  ~served() {
    if (running_) end(SIGKILL);
  }

  /// Starts it, again at the port of the first time. `port` is 0 afterwards if it does not listen in time.
  void start() {
    auto words = words_;
    words.insert(words.end(), {"--listen", "127.0.0.1:" + std::to_string(port_)});
    running_.emplace(words, folder_);
    port_ = 0;
    const std::string mark = "http://127.0.0.1:";
    for (int i = 0; i < 4000 && port_ == 0; ++i) {
      const std::string said = running_->out_so_far();
      const auto at = said.find(mark);
      if (at != std::string::npos && said.find('\n', at) != std::string::npos)
        port_ = std::atoi(said.c_str() + at + mark.size());
      else
        std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
  }
  void end(int signal) {
    running_->signal(signal);
    running_->wait();
    running_.reset();
  }
  int port() const { return port_; }

 private:
  std::vector<std::string> words_;
  std::string folder_;
  std::optional<running> running_;
  int port_ = 0;
};

/// A task and a judge in `folder`, which costs little: the score of a program is the number that it consists
/// of. The judge notes each of its calls in the file `calls`. Returns the words that follow `kevo`.
inline std::vector<std::string> numbers_service(const std::string& folder) {
  write_file(folder + "/task/task.yaml", "name: numbers\nseeds: [seed.txt]\n");
  write_file(folder + "/task/seed.txt", "0\n");
  write_file(folder + "/score.sh", "read n <\"$1\"\necho \"$n\" >>calls\necho \"{\\\"score\\\": $n}\"\n");
  return {"serve", folder + "/task",          "--state", folder + "/state",
          "--set", "fitness.backend=command", "--set",   "fitness.command=[sh, score.sh]",
          "--set", "fitness.sandbox=off",     "--set",   "fitness.directory=" + folder};
}
inline std::string number_request(int number) {
  return R"({"task":"numbers","program":{"language":"text","files":[{"path":"n.txt","text":")" +
         std::to_string(number) + R"(\n"}]}})";
}

}  // namespace shell
