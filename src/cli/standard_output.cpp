#include "src/cli/standard_output.hpp"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <system_error>

namespace kevo::cli {

output_buffer::int_type output_buffer::overflow(int_type one) {
  const char byte = traits_type::to_char_type(one);
  if (!traits_type::eq_int_type(one, traits_type::eof())) xsputn(&byte, 1);
  return traits_type::not_eof(one);
}

std::streamsize output_buffer::xsputn(const char* text, std::streamsize size) {
  const auto written = std::fwrite(text, 1, static_cast<std::size_t>(size), stdout);
  if (written < static_cast<std::size_t>(size))
    throw std::system_error(errno, std::generic_category(), "cannot write to standard output");
  return size;
}

std::optional<error> output_failure(int known) {
  errno = 0;
  std::cout.flush();
  std::fflush(stdout);
  const int reason = known != 0 ? known : errno;
  // The marks stay, also of a write that failed long before this one.
  const bool failed = std::ferror(stdout) != 0 || !std::cout;
  if (!failed || reason == EPIPE) return std::nullopt;
  return error(error_code::environment,
               "cannot write to standard output: " +
                   std::string(reason == 0 ? "a write operation failed" : std::strerror(reason)),
               {}, "the output is incomplete: free some disk space, or write to another place");
}

}  // namespace kevo::cli
