#pragma once
// Services: objects that a program offers to its plug-ins, found by their type. The core need not know the
// types: the program puts its language models in, say, and an operator that needs them takes them out.

#include <map>
#include <memory>
#include <typeindex>
#include <utility>

namespace kevo {

/// A bag with at most one object of each type, shared with whoever takes it out. Cheap to copy; copies share
/// the objects. Not thread-safe while it is filled.
class services {
 public:
  /// Puts an object in, in the place of one of the same type; a null pointer takes that one out.
  template <class T>
  void put(std::shared_ptr<T> object) {
    if (object) {
      objects_[typeid(T)] = std::move(object);
    } else {
      objects_.erase(typeid(T));
    }
  }
  /// The object of this type; null if there is none.
  template <class T>
  std::shared_ptr<T> get() const {
    const auto found = objects_.find(typeid(T));
    return found == objects_.end() ? nullptr : std::static_pointer_cast<T>(found->second);
  }

 private:
  std::map<std::type_index, std::shared_ptr<void>> objects_;
};

}  // namespace kevo
