#pragma once
// Whether what a verb printed reached standard output: stdio keeps it back, and a full disk shows only then.

#include <optional>
#include <streambuf>

#include <kevo/error.hpp>

namespace kevo::cli {

/// Standard output of stdio for a stream with `exceptions(std::ios::badbit)`: a write that fails throws
/// std::system_error with its errno, as fmt::print does. std::cout would go on and forget the reason.
class output_buffer : public std::streambuf {
 private:
  int_type overflow(int_type one) override;
  std::streamsize xsputn(const char* text, std::streamsize size) override;
};

/// Flushes standard output, that of stdio and that of iostreams; why it did not take everything
/// (environment), or nothing. A reader that has had enough (`| head`) is no failure. `known`: the errno of an
/// earlier write, 0 if none is known.
std::optional<error> output_failure(int known = 0);

}  // namespace kevo::cli
