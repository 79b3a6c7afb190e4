#pragma once
// A GPU that is not there: the test double of the driver (tests/support/fake_cuda) made known to the programs
// that a test starts, with a folder of its own that stands for the device.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>

#include "tests/support/shell.hpp"

/// One device. While it lives the environment of this process names it, for kevo and all that it starts. One
/// at a time.
class fake_gpu {
 public:
  /// @param settings lines of the device's `settings`
  explicit fake_gpu(const std::string& settings = {}) {
    namespace fs = std::filesystem;
    const fs::path built = KEVO_BINARY_DIR "/tests/fake_cuda";
    const fs::path library = folder_ / "libcuda.so.1";
    fs::copy_file(built / "libcuda.so.1", library);
    std::random_device random;
    while (id_.size() < 16) id_ += static_cast<char>('a' + random() % 26);
    std::ofstream(library, std::ios::binary | std::ios::app) << id_;
    fs::copy_file(built / "libnvidia-ml.so.1", folder_ / "libnvidia-ml.so.1");
    shell::write_file(folder_ / "settings", settings);
    shell::write_file(folder_ / "kevo-device", "#!/bin/sh\nexec /usr/bin/env LD_PRELOAD=" + library.string() +
                                                   " " KEVO_BINARY_DIR "/kevo-device \"$@\"\n");
    fs::permissions(folder_ / "kevo-device", fs::perms::owner_all);
    // The sandbox of its compiler is another user's.
    fs::permissions(
        folder_.string(),
        fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec,
        fs::perm_options::add);
    fs::copy(KEVO_SOURCE_DIR "/tests/support/fake_cuda/toolkit", folder_ / "toolkit",
             fs::copy_options::recursive);
    fs::create_directory(folder_ / "toolkit/lib");
    ::setenv("KEVO_NVCC", nvcc().c_str(), 1);
    ::setenv("KEVO_DEVICE", (folder_ / "kevo-device").c_str(), 1);
    ::setenv("KEVO_NVRTC", (built / "libnvrtc.so").c_str(), 1);
    ::setenv("LD_LIBRARY_PATH", folder_.string().c_str(), 1);
    ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
  }
  fake_gpu(const fake_gpu&) = delete;
  fake_gpu& operator=(const fake_gpu&) = delete;
  ~fake_gpu() {
    for (const auto& file : lock_files()) std::filesystem::remove(file);
    for (const char* name : {"KEVO_DEVICE", "KEVO_NVCC", "KEVO_NVRTC", "LD_LIBRARY_PATH", "XDG_CACHE_HOME"})
      ::unsetenv(name);
  }

  std::string folder() const { return folder_.string(); }
  /// What stands for nvcc.
  std::string nvcc() const { return (folder_ / "toolkit/bin/nvcc").string(); }
  bool lost() const { return std::filesystem::exists(folder_ / "lost"); }
  /// Lines of `processes`: who else is on the device, by NVML.
  void list_processes(const std::string& lines) const { shell::write_file(folder_ / "processes", lines); }
  void lose() const { shell::write_file(folder_ / "lost", "lost\n"); }
  std::string uuid() const {
    std::string text;
    for (const char c : id_) text += {"0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15]};
    return text;
  }
  /// The files of the device's lock: of who has it, and of who is next.
  std::vector<std::string> lock_files() const {
    const std::string name = "/tmp/kevo-measure-gpu-" + uuid();
    return {name + ".lock", name + ".queue.lock"};
  }
  void mend() const { std::filesystem::remove(folder_ / "lost"); }

 private:
  shell::scratch folder_;
  std::string id_;
};
