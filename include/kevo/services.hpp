#pragma once
// Services: objects that a program offers to its plug-ins, found by their type. The core does not know the
// types. For example, the program puts its language models in, and an operator that needs them gets them.

#include <map>
#include <memory>
#include <typeindex>
#include <utility>

namespace kevo {

/// A container of shared objects, at most one of each type. A copy shares the objects. `get` may be called
/// from several threads at once; `put` must not run at the same time as other calls.
class services {
 public:
  /// Adds an object; replaces an object of the same type. A null pointer removes the object of that type.
  template <class T>
  void put(std::shared_ptr<T> object) {
    if (object) {
      objects_[typeid(T)] = std::move(object);
    } else {
      objects_.erase(typeid(T));
    }
  }
  /// The object of this type; a null pointer if there is none.
  template <class T>
  std::shared_ptr<T> get() const {
    const auto found = objects_.find(typeid(T));
    return found == objects_.end() ? nullptr : std::static_pointer_cast<T>(found->second);
  }

 private:
  std::map<std::type_index, std::shared_ptr<void>> objects_;
};

}  // namespace kevo
