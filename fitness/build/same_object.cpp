#include "fitness/build/same_object.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>

namespace kevo {

bool same_object(const std::string& path, const std::string& other) {
  std::error_code failed;
  const auto size = std::filesystem::file_size(path, failed);
  if (failed || size != std::filesystem::file_size(other, failed) || failed) return false;
  std::ifstream one(path, std::ios::binary);
  std::ifstream two(other, std::ios::binary);
  if (!one || !two) return false;
  using bytes = std::istreambuf_iterator<char>;
  return std::equal(bytes(one), bytes(), bytes(two), bytes());
}

}  // namespace kevo
