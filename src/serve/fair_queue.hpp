#pragma once
// The order in which the evaluations of several tenants are made: their time is shared evenly.

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace kevo::serve {

/// Jobs that wait, by their keys. The next one is of the tenant that has had the least time so far, and of
/// its jobs the one with the highest priority, then the earliest deadline, then the smallest number. A job
/// that several tenants want waits for each of them, and is taken once. Not thread-safe.
class fair_queue {
 public:
  /// Where a job stands among those of its tenants.
  struct terms {
    std::int64_t priority = 0;
    double deadline = std::numeric_limits<double>::infinity();
    std::uint64_t number = 0;
  };
  /// A job that was taken, and the tenant whose turn it was.
  struct turn {
    std::string key;
    std::string tenant;
    double charged_s = 0;  ///< what its evaluation was taken to need
  };

  /// Adds a job, or what a known job has from now on, for all its tenants. A tenant that had nothing to do
  /// begins with what the others have had, so that it cannot save up turns.
  void put(const std::string& key, const std::string& tenant, const terms& at);
  /// The job that is next; nothing if none waits.
  std::optional<std::string> next() const;
  /// Takes the job that is next. There must be one.
  turn take();
  /// Tells what the evaluation of a job that was taken needed. [s]
  void settle(const turn& taken, double needed_s);

  bool contains(const std::string& key) const { return jobs_.contains(key); }
  std::size_t size() const { return jobs_.size(); }
  /// Jobs that wait for this tenant.
  std::size_t size_of(const std::string& tenant) const;
  /// Tenants for which jobs wait.
  std::size_t tenants() const;
  /// How many of a tenant's jobs come before this one, at most `most`; -1 if it does not wait for this
  /// tenant.
  std::int64_t before(const std::string& tenant, const std::string& key, std::int64_t most) const;

 private:
  using place = std::tuple<std::int64_t, double, std::uint64_t>;  ///< the smallest is first
  struct share {
    double had_s = 0;
    std::set<std::pair<place, std::string>> waiting;
  };
  struct waiting_job {
    place at;
    std::set<std::string> tenants;
  };
  std::map<std::string, share>::const_iterator next_share() const;

  std::map<std::string, share> shares_;  ///< by tenant
  std::map<std::string, waiting_job> jobs_;
  double now_s_ = 0;    ///< what the tenant whose turn was last had had before it
  double usual_s_ = 1;  ///< of an evaluation, lately
};

}  // namespace kevo::serve
