#pragma once
// The secret half of an evaluation: contents with what they must give, made by the reference in a worker of
// its own and kept in memory that no candidate can map.

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include <kevo/random.hpp>
#include <kevo/task.hpp>

#include "fitness/oracle/compare.hpp"
#include "fitness/oracle/draw_inputs.hpp"
#include "fitness/oracle/fixed_result.hpp"
#include "fitness/oracle/generate.hpp"
#include "fitness/oracle/input_maker.hpp"
#include "fitness/worker/session.hpp"

namespace kevo {

/// One (input, expected) pair of one workload.
struct content {
  std::vector<std::vector<std::byte>> inputs;  ///< of the tensors among the inputs, in order
  std::vector<std::uint64_t> scalars;          ///< their bytes
  std::vector<std::int64_t> axes;              ///< the variable ones
  std::vector<expected_output> outputs;
  variety kind = variety::plain;
  bool borrowed =
      false;  ///< made, or some rows of it, by the generators of another workload, perhaps a hidden one
  bool rows = false;       ///< some rows are unlike the others; `borrowed`, too
  bool generated = false;  ///< made by generators in place of the files that the workload names

  call_content call() const { return {inputs, axes, scalars}; }
  std::size_t bytes() const;
};

/// How much a pool may hold.
struct pool_limits {
  std::size_t minimum = 8;         ///< number of contents that are made, whatever they cost
  std::size_t maximum = 256;       ///< number of contents
  std::size_t bytes = 96U << 20U;  ///< of one workload
  double seconds = 1.5;            ///< of the reference, for one workload
};

/// Makes and keeps contents for every workload of a task. Thread-safe. Contents are made when they are first
/// asked for and live as long as the pool; the seed is secret unless it is given (tests).
class oracle {
 public:
  /// @param object the built reference (with its entry)
  /// @throws kevo::error (environment) that names a workload which does not fit the machine's memory
  oracle(std::shared_ptr<const task> t, std::string object, worker_settings worker, pool_limits limits = {},
         std::optional<std::uint64_t> seed = {});

  /// For tasks whose reference makes inputs: starts the process that does, for a workload.
  using maker_settings = std::function<worker_settings(std::size_t workload)>;
  /// Call it before contents are asked for.
  void make_inputs_with(maker_settings settings) { maker_settings_ = std::move(settings); }

  /// The mixture that timed and checked calls of a workload are given, at least `least` contents. More than
  /// half are of the workload's own distribution; of each eight in a row, one has rows unlike the others, and
  /// two are of more kinds, among them what other workloads' generators make. Each call adds contents
  /// to those of the calls before, for about `seconds` and until the limits are reached.
  /// @throws kevo::error: input (the reference crashes, hangs or gives NaN), environment, interrupted
  std::vector<std::shared_ptr<const content>> mixed(std::size_t workload, double seconds,
                                                    const std::stop_token& stop = {});
  /// Whether the mixture of a workload has reached the limits.
  bool complete(std::size_t workload);
  /// At least `count` further contents of that mixture, of which the first `kept` belong to what `mixed`
  /// gives from now on: as many as there is room for. Where they are cheap there are more than `count`, at
  /// most `most`. @throws kevo::error, as `mixed`
  struct further_contents {
    std::vector<std::shared_ptr<const content>> made;
    std::size_t kept = 0;
  };
  further_contents further(std::size_t workload, std::size_t count, std::size_t most,
                           const std::stop_token& stop = {});
  /// `count` contents of a workload that is never timed, without the first `from`. The first of each three is
  /// plain, the others are of changing kinds and have rows unlike the others. @throws kevo::error, as `mixed`
  std::vector<std::shared_ptr<const content>> varied(std::size_t workload, std::size_t count,
                                                     const std::stop_token& stop = {}, std::size_t from = 0);

  /// From now on no content of a workload has rows unlike the others, nor do those that were made.
  void leave_rows_alone(std::size_t workload);

  const kevo::task& subject() const { return *task_; }
  /// What the reference's process said of itself, if it did: that it could not compute in float64, for
  /// example.
  std::string remark();
  /// Whether the result depends on the inputs, by all contents that were made so far.
  fixed_result fixed();

 private:
  struct workload_pool {
    std::vector<std::shared_ptr<const content>> mixed;
    std::size_t made = 0;     ///< of the mixture so far, kept or not
    std::size_t others = 0;   ///< of these that are not of the workload's own distribution
    std::size_t bytes = 0;    ///< of `mixed`
    double seconds = 0;       ///< that `mixed` took
    bool plain_rows = false;  ///< no rows are unlike the others
    std::vector<std::shared_ptr<const content>> varied;
  };

  /// The processes that a content takes: of the reference, and of what makes inputs if there are such inputs.
  struct processes {
    std::unique_ptr<worker_session> reference;
    std::unique_ptr<input_maker> inputs;
    std::stop_token stop;
  };

  /// Null if the reference fails, or its result is not finite, and the inputs have special rows.
  std::shared_ptr<const content> make(std::size_t workload, const input_recipe& from, processes& by);
  /// The same with rows unlike the others, and of the special ones those for which the reference is defined.
  std::shared_ptr<const content> make_with_rows(std::size_t workload, input_recipe from, processes& by);
  std::shared_ptr<const content> make_next(std::size_t workload, const std::vector<input_recipe>& others,
                                           processes& by);
  std::vector<std::size_t> lenders(std::size_t workload) const;
  std::vector<input_recipe> other_recipes(std::size_t workload) const;
  bool has_rows_to_change(std::size_t workload) const;
  bool is_full(const workload_pool& pool) const;
  processes start(std::size_t workload, const std::stop_token& stop) const;
  std::unique_ptr<worker_session> start_reference(std::size_t workload, const std::stop_token& stop) const;

  std::shared_ptr<const task> task_;
  std::string object_;
  worker_settings worker_;
  maker_settings maker_settings_;
  pool_limits limits_;
  rng random_;
  special_rows special_;  ///< for which the reference is defined, as far as is known
  std::mutex mutex_;
  std::string remark_;
  std::vector<workload_pool> pools_;
  std::vector<result_watch> watches_;  // one for each workload
};

}  // namespace kevo
