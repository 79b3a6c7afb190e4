#pragma once
// Whether events could be those of a search. A journal may be damaged or made up, and its numbers become
// sizes and indices in memory.

#include <cstddef>

#include <kevo/event.hpp>

namespace kevo::detail {

/// Looks at the events of a run in their order.
class event_order {
 public:
  /// @param operators how many the run has
  explicit event_order(std::size_t operators) : operators_(operators) {}

  /// @throws kevo::error (input) if no search could have emitted this event after those before it: candidates
  /// are numbered as they are born, and nothing is said of one that is not born yet
  void require(const event& next);

 private:
  std::size_t operators_;
  std::size_t born_ = 0;
};

}  // namespace kevo::detail
