#pragma once
// A GPU that is not there: the test double of the driver (tests/support/fake_cuda) made known to the programs
// that a test starts, with a folder of its own that stands for the device.

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "tests/support/shell.hpp"

/// One device or several. While it lives the environment of this process names it, for kevo and all that it
/// starts. One at a time.
class fake_gpu {
 public:
  /// @param settings lines of the `settings` of each device
  explicit fake_gpu(const std::string& settings = {}, int devices = 1) {
    namespace fs = std::filesystem;
    const std::string count = devices > 1 ? "devices " + std::to_string(devices) + "\n" : "";
    for (int device = 0; device < devices; ++device) make_device(device, settings + count);
    // Every device has a library of its own, whose only device it is: number 0.
    shell::write_file(
        folder_ / "kevo-device",
        "#!/bin/sh\nfolder=" + folder_.string() +
            "\nif [ \"$1\" -gt 0 ] && [ -d \"$folder/$1\" ]; then folder=\"$folder/$1\"; set -- 0; fi\n"
            "exec /usr/bin/env LD_PRELOAD=\"$folder/libcuda.so.1\" "
            "LD_LIBRARY_PATH=\"$folder\" " KEVO_BINARY_DIR "/kevo-device \"$@\"\n");
    fs::permissions(folder_ / "kevo-device", fs::perms::owner_all);
    fs::copy(KEVO_SOURCE_DIR "/tests/support/fake_cuda/toolkit", folder_ / "toolkit",
             fs::copy_options::recursive);
    fs::create_directory(folder_ / "toolkit/lib");
    ::setenv("KEVO_NVCC", nvcc().c_str(), 1);
    ::setenv("KEVO_DEVICE", (folder_ / "kevo-device").c_str(), 1);
    ::setenv("KEVO_NVRTC", KEVO_BINARY_DIR "/tests/fake_cuda/libnvrtc.so", 1);
    ::setenv("LD_LIBRARY_PATH", folder_.string().c_str(), 1);
    ::setenv("XDG_CACHE_HOME", (folder_ / "cache").c_str(), 1);
  }
  fake_gpu(const fake_gpu&) = delete;
  fake_gpu& operator=(const fake_gpu&) = delete;
  ~fake_gpu() {
    for (int device = 0; device < static_cast<int>(ids_.size()); ++device) {
      for (const auto& file : lock_files(device)) std::filesystem::remove(file);
    }
    for (const char* name : {"KEVO_DEVICE", "KEVO_NVCC", "KEVO_NVRTC", "LD_LIBRARY_PATH", "XDG_CACHE_HOME"})
      ::unsetenv(name);
  }

  std::string folder() const { return folder_.string(); }
  /// What stands for nvcc.
  std::string nvcc() const { return (folder_ / "toolkit/bin/nvcc").string(); }
  bool lost(int device = 0) const { return std::filesystem::exists(place(device) / "lost"); }
  /// Lines of `processes`: who else is on the device, by NVML.
  void list_processes(const std::string& lines) const { shell::write_file(folder_ / "processes", lines); }
  /// Replaces the `settings` of one device, before it is started.
  void set(int device, const std::string& settings) const {
    shell::write_file(place(device) / "settings", settings);
  }
  void lose(int device = 0) const { shell::write_file(place(device) / "lost", "lost\n"); }
  std::string uuid(int device = 0) const {
    std::string text;
    for (const char c : ids_[static_cast<std::size_t>(device)])
      text += {"0123456789abcdef"[c >> 4], "0123456789abcdef"[c & 15]};
    return text;
  }
  /// The files of the device's lock: of who has it, and of who is next.
  std::vector<std::string> lock_files(int device = 0) const {
    const std::string name = "/tmp/kevo-measure-gpu-" + uuid(device);
    return {name + ".lock", name + ".queue.lock"};
  }
  void mend() const { std::filesystem::remove(folder_ / "lost"); }

 private:
  std::filesystem::path place(int device) const {
    return device == 0 ? std::filesystem::path(folder_.string()) : folder_ / std::to_string(device);
  }

  void make_device(int device, const std::string& settings) {
    namespace fs = std::filesystem;
    const fs::path built = KEVO_BINARY_DIR "/tests/fake_cuda";
    const fs::path own = place(device);
    fs::create_directories(own);
    const fs::path library = own / "libcuda.so.1";
    fs::copy_file(built / "libcuda.so.1", library);
    std::random_device random;
    std::string id;
    while (id.size() < 16) id += static_cast<char>('a' + random() % 26);
    std::ofstream(library, std::ios::binary | std::ios::app) << id;
    ids_.push_back(id);
    fs::copy_file(built / "libnvidia-ml.so.1", own / "libnvidia-ml.so.1");
    shell::write_file(own / "settings", settings);
    // The sandbox of its compiler is another user's.
    fs::permissions(
        own, fs::perms::group_read | fs::perms::group_exec | fs::perms::others_read | fs::perms::others_exec,
        fs::perm_options::add);
  }

  shell::scratch folder_;
  std::vector<std::string> ids_;
};
