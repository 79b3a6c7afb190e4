#pragma once
// Several devices of one machine as one fitness function: each evaluation goes to the device with the least
// to do, a lost device leaves the pool, and a confirmation is made on two devices.

#include <cstddef>
#include <functional>
#include <mutex>
#include <string>
#include <vector>

#include <kevo/evaluate.hpp>

namespace kevo {

/// One device, with the fitness function that evaluates on it and on nothing else.
struct pooled_device {
  int number = 0;  ///< as users count the devices
  any_fitness evaluator;
};

/// Thread-safe. Adds to the context of each evaluation: `device_number`; `confirmed_on` of a confirmation
/// ("0, 1"); `devices_disagree` where two devices said different things of one program; `devices_lost` of the
/// first evaluation after a loss.
class device_pool {
 public:
  /// Makes the devices, at the first evaluation. @throws kevo::error
  using maker = std::function<std::vector<pooled_device>()>;
  explicit device_pool(maker make) : make_(std::move(make)) {}

  /// Evaluates on one device; a confirmation on two, if there are two. A device whose evaluation throws
  /// kevo::error (environment) is used no more, and the evaluation goes on on another one. A program during
  /// whose evaluation two devices are lost gets the outcome `crashed` if others are left: it may be what
  /// loses them. A device that never ended an evaluation does not count there: it has never worked.
  /// @throws kevo::error: environment if no device is left; input; interrupted
  evaluation evaluate(const evaluation_request& request);
  std::string describe() const;

 private:
  struct member {
    pooled_device device{};
    std::size_t running = 0;
    std::size_t begun = 0;
    std::size_t ended = 0;  ///< evaluations with a result
    std::string lost{};     ///< why it is used no more; empty: it is used
  };
  /// An evaluation, and where it was made.
  struct made_on {
    evaluation result;
    int device = -1;
  };

  void make_devices();
  /// The usable device with the least to do, but not `except`; nothing if there is none.
  member* take(int except);
  void give_back(member& from);
  /// What is left after a device was lost.
  struct loss {
    bool others = false;  ///< whether another device is left
    bool worked = false;  ///< whether the lost device had ended an evaluation
  };
  loss lose(member& which, const std::string& why);
  evaluation told(evaluation result, member& by);
  evaluation two_lost(member& last);
  made_on evaluate_on_any(const evaluation_request& request, int except);
  bool has_other(int than) const;

  maker make_;
  std::mutex making_;
  bool made_ = false;  // guarded by making_
  mutable std::mutex guard_;
  std::vector<member> members_;  // as many as at first, from then on
  std::string losses_;           ///< that no evaluation has told of yet
};

/// What two devices said of one program as one evaluation: the first one, if they agree. They disagree if one
/// of them says that it is not valid, or if the interval of the quotient of the two speedups lies outside
/// [0.99, 1.01]. Then the evaluation is the worse one, and its context says so. Costs add up.
evaluation agreed(evaluation first, int first_device, evaluation second, int second_device);

}  // namespace kevo
