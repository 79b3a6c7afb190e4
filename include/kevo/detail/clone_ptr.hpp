#pragma once
// A pointer that copies the object it points to: the storage of the type-erased values `any_selector`,
// `any_archive` and so on. It holds a plain pointer: std::unique_ptr has to be instantiated for each role and
// for each plug-in of a role, which a translation unit that includes all roles notices in its compile time.

#include <utility>

namespace kevo::detail {

/// Owns a polymorphic object. Copying copies the object with `clone()`, which returns a new object. A
/// moved-from pointer is empty.
template <class Interface>
class clone_ptr {
 public:
  clone_ptr() = default;
  /// Takes over `object`, which was made with `new`.
  explicit clone_ptr(Interface* object) : object_(object) {}
  clone_ptr(const clone_ptr& other) : object_(other.object_ != nullptr ? other.object_->clone() : nullptr) {}
  clone_ptr(clone_ptr&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  clone_ptr& operator=(clone_ptr other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  ~clone_ptr() { delete object_; }

  Interface* operator->() { return object_; }
  const Interface* operator->() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  Interface* object_ = nullptr;
};

}  // namespace kevo::detail
