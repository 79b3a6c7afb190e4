#include "fitness/oracle/oracle.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <map>
#include <utility>

#include <fmt/format.h>

#include <kevo/error.hpp>
#include <kevo/task_extents.hpp>

#include "fitness/machine/available_memory.hpp"
#include "fitness/oracle/load_failure.hpp"
#include "fitness/oracle/signature.hpp"
#include "fitness/oracle/sum_bound.hpp"
#include "src/base/time/seconds_since.hpp"

namespace kevo {
namespace {

[[noreturn]] void reference_failed(const task& t, const workload& w, const std::string& how,
                                   const std::string& hint = {}) {
  error_place place;
  place.file = t.file;
  place.key = "reference";
  throw error(error_code::input, "the reference " + how + " on workload '" + w.uuid + "'", place, hint);
}

// An element that the reference leaves as it was is compared with whatever lies in memory: no program is
// right.
void require_written(const task& t, const workload& w, const worker_session& session,
                     const isolated_call& call) {
  const auto scales = scale_tensors(t);
  for (std::size_t i = 0; i < t.outputs.size() + scales.size(); ++i) {
    const auto word = session.unwritten_word(call.layout, i);
    if (!word) continue;
    if (i >= t.outputs.size())
      reference_failed(t, w,
                       fmt::format("does not write element {} of its scale tensor '{}'", *word,
                                   scales[i - t.outputs.size()]),
                       "let the reference write every element of it");
    const auto shape = extents(t.outputs[i], axis_values(t, w));
    reference_failed(
        t, w,
        fmt::format("does not write element {} of output '{}'", index_text(*word, shape), t.outputs[i].name),
        "let the reference write every element of each output, also those that its result does "
        "not need, for example with 0; programs must write the same");
  }
}

// How the reference's process ended, with what it wrote: the reference is the user's own, so nothing of it is
// secret.
std::string end_of(const worker_session& session) {
  if (session.last_claim() == worker_claim::call_failed)
    return "raised an exception (" + session.message() + ")";
  if (session.last_claim() == worker_claim::wrong_result) return "is not right (" + session.message() + ")";
  if (!session.report()) return "did not answer";
  constexpr std::size_t most = 2000;
  std::string said = session.report()->err;
  while (!said.empty() && (said.back() == '\n' || said.back() == ' ')) said.pop_back();
  if (said.size() > most) said = "... " + said.substr(said.size() - most);
  return describe(*session.report()) + (said.empty() ? "" : " (it wrote: " + said + ")");
}

std::vector<std::byte> as_bytes(const auto& values) {
  std::vector<std::byte> bytes(values.size() * 8);
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

template <class T>
std::vector<T> as_values(std::span<const std::byte> bytes) {
  std::vector<T> values(bytes.size() / sizeof(T));
  if (!bytes.empty()) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

// What the reference is given: the very values that the kernel sees, as 64-bit elements.
std::vector<std::byte> widen(const element_type& type, std::span<const std::byte> bytes) {
  return type.kind == element_kind::real ? as_bytes(load_reals(type, bytes))
                                         : as_bytes(load_integers(type, bytes));
}

std::uint64_t first_word(std::span<const std::byte> bytes) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes.data(), std::min(bytes.size(), sizeof word));
  return word;
}

// [bytes] that a workload takes for sure: the arena of the reference, and its inputs and outputs once more.
double least_bytes(const task& t, const workload& w) {
  const auto buffers = reference_buffers(t, w);
  double once = 0;
  for (const auto& buffer : buffers) once += static_cast<double>(buffer.bytes);
  return static_cast<double>(arena::slot_bytes(buffers)) + once;
}

// The arena can be mapped whatever its size; filling it is what would fail, late and without a word.
void require_memory(const task& t) {
  const auto available = available_memory();
  if (!available) return;
  for (const auto& w : t.workloads) {
    const double needed = least_bytes(t, w);
    if (needed <= static_cast<double>(*available)) continue;
    throw error(error_code::environment,
                fmt::format("workload '{}' needs at least {:.1f} GB of memory, and {:.1f} GB are available",
                            w.uuid, needed / 1e9, static_cast<double>(*available) / 1e9),
                {.file = t.file, .key = "workloads"}, "reduce its axes, or use a machine with more memory");
  }
}

struct reference_inputs {
  std::vector<std::vector<std::byte>> tensors;
  std::vector<std::uint64_t> scalars;
};

bool all_finite(const std::vector<double>& values) {
  return std::all_of(values.begin(), values.end(), [](double x) { return std::isfinite(x); });
}

// What the kernel sees goes into the content, the same as 64-bit elements to the reference.
reference_inputs hand_out(const task& t, std::vector<std::vector<std::byte>> drawn, content& into) {
  reference_inputs wide;
  for (std::size_t i = 0; i < drawn.size(); ++i) {
    auto values = widen(element_type_of(t.inputs[i]), drawn[i]);
    if (t.inputs[i].scalar) {
      into.scalars.push_back(first_word(drawn[i]));
      wide.scalars.push_back(first_word(values));
    } else {
      wide.tensors.push_back(std::move(values));
      into.inputs.push_back(std::move(drawn[i]));
    }
  }
  return wide;
}

// What the reference computed, still without bounds.
std::vector<expected_output> outputs_of(const task& t, const worker_session& session,
                                        const isolated_call& call) {
  std::vector<expected_output> outputs;
  for (std::size_t i = 0; i < t.outputs.size(); ++i) {
    const auto& type = element_type_of(t.outputs[i]);
    const auto bytes = session.output(call.layout, i);
    expected_output expected;
    if (type.kind == element_kind::real) {
      expected.values = as_values<double>(bytes);
    } else {
      expected.integers = as_values<std::int64_t>(bytes);
    }
    outputs.push_back(std::move(expected));
  }
  return outputs;
}

// Whether all real numbers of a content are drawn one by one with signs at random.
bool random_signs(const task& t, const workload& w, const input_recipe& from) {
  if (from.kind != variety::plain || from.rows || has_made_inputs(w)) return false;
  const auto axes = axis_values(t, w);
  return std::all_of(t.inputs.begin(), t.inputs.end(), [&](const tensor& input) {
    if (input.scalar || element_type_of(input).kind != element_kind::real) return true;
    const auto given = w.inputs.find(input.name);
    return (given == w.inputs.end() || given->second.kind == "random") &&
           has_random_signs(resolved(generator_of(input, t.workloads[from.generators]), axes));
  });
}

// Sets how far each element may be off. The scales are tensors that the reference emits, by name, else
// magnitudes of an output.
void bound_outputs(const task& t, const workload& w, const input_recipe& from,
                   const std::map<std::string, std::vector<double>>& emitted, content& made) {
  const auto axes = axis_values(t, w);
  const bool signs = random_signs(t, w, from);
  for (std::size_t i = 0; i < t.outputs.size(); ++i) {
    const auto& output = t.outputs[i];
    const auto rule = tolerance_for(t, w, output.name);
    std::vector<double> scale;
    if (const auto place = emitted.find(rule.scale); place != emitted.end()) {
      scale = place->second;
    } else {
      for (std::size_t j = 0; j < t.outputs.size(); ++j) {
        if (t.outputs[j].name != rule.scale) continue;
        for (const double x : made.outputs[j].values) scale.push_back(std::abs(x));
      }
    }
    const auto length =
        rule.length ? rule.length->evaluate([&](std::string_view name) -> std::optional<std::int64_t> {
          const auto it = axes.find(std::string(name));
          return it == axes.end() ? std::nullopt : std::optional(it->second);
        })
                    : 1;
    try {
      set_bounds(made.outputs[i], element_type_of(output), rule, scale, length, signs);
    } catch (const error& failure) {
      throw error(failure.code(),
                  failure.message() + " (output '" + output.name + "' of workload '" + w.uuid +
                      "', input data " + std::string(to_string(made.kind)) + ")",
                  {.file = t.file, .key = "reference"}, failure.hint());
    }
  }
}

}  // namespace

std::size_t content::bytes() const {
  std::size_t total = 0;
  for (const auto& input : inputs) total += input.size();
  for (const auto& output : outputs) {
    total += 8 * (output.values.size() + output.integers.size() + output.bounds.size());
  }
  return total;
}

oracle::oracle(std::shared_ptr<const task> t, std::string object, worker_settings worker, pool_limits limits,
               std::optional<std::uint64_t> seed)
    : task_(std::move(t)),
      object_(std::move(object)),
      worker_(std::move(worker)),
      limits_(limits),
      random_(seed ? *seed : secret_seed()),
      pools_(task_->workloads.size()),
      watches_(task_->workloads.size()) {
  special_ = special_rows_for(*task_);
  require_memory(*task_);
  worker_.patient = true;
  worker_.error_output = true;  // the reference is the user's own and may say why it fails
}

// The request to stop is that of the evaluation that asks for contents, and the pool outlives it.
std::unique_ptr<worker_session> oracle::start_reference(std::size_t workload,
                                                        const std::stop_token& stop) const {
  const auto& w = task_->workloads[workload];
  const auto buffers = reference_buffers(*task_, w);
  auto settings = worker_;
  settings.stop = stop;
  auto started =
      std::make_unique<worker_session>(settings, object_, arena::slot_bytes(in_arena(settings, buffers)));
  auto& session = *started;
  session.reshape(buffers);
  const auto end = session.load();
  if (stop.stop_requested()) throw error(error_code::interrupted, "the evaluation was stopped");
  if (end == call_end::load_failed && !session.lock_down_failed()) {
    reference_failed(*task_, w, "cannot be loaded (" + explain_load_failure(session.message()) + ")");
  }
  if (end != call_end::done) {
    throw error(error_code::environment, "cannot start the worker process of the reference: " +
                                             (session.message().empty() && session.report()
                                                  ? describe(*session.report()) + " " + session.report()->err
                                                  : session.message()));
  }
  return started;
}

oracle::processes oracle::start(std::size_t workload, const std::stop_token& stop) const {
  const auto& w = task_->workloads[workload];
  std::unique_ptr<input_maker> inputs;
  if (maker_settings_ && has_made_inputs(w)) {
    auto settings = maker_settings_(workload);
    settings.patient = true;
    settings.stop = stop;
    inputs = std::make_unique<input_maker>(*task_, w, settings);
  }
  return {start_reference(workload, stop), std::move(inputs), stop};
}

std::shared_ptr<const content> oracle::make(std::size_t workload, const input_recipe& from, processes& by) {
  auto& session = *by.reference;
  const bool special = from.rows && from.rows->special.any();
  const auto& w = task_->workloads[workload];
  auto result = std::make_shared<content>();
  result->kind = from.kind;
  result->borrowed = from.generators != workload || from.rows;
  result->rows = from.rows.has_value();
  result->generated = !from.files;
  result->axes =
      task_->reference->language == "python" ? extent_arguments(*task_, w) : axis_arguments(*task_, w);
  auto made = by.inputs ? by.inputs->make(random_) : named_elements();
  const auto wide = hand_out(*task_, draw_inputs(*task_, w, from, std::move(made), random_), *result);

  const auto call = session.run_isolated({wide.tensors, result->axes, wide.scalars}, random_,
                                         std::chrono::minutes(2), false);
  if (call.end == call_end::interrupted) throw error(error_code::interrupted, "the evaluation was stopped");
  if (call.end != call_end::done && special) {
    by.reference = start_reference(workload, by.stop);
    return nullptr;
  }
  if (call.end == call_end::timed_out) reference_failed(*task_, w, "took more than two minutes");
  if (call.end != call_end::done) reference_failed(*task_, w, end_of(session));
  if (call.damage.guards) reference_failed(*task_, w, "wrote outside of its outputs");
  if (call.damage.inputs) reference_failed(*task_, w, "changed its inputs");
  require_written(*task_, w, session, call);

  if (remark_.empty()) remark_ = session.remark();
  const auto scales = scale_tensors(*task_);
  std::map<std::string, std::vector<double>> emitted;
  for (std::size_t i = 0; i < scales.size(); ++i)
    emitted[scales[i]] = as_values<double>(session.output(call.layout, task_->outputs.size() + i));
  result->outputs = outputs_of(*task_, session, call);
  if (special && !(std::all_of(result->outputs.begin(), result->outputs.end(),
                               [](const expected_output& e) { return all_finite(e.values); }) &&
                   std::all_of(emitted.begin(), emitted.end(),
                               [](const auto& named) { return all_finite(named.second); })))
    return nullptr;
  bound_outputs(*task_, w, from, emitted, *result);
  // That zeros or infinities change a result does not make it depend on the inputs that it is meant for.
  if (!special) watches_[workload].see(result);
  return result;
}

std::shared_ptr<const content> oracle::make_with_rows(std::size_t workload, input_recipe from,
                                                      processes& by) {
  auto& wanted = from.rows->special;
  const bool subnormals = wanted.subnormals;
  const auto defined = [&] {
    return special_rows{special_.zeros, special_.subnormals && subnormals, special_.masks};
  };
  wanted = defined();
  if (auto made = make(workload, from, by)) return made;
  for (const auto kind : {&special_rows::zeros, &special_rows::subnormals, &special_rows::masks}) {
    if (!(defined().*kind)) continue;
    wanted = {};
    wanted.*kind = true;
    if (!make(workload, from, by)) special_.*kind = false;
  }
  wanted = defined();
  if (auto made = make(workload, from, by)) return made;
  special_ = wanted = {};
  return make(workload, from, by);
}

fixed_result oracle::fixed() {
  const std::lock_guard lock(mutex_);
  return fixed_result_of(*task_, watches_);
}

std::string oracle::remark() {
  const std::lock_guard lock(mutex_);
  return remark_;
}

// Workloads whose generators may be used for this one: they differ, and speak of real numbers alone, whose
// range does not depend on a size as that of an index does.
std::vector<std::size_t> oracle::lenders(std::size_t workload) const {
  std::vector<std::size_t> found;
  const auto& borrower = task_->workloads[workload];
  for (std::size_t i = 0; i < task_->workloads.size(); ++i) {
    const auto& w = task_->workloads[i];
    bool differs = false;
    bool may = true;
    for (const auto& input : task_->inputs) {
      const auto& theirs = generator_of(input, w);
      if (input.scalar || theirs == generator_of(input, borrower)) continue;
      differs = true;
      may = may && element_type_of(input).kind == element_kind::real &&
            (theirs.kind == "normal" || theirs.kind == "uniform");
    }
    if (differs && may) found.push_back(i);
  }
  return found;
}

bool oracle::has_rows_to_change(std::size_t workload) const {
  const auto& made = task_->workloads[workload].inputs;
  return !pools_[workload].plain_rows &&
         std::any_of(task_->inputs.begin(), task_->inputs.end(), [&](const tensor& input) {
           return may_have_other_rows(input) && !made.contains(input.name);
         });
}

void oracle::leave_rows_alone(std::size_t workload) {
  const std::lock_guard lock(mutex_);
  auto& pool = pools_[workload];
  pool.plain_rows = true;
  // What comes behind the first of them is made again: who counts what was given counts on.
  const auto first =
      std::find_if(pool.varied.begin(), pool.varied.end(), [](const auto& c) { return c->rows; });
  pool.varied.erase(first, pool.varied.end());
  std::erase_if(pool.mixed, [](const auto& c) { return c->rows; });
}

// The kinds of contents besides the plain one, in the order in which they have their turns. The first, and so
// one of the first eight contents, which each program is checked with, has rows unlike the others; what
// follows alternates between the simple, the composed and the borrowed kinds.
std::vector<input_recipe> oracle::other_recipes(std::size_t workload) const {
  const auto& w = task_->workloads[workload];
  const auto lent = lenders(workload);
  std::vector<input_recipe> whole;
  // What is known in advance is not in all calls.
  if (alternates(w)) whole.push_back({variety::plain, workload, false});
  constexpr variety turns[] = {variety::patchy,   variety::scaled,       variety::spiked,
                               variety::constant, variety::heavy_tailed, variety::shifted};
  auto next = lent.begin();
  for (const auto v : turns) {
    whole.push_back({v, workload, true});
    if (whole.size() % 2 == 1 && next != lent.end()) whole.push_back({variety::plain, *next++, true});
  }
  for (; next != lent.end(); ++next) whole.push_back({variety::plain, *next, true});
  if (!has_rows_to_change(workload)) return whole;
  // Subnormal numbers are slow, which would be timed.
  whole.insert(whole.begin(), {variety::plain, workload, true, row_sources{lent, {true, false, true}}});
  return whole;
}

bool oracle::is_full(const workload_pool& pool) const {
  if (pool.mixed.size() < limits_.minimum) return false;
  return pool.mixed.size() >= limits_.maximum || pool.bytes >= limits_.bytes ||
         pool.seconds >= limits_.seconds;
}

bool oracle::complete(std::size_t workload) {
  const std::lock_guard lock(mutex_);
  return is_full(pools_[workload]);
}

// Of each eight in a row three are of other kinds.
std::shared_ptr<const content> oracle::make_next(std::size_t workload,
                                                 const std::vector<input_recipe>& others, processes& by) {
  auto& pool = pools_[workload];
  const std::size_t place = pool.made++ % 8;
  const bool other = place == 1 || place == 3 || place == 6;
  const input_recipe from =
      other ? others[pool.others++ % others.size()] : input_recipe{variety::plain, workload, true};
  return from.rows ? make_with_rows(workload, from, by) : make(workload, from, by);
}

// A process of the reference takes a while to start, and what is kept is given to later candidates, too.
oracle::further_contents oracle::further(std::size_t workload, std::size_t count, std::size_t most,
                                         const std::stop_token& stop) {
  constexpr double worth_s = 0.1;
  const std::lock_guard lock(mutex_);
  auto& pool = pools_[workload];
  const auto begin = std::chrono::steady_clock::now();
  auto by = start(workload, stop);
  const auto others = other_recipes(workload);
  further_contents result;
  std::size_t bytes = 0;
  while (result.made.size() < count ||
         (result.made.size() < most && bytes < limits_.bytes && seconds_since(begin) < worth_s)) {
    result.made.push_back(make_next(workload, others, by));
    const std::size_t size = result.made.back()->bytes();
    bytes += size;
    if (pool.bytes + size > limits_.bytes || result.kept + 1 < result.made.size()) continue;
    pool.mixed.push_back(result.made.back());
    pool.bytes += size;
    ++result.kept;
  }
  return result;
}

std::vector<std::shared_ptr<const content>> oracle::mixed(std::size_t workload, double seconds,
                                                          const std::stop_token& stop) {
  const std::lock_guard lock(mutex_);
  auto& pool = pools_[workload];
  if (is_full(pool)) return pool.mixed;
  const auto begin = std::chrono::steady_clock::now();
  auto by = start(workload, stop);
  const auto others = other_recipes(workload);
  const double spent_before = pool.seconds;
  while (!is_full(pool)) {
    if (pool.mixed.size() >= limits_.minimum && pool.seconds - spent_before >= seconds) break;
    pool.mixed.push_back(make_next(workload, others, by));
    pool.bytes += pool.mixed.back()->bytes();
    pool.seconds = spent_before + seconds_since(begin);
  }
  return pool.mixed;
}

std::vector<std::shared_ptr<const content>> oracle::varied(std::size_t workload, std::size_t count,
                                                           const std::stop_token& stop, std::size_t from) {
  constexpr std::size_t every_plain = 3;
  const std::lock_guard lock(mutex_);
  auto& pool = pools_[workload].varied;
  if (pool.size() < from + count) {
    auto by = start(workload, stop);
    const auto lent = lenders(workload);
    const bool has_rows = has_rows_to_change(workload);
    while (pool.size() < from + count) {
      // Workloads begin with different varieties, so that a few contents of each show all of them.
      const std::size_t size = pool.size();
      const std::size_t kind = size % every_plain == 0
                                   ? 0
                                   : 1 + (2 * workload + size - 1 - size / every_plain) % (variety_count - 1);
      const bool files = size % 2 == 0 || !alternates(task_->workloads[workload]);
      input_recipe recipe = {static_cast<variety>(kind), workload, files};
      if (kind != 0 && has_rows) recipe.rows = row_sources{lent, {true, true, true}};
      pool.push_back(recipe.rows ? make_with_rows(workload, recipe, by) : make(workload, recipe, by));
    }
  }
  const auto begin = pool.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

}  // namespace kevo
