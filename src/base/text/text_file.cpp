#include "src/base/text/text_file.hpp"

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace kevo {

std::string read_text_file(const std::string& path, std::size_t limit, error_place named) {
  if (named.file.empty()) named.file = path;
  const auto refuse = [&](const std::string& why, const std::string& hint = {}) {
    throw error(error_code::input, why, named, hint);
  };
  const std::string quoted = "'" + path + "'";
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (!std::filesystem::exists(status)) {
    refuse("there is no file " + quoted, "paths are relative to the file that names them");
  }
  if (std::filesystem::is_directory(status)) refuse(quoted + " is a folder, not a file");
  if (!std::filesystem::is_regular_file(status)) refuse(quoted + " is not a regular file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) refuse("cannot open " + quoted + ": " + std::strerror(errno));
  std::string text;
  char block[16384];
  while (stream.read(block, sizeof block), stream.gcount() > 0) {
    text.append(block, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > limit) refuse(quoted + " is larger than " + std::to_string(limit >> 10U) + " KiB");
  }
  if (stream.bad()) refuse("cannot read " + quoted);
  if (text.find('\0') != std::string::npos) refuse(quoted + " holds a NUL byte: it is not a text file");
  return text;
}

std::string path_beside(const std::string& from, const std::string& relative) {
  const std::filesystem::path given(relative);
  if (given.is_absolute()) return given.lexically_normal().string();
  return (std::filesystem::path(from).parent_path() / given).lexically_normal().string();
}

}  // namespace kevo
