#pragma once
// Runs the program as a user would, for tests.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>
#include <vector>

namespace shell {

struct result {
  int code = -1;    ///< exit code, or 128 + signal
  std::string out;  ///< standard output
  std::string err;
};

/// As much as can be read: a file of a process under /proc may end in the middle, with the process.
inline std::string read_file(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return std::move(text).str();
}
inline void write_file(const std::filesystem::path& path, const std::string& text) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
}

/// A folder that goes with the test.
class scratch {
 public:
  scratch() {
    std::string pattern = (std::filesystem::temp_directory_path() / "kevo-test-XXXXXX").string();
    path_ = ::mkdtemp(pattern.data());
  }
  scratch(const scratch&) = delete;
  scratch& operator=(const scratch&) = delete;
  ~scratch() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }
  std::string string() const { return path_.string(); }

 private:
  std::filesystem::path path_;
};

/// A program that was started and may be signalled.
class running {
 public:
  running(const std::vector<std::string>& words, const std::string& directory) {
    out_ = (scratch_ / "out").string();
    err_ = (scratch_ / "err").string();
    pid_ = ::fork();
    if (pid_ == 0) {
      if (::chdir(directory.c_str()) != 0) ::_exit(126);
      redirect("/dev/null", O_RDONLY, 0);
      redirect(out_, O_WRONLY | O_CREAT | O_TRUNC, 1);
      redirect(err_, O_WRONLY | O_CREAT | O_TRUNC, 2);
      std::vector<char*> argv;
      for (const auto& word : words) argv.push_back(const_cast<char*>(word.c_str()));
      argv.push_back(nullptr);
      ::execv(argv[0], argv.data());
      ::_exit(127);
    }
  }
  void signal(int number) const { ::kill(pid_, number); }
  std::string out_so_far() const { return read_file(out_); }
  std::string err_so_far() const { return read_file(err_); }
  result wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), read_file(out_),
            read_file(err_)};
  }

 private:
  static void redirect(const std::string& path, int flags, int descriptor) {
    const int file = ::open(path.c_str(), flags, 0600);
    if (file < 0 || ::dup2(file, descriptor) < 0) ::_exit(126);
  }
  scratch scratch_;
  std::string out_, err_;
  pid_t pid_ = -1;
};

inline result run(const std::vector<std::string>& words, const std::string& directory = ".") {
  return running(words, directory).wait();
}

/// The program under test with these arguments.
inline std::vector<std::string> kevo(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), KEVO_BINARY_DIR "/kevo");
  return arguments;
}

}  // namespace shell
