#include "src/base/process/pipe.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <unistd.h>

#include <kevo/error.hpp>

#include "src/base/process/memory_file.hpp"

namespace kevo::detail {

pipe_ends make_pipe(bool ours_reads) {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0)
    throw error(error_code::environment, std::string("cannot create a pipe: ") + std::strerror(errno));
  if (ours_reads) ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {descriptor(ends[0]), descriptor(ends[1])};
}

bool read_some(descriptor& from, std::string& into) {
  std::array<char, 65536> buffer;
  const ssize_t length = ::read(from.get(), buffer.data(), buffer.size());
  if (length > 0) {
    into.append(buffer.data(), static_cast<std::size_t>(length));
    return true;
  }
  if (length < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  from.reset();
  return false;
}

descriptor input_of(const std::string& text) {
  if (!text.empty()) return memory_file("kevo-input", text);
  descriptor nothing(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (!nothing)
    throw error(error_code::environment, std::string("cannot open /dev/null: ") + std::strerror(errno));
  return nothing;
}

}  // namespace kevo::detail
