#pragma once
// Pipes to a process that is being started, and what it is given to read.

#include <string>

#include "src/base/process/descriptor.hpp"

namespace kevo::detail {

/// Both ends, closed on exec.
struct pipe_ends {
  descriptor read;
  descriptor write;
};

/// A pipe. With `ours_reads`, its end to read from does not block.
/// @throws kevo::error (environment)
pipe_ends make_pipe(bool ours_reads);

/// Appends what is there of a pipe, at most 64 KiB. False if nothing was there; at the end it is closed, too.
bool read_some(descriptor& from, std::string& into);

/// A file that holds a text, for the standard input of a process; /dev/null for an empty one.
/// @throws kevo::error (environment)
descriptor input_of(const std::string& text);

}  // namespace kevo::detail
