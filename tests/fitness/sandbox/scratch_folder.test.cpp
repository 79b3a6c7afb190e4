#include "fitness/sandbox/scratch_folder.hpp"

#include <csignal>
#include <cstdlib>
#include <ctime>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <functional>
#include <string>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <doctest/doctest.h>

#include <kevo/error.hpp>

#include "tests/fitness/support/sandboxed.hpp"
#include "tests/support/shell.hpp"

using kevo::scratch_folder;
using kevo::sweep_scratch_folders;
namespace fs = std::filesystem;

namespace {

/// A process that makes a scratch folder in `base`, says where, and does as it is told until it is killed.
class holder {
 public:
  explicit holder(const std::string& base, const std::function<void()>& then = {}) {
    int ends[2];
    REQUIRE(::pipe2(ends, O_CLOEXEC) == 0);
    process_ = ::fork();
    if (process_ == 0) {
      ::setenv("TMPDIR", base.c_str(), 1);
      const scratch_folder folder(false);
      shell::write_file(folder.path() + "/held", "x");
      if (then) then();
      const std::string line = folder.path() + "\n";
      if (::write(ends[1], line.data(), line.size()) > 0) ::pause();
      ::_exit(1);
    }
    ::close(ends[1]);
    for (char c = 0; ::read(ends[0], &c, 1) == 1 && c != '\n';) path_ += c;
    ::close(ends[0]);
  }
  holder(const holder&) = delete;
  holder& operator=(const holder&) = delete;
  ~holder() { kill(); }
  const std::string& path() const { return path_; }
  void kill() {
    if (process_ <= 0) return;
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
    process_ = -1;
  }

 private:
  pid_t process_ = -1;
  std::string path_;
};

void make_old(const std::string& path) {
  const timespec then{std::time(nullptr) - 120, 0};
  const timespec times[] = {then, then};
  REQUIRE(::utimensat(AT_FDCWD, path.c_str(), times, AT_SYMLINK_NOFOLLOW) == 0);
}

}  // namespace

TEST_CASE("scratch folders vanish and do not follow links") {
  const shell::scratch outside;
  shell::write_file(outside / "kept", "x");
  std::string path;
  {
    const scratch_folder folder;
    path = folder.path();
    CHECK(fs::is_directory(folder.folder("in")));
    fs::create_symlink(outside.string(), path + "/link");
  }
  CHECK(!fs::exists(path));
  CHECK(fs::exists(outside / "kept"));
}

TEST_CASE("what a killed process has left is swept, what a living one holds is not") {
  const shell::scratch base;
  holder living(base.string());
  holder killed(base.string());
  REQUIRE(fs::exists(killed.path() + "/held"));
  make_old(living.path());
  make_old(killed.path());
  CHECK(sweep_scratch_folders(base.string(), 60).empty());
  killed.kill();
  CHECK(fs::exists(killed.path() + "/held"));
  CHECK(sweep_scratch_folders(base.string(), 60) == std::vector<std::string>{killed.path()});
  CHECK_FALSE(fs::exists(killed.path()));
  CHECK(fs::exists(living.path() + "/held"));
  living.kill();
  CHECK(sweep_scratch_folders(base.string(), 60) == std::vector<std::string>{living.path()});
}

TEST_CASE("the first scratch folder of a process sweeps") {
  const shell::scratch base;
  holder killed(base.string());
  make_old(killed.path());
  killed.kill();
  REQUIRE(fs::exists(killed.path()));
  // In a program of its own: this one has swept already.
  const std::string self = fs::read_symlink("/proc/self/exe").string();
  const auto next = shell::run({"/usr/bin/env", "TMPDIR=" + base.string(), self, "--no-skip",
                                "--test-case=a process that makes a scratch folder"});
  CHECK_MESSAGE(next.code == 0, next.out);
  CHECK_FALSE(fs::exists(killed.path()));
}

TEST_CASE("a process that makes a scratch folder" * doctest::skip()) {
  const scratch_folder folder(false);
  CHECK(folder.path().starts_with(std::getenv("TMPDIR")));
}

TEST_CASE("a program that the killed process had started does not hold its folder") {
  const shell::scratch base;
  pid_t left = 0;
  holder killed(base.string(), [&] {
    const pid_t started = ::fork();
    if (started == 0) {
      ::execl("/bin/sleep", "sleep", "600", static_cast<char*>(nullptr));
      ::_exit(127);
    }
    shell::write_file(base / "started", std::to_string(started));
  });
  left = std::stoi(shell::read_file(base / "started"));
  for (int i = 0;
       i < 500 && !shell::read_file("/proc/" + std::to_string(left) + "/comm").starts_with("sleep"); ++i)
    ::usleep(10000);
  make_old(killed.path());
  killed.kill();
  CHECK(::kill(left, 0) == 0);
  CHECK(sweep_scratch_folders(base.string(), 60) == std::vector<std::string>{killed.path()});
  ::kill(left, SIGKILL);
}

TEST_CASE("young folders, other names, files and links stay") {
  const shell::scratch base;
  const shell::scratch outside;
  shell::write_file(outside / "kept", "x");
  for (const char* name :
       {"kevo-abcdef", "kevo-scratch-abcde", "kevo-scratch-abcdefg", "kevo-scratch-abc_ef", "kevo-scratch"}) {
    fs::create_directory(base / name);
    make_old((base / name).string());
  }
  fs::create_directory(base / "kevo-scratch-young0");
  shell::write_file(base / "kevo-scratch-afile0", "x");
  make_old((base / "kevo-scratch-afile0").string());
  make_old(outside.string());
  fs::create_symlink(outside.string(), base / "kevo-scratch-alink0");
  make_old((base / "kevo-scratch-alink0").string());
  CHECK(sweep_scratch_folders(base.string(), 60).empty());
  CHECK(sweep_scratch_folders((base / "nowhere").string(), 60).empty());

  fs::create_directory(base / "kevo-scratch-inside");
  fs::create_symlink(outside.string(), base / "kevo-scratch-inside/link");
  make_old((base / "kevo-scratch-inside").string());
  CHECK(sweep_scratch_folders(base.string(), 60).size() == 1);
  CHECK(fs::exists(outside / "kept"));
}

TEST_CASE("root sweeps what it gave to the sandbox, and nobody else's") {
  if (!kevo::test::root_or_skip()) return;
  const shell::scratch base;
  for (const char* name : {"kevo-scratch-nobody", "kevo-scratch-others"}) {
    fs::create_directory(base / name);
    make_old((base / name).string());
  }
  REQUIRE(::chown((base / "kevo-scratch-nobody").c_str(), 65534, 65534) == 0);
  REQUIRE(::chown((base / "kevo-scratch-others").c_str(), 4242, 4242) == 0);
  CHECK(sweep_scratch_folders(base.string(), 60) ==
        std::vector<std::string>{(base / "kevo-scratch-nobody").string()});
}

TEST_CASE("what a process writes whose umask is strict can be read by everyone when it says so") {
  const shell::scratch base;
  const ::mode_t before = ::umask(0077);
  fs::create_directories(base / "shared/inner");
  std::ofstream(base / "shared/inner/file") << "text";
  ::umask(before);
  kevo::let_everyone_read((base / "shared").string());
  const auto mode = [&](const char* name) {
    return static_cast<unsigned>(fs::status(base / name).permissions());
  };
  CHECK(mode("shared") == 0755U);
  CHECK(mode("shared/inner") == 0755U);
  CHECK(mode("shared/inner/file") == 0644U);
  CHECK_THROWS_AS(kevo::let_everyone_read((base / "nothing").string()), kevo::error);
}
