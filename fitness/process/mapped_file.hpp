#pragma once
// The content of an open file as memory.

#include <cstddef>
#include <span>

namespace kevo::detail {

/// A file mapped for reading, from its beginning to its end at that time. The descriptor may be closed.
class mapped_file {
 public:
  /// @throws kevo::error (environment)
  explicit mapped_file(int descriptor);
  mapped_file(const mapped_file&) = delete;
  mapped_file& operator=(const mapped_file&) = delete;
  ~mapped_file();

  std::span<const std::byte> bytes() const { return bytes_; }

 private:
  std::span<const std::byte> bytes_;
};

}  // namespace kevo::detail
