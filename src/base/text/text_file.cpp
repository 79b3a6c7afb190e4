#include "src/base/text/text_file.hpp"

#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <system_error>
#include <utility>

namespace kevo {

void refuse_url(const std::string& path, error_place named) {
  const auto scheme = path.find("://");
  if (scheme == std::string::npos || scheme == 0) return;
  for (std::size_t i = 0; i < scheme; ++i) {
    const auto c = static_cast<unsigned char>(path[i]);
    if (std::isalpha(c) == 0 && (i == 0 || (std::isdigit(c) == 0 && c != '+' && c != '-' && c != '.')))
      return;
  }
  throw error(error_code::input, "'" + path + "' is a URL, and kevo reads files only", std::move(named),
              "download it first, with the files that it names beside it, and give the path of the copy");
}

std::string read_binary_file(const std::string& path, std::size_t limit, error_place named) {
  if (named.file.empty()) named.file = path;
  refuse_url(path, named);
  const auto refuse = [&](const std::string& why, const std::string& hint = {}) {
    throw error(error_code::input, why, named, hint);
  };
  const std::string quoted = "'" + path + "'";
  std::error_code failed;
  const auto status = std::filesystem::status(path, failed);
  if (!std::filesystem::exists(status)) {
    refuse("the file does not exist: " + quoted, "a path in a file is relative to the folder of that file");
  }
  if (std::filesystem::is_directory(status)) refuse(quoted + " is a folder, not a file");
  if (!std::filesystem::is_regular_file(status)) refuse(quoted + " is not a regular file");
  std::ifstream stream(path, std::ios::binary);
  if (!stream) refuse("cannot open " + quoted + ": " + std::strerror(errno));
  std::string text;
  std::error_code unknown;
  const auto size = std::filesystem::file_size(path, unknown);
  if (!unknown && size <= limit) text.reserve(size);  // growing would hold large files twice
  if (!unknown && size > limit) refuse(quoted + " is larger than " + std::to_string(limit >> 10U) + " KiB");
  char block[16384];
  while (stream.read(block, sizeof block), stream.gcount() > 0) {
    text.append(block, static_cast<std::size_t>(stream.gcount()));
    if (text.size() > limit) refuse(quoted + " is larger than " + std::to_string(limit >> 10U) + " KiB");
  }
  if (stream.bad()) refuse("cannot read " + quoted);
  return text;
}

std::string read_text_file(const std::string& path, std::size_t limit, error_place named) {
  if (named.file.empty()) named.file = path;
  std::string text = read_binary_file(path, limit, named);
  if (text.find('\0') != std::string::npos) {
    throw error(error_code::input, "'" + path + "' contains a NUL byte and is not a text file",
                std::move(named));
  }
  return text;
}

std::string path_beside(const std::string& from, const std::string& relative) {
  refuse_url(relative, {.file = from});
  const std::filesystem::path given(relative);
  if (given.is_absolute()) return given.lexically_normal().string();
  return (std::filesystem::path(from).parent_path() / given).lexically_normal().string();
}

}  // namespace kevo
