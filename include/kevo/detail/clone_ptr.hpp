#pragma once
// A pointer that copies the object it points to: the storage of the type-erased values `any_selector`,
// `any_archive` and so on.

#include <memory>

namespace kevo::detail {

/// Owns a polymorphic object. Copying copies the object with `clone()`. A moved-from pointer is empty.
template <class Interface>
class clone_ptr {
 public:
  clone_ptr() = default;
  explicit clone_ptr(std::unique_ptr<Interface> object) : object_(std::move(object)) {}
  clone_ptr(const clone_ptr& other) : object_(other.object_ ? other.object_->clone() : nullptr) {}
  clone_ptr(clone_ptr&&) noexcept = default;
  clone_ptr& operator=(const clone_ptr& other) {
    if (this != &other) object_ = other.object_ ? other.object_->clone() : nullptr;
    return *this;
  }
  clone_ptr& operator=(clone_ptr&&) noexcept = default;
  ~clone_ptr() = default;

  Interface* operator->() { return object_.get(); }
  const Interface* operator->() const { return object_.get(); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  std::unique_ptr<Interface> object_;
};

}  // namespace kevo::detail
