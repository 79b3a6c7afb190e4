#pragma once
// Memory that one Python process writes and others, or kevo itself, then read.

#include <cstdint>
#include <string>

#include "src/base/process/descriptor.hpp"

namespace kevo::torch {

/// A memory file of `most_bytes`, of which only what is written takes memory. Move-only.
class sealed_memory {
 public:
  static constexpr std::int64_t most_bytes = std::int64_t{64} << 30U;

  /// @throws kevo::error (environment)
  sealed_memory();
  int descriptor() const { return file_.get(); }
  /// Nobody can write it from now on; a process that could must have ended. @throws kevo::error (environment)
  void seal();
  /// The memory that what is written takes. @throws kevo::error (environment)
  std::uint64_t bytes() const;
  /// The text that lies at its beginning, after its length (eight bytes). At most 16 MiB. @throws kevo::error
  /// (environment)
  std::string text() const;

 private:
  detail::descriptor file_;
};

}  // namespace kevo::torch
