#include "fitness/cascade/cache_folder.hpp"

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <unistd.h>
#include <utility>

#include <kevo/error.hpp>

namespace kevo {
namespace fs = std::filesystem;

cache_folder::cache_folder(std::string folder, std::string ending)
    : folder_(std::move(folder)), ending_(std::move(ending)) {
  if (folder_.empty()) return;
  std::error_code failure;
  const bool made = fs::create_directories(folder_, failure);
  if (made)
    fs::permissions(folder_, fs::perms::owner_all, failure);  // a folder that was there stays as it is
  if (failure || ::access(folder_.c_str(), W_OK) != 0) {
    throw error(error_code::environment,
                "the cache folder " + folder_ +
                    " cannot be used: " + (failure ? failure.message() : std::string("it is not writable")),
                {}, "set fitness.cache to a writable folder");
  }
}

std::string cache_folder::path_of(const content_id& key) const {
  return folder_ + '/' + to_string(key) + ending_;
}

std::optional<std::string> cache_folder::find(const content_id& key) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream file(path_of(key), std::ios::binary);
  if (!file) return std::nullopt;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

void cache_folder::keep(const content_id& key, std::string_view bytes) const {
  if (folder_.empty()) return;
  static std::atomic<std::uint64_t> number{0};
  const auto path = path_of(key);
  const auto draft = path + '.' + std::to_string(::getpid()) + '.' + std::to_string(++number);
  std::ofstream file(draft, std::ios::binary);
  file << bytes;
  file.close();
  std::error_code failure;
  if (file) fs::rename(draft, path, failure);
  if (!file || failure) fs::remove(draft, failure);
}

}  // namespace kevo
