#include "src/lab/line_file.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <sys/file.h>
#include <system_error>
#include <unistd.h>

#include <kevo/error.hpp>

#include "src/base/text/text_file.hpp"

namespace kevo {
namespace {

[[noreturn]] void fail(const std::string& what, const std::string& path, const std::string& hint) {
  throw error(error_code::environment, what + ": " + std::strerror(errno), {path}, hint);
}

}  // namespace

line_file::line_file(const std::string& folder, const std::string& name,
                     const std::function<void(std::string_view)>& take)
    : path_(folder + "/" + name) {
  std::error_code wrong;
  // A config may be somebody else's, and name any folder.
  if (!std::filesystem::exists(path_, wrong) && std::filesystem::is_directory(folder, wrong) &&
      !std::filesystem::is_empty(folder, wrong)) {
    throw error(error_code::input,
                "the folder contains files that are not from this kind of lab; the results might overwrite "
                "them",
                {folder}, "set lab.output to an empty or new folder");
  }
  std::filesystem::create_directories(folder, wrong);
  if (wrong) {
    throw error(error_code::environment, "cannot make the folder: " + wrong.message(), {folder},
                "set lab.output to a writable folder");
  }
  descriptor_ = ::open(path_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (descriptor_ < 0) fail("cannot open the results file", path_, "set lab.output to a writable folder");
  try {
    if (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0)
      fail("another lab process is using this folder", path_,
           "wait until it ends, or choose another folder with lab.output");
    read(take);
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

line_file::~line_file() {
  ::close(descriptor_);
}

void line_file::read(const std::function<void(std::string_view)>& take) {
  const std::string text = read_text_file(path_, std::size_t{4} << 30U);
  std::size_t at = 0;
  int line = 1;
  for (std::size_t end = 0; (end = text.find('\n', at)) != std::string::npos; at = end + 1, ++line) {
    try {
      take(std::string_view(text).substr(at, end - at));
    } catch (const std::exception& broken) {
      throw error(error_code::input, std::string("this line is not a valid result: ") + broken.what(),
                  {path_, line}, "delete the line or the file; what was deleted is run again");
    }
  }
  // The last line of a lab that was killed while it wrote.
  if (at < text.size() && ::ftruncate(descriptor_, static_cast<off_t>(at)) != 0)
    fail("cannot remove the incomplete last line", path_, "delete it manually");
}

void line_file::append(std::string line) {
  line += '\n';
  std::size_t written = 0;
  while (written < line.size()) {
    const ssize_t n = ::write(descriptor_, line.data() + written, line.size() - written);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail("cannot write a result", path_, "free some disk space and run the same command again");
    written += static_cast<std::size_t>(n);
  }
  if (::fdatasync(descriptor_) != 0)
    fail("cannot write a result", path_, "free some disk space and run the same command again");
}

std::string write_result(const std::string& folder, const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(folder) / name;
  const std::string fresh = path.string() + ".new";
  {
    std::ofstream out(fresh, std::ios::binary);
    out << text;
    out.flush();
    if (!out) {
      throw error(error_code::environment, "cannot write the results", {fresh},
                  "free some disk space and run the same command again; finished results are kept");
    }
  }
  std::error_code wrong;
  std::filesystem::rename(fresh, path, wrong);
  if (wrong)
    throw error(
        error_code::environment, "cannot write the results: " + wrong.message(), {path.string()},
        "check the permissions of the folder and run the same command again; finished results are kept");
  return path.string();
}

}  // namespace kevo
