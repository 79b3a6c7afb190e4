#pragma once
// What roles in Python are shown. Each is valid during the call that passes it only, where it says so, and
// raises later.

#include <memory>
#include <utility>

#include <kevo/error.hpp>
#include <kevo/evaluate.hpp>
#include <kevo/population.hpp>
#include <kevo/random.hpp>
#include <kevo/vary.hpp>

namespace kevo::python {

/// The random numbers of a call: Python holds a copy, whose state goes back when the call ends.
struct random_handle {
  rng numbers;
};

/// The view of a population, during one call.
struct view_handle {
  const population_view* view = nullptr;

  const population_view& get() const {
    if (view == nullptr)
      throw error(error_code::usage, "a view of the population is valid during the call alone");
    return *view;
  }
  /// @throws kevo::error (usage) if there is no such candidate
  candidate_id checked(candidate_id id) const {
    if (id >= get().size())
      throw error(error_code::usage, "there is no candidate with the number " + std::to_string(id));
    return id;
  }
};

/// A request for a variation. Its snapshots stay; its services end with the call.
struct request_handle {
  variation_request request;
};

}  // namespace kevo::python
