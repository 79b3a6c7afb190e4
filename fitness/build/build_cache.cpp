#include "fitness/build/build_cache.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <kevo/error.hpp>

#include "src/base/process/descriptor.hpp"

namespace kevo::detail {
namespace {

constexpr const char* header = "kevo build record 1";

[[noreturn]] void fail(const std::string& what) {
  throw error(error_code::environment, what + ": " + std::strerror(errno), {},
              "check whether the disk is full or read-only");
}

void write_all(int file, const char* data, std::size_t size, const std::string& path) {
  while (size > 0) {
    const ssize_t written = ::write(file, data, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) fail("cannot write " + path);
    data += written;
    size -= static_cast<std::size_t>(written);
  }
}

std::string one_line(std::string text) {
  for (char& c : text) {
    if (c == '\n' || c == '\r') c = ' ';
  }
  return text;
}

// Writes a file whole or not at all.
template <class Write>
void replace_file(const std::string& path, mode_t mode, Write write) {
  static std::atomic<unsigned> counter = 0;
  const std::string temporary = path + "." + std::to_string(::getpid()) + "." + std::to_string(++counter);
  const descriptor file(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (!file) fail("cannot write " + temporary);
  try {
    write(file.get(), temporary);
    if (::rename(temporary.c_str(), path.c_str()) != 0) fail("cannot write " + path);
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

}  // namespace

build_cache::build_cache(std::string folder) : folder_(std::move(folder)) {
  if (folder_.empty()) {
    temporary_ = std::make_unique<scratch_folder>(false);
    folder_ = temporary_->path();
    return;
  }
  std::error_code code;
  std::filesystem::create_directories(folder_, code);
  if (code || ::access(folder_.c_str(), W_OK | X_OK) != 0) {
    throw error(error_code::environment,
                "cannot use the build cache: " + (code ? code.message() : std::strerror(errno)),
                {folder_, 0, 0, {}}, "set fitness.cache to a writable folder");
  }
  folder_ = std::filesystem::absolute(folder_).lexically_normal().string();
}

std::string build_cache::path(const content_id& key, const char* extension) const {
  const std::string name = to_string(key);
  return folder_ + "/" + name.substr(0, 2) + "/" + name + extension;
}

std::optional<build_result> build_cache::find(const content_id& key) const {
  std::ifstream file(path(key, ".record"), std::ios::binary);
  std::string line;
  if (!std::getline(file, line) || line != header) return std::nullopt;
  build_result result;
  result.cached = true;
  std::uintmax_t object_size = 0;
  std::size_t diagnostics_size = 0;
  std::string word;
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    fields >> word;
    if (word == "ok") {
      result.ok = true;
      fields >> object_size;
    } else if (word == "reason") {
      result.reasons.push_back(line.substr(std::min<std::size_t>(line.size(), 7)));
    } else if (word == "diagnostics") {
      fields >> diagnostics_size;
      result.diagnostics.resize(diagnostics_size);
      if (!file.read(result.diagnostics.data(), static_cast<std::streamsize>(diagnostics_size)))
        return std::nullopt;
      break;
    }
  }
  if (word != "diagnostics") return std::nullopt;
  if (result.ok) {
    result.object_path = path(key, ".so");
    std::error_code code;
    if (std::filesystem::file_size(result.object_path, code) != object_size || code) return std::nullopt;
  }
  return result;
}

build_result build_cache::store(const content_id& key, build_result result, int object,
                                std::uint64_t object_bytes) {
  const std::string record = path(key, ".record");
  std::error_code code;
  std::filesystem::create_directories(std::filesystem::path(record).parent_path(), code);
  std::uint64_t size = 0;
  if (object >= 0) {
    result.object_path = path(key, ".so");
    replace_file(result.object_path, 0444, [&](int file, const std::string& name) {
      std::array<char, 65536> buffer{};
      for (;;) {
        const ssize_t length = ::read(object, buffer.data(), buffer.size());
        if (length < 0) fail("cannot read what the compiler wrote");
        if (length == 0) break;
        size += static_cast<std::uint64_t>(length);
        if (size > object_bytes) throw error(error_code::input, "the object is too large");
        write_all(file, buffer.data(), static_cast<std::size_t>(length), name);
      }
    });
  }
  std::string text = std::string(header) + '\n';
  if (result.ok) text += "ok " + std::to_string(size) + '\n';
  for (const auto& reason : result.reasons) text += "reason " + one_line(reason) + '\n';
  text += "diagnostics " + std::to_string(result.diagnostics.size()) + '\n' + result.diagnostics;
  replace_file(record, 0644,
               [&](int file, const std::string& name) { write_all(file, text.data(), text.size(), name); });
  return result;
}

}  // namespace kevo::detail
