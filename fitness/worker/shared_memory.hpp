#pragma once
// Anonymous memory that can be handed to another process by descriptor.

#include <cstddef>
#include <utility>

namespace kevo {

/// A sealed-size memfd, mapped read-write. Move-only.
class shared_memory {
 public:
  shared_memory() = default;
  /// Zero-filled; pages appear when they are touched. @throws kevo::error (environment)
  shared_memory(const char* name, std::size_t size);
  shared_memory(shared_memory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)),
        size_(std::exchange(other.size_, 0)),
        descriptor_(std::exchange(other.descriptor_, -1)) {}
  shared_memory& operator=(shared_memory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(descriptor_, other.descriptor_);
    return *this;
  }
  shared_memory(const shared_memory&) = delete;
  shared_memory& operator=(const shared_memory&) = delete;
  ~shared_memory();

  std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }
  int descriptor() const { return descriptor_; }  ///< close-on-exec

 private:
  std::byte* data_ = nullptr;
  std::size_t size_ = 0;
  int descriptor_ = -1;
};

}  // namespace kevo
