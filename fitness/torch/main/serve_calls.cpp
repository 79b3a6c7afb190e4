// The calls of a Python process: what lies between "go" and "done" of kevo's own is here, and compiled, for
// it is in the time of every program. Tensors around the inputs are made before, when only their addresses
// are known; after the call, nothing is done but to say where the results lie. kevo_torch.py calls it, with
// functions for what is rare.

#include "fitness/torch/main/serve_calls.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "fitness/torch/main/python.hpp"

namespace kevo::torch {
namespace {

// A reference to an object of Python.
class held {
 public:
  held() = default;
  explicit held(PyObject* given) : object_(given) {}  // takes the reference over
  held(held&& other) noexcept : object_(std::exchange(other.object_, nullptr)) {}
  held& operator=(held&& other) noexcept {
    std::swap(object_, other.object_);
    return *this;
  }
  held(const held&) = delete;
  held& operator=(const held&) = delete;
  ~held() {
    if (object_ != nullptr) Py_DecRef(object_);
  }
  static held shared(PyObject* object) {
    Py_IncRef(object);
    return held(object);
  }
  PyObject* get() const { return object_; }
  PyObject* release() { return std::exchange(object_, nullptr); }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_ = nullptr;
};

constexpr int checked_calls = 2;
constexpr const char* unused_name = "dltensor";

void keep_versioned(dl_managed_versioned* /*tensor*/) {}
void keep_plain(dl_managed* /*tensor*/) {}

// Whether elements lie row by row without gaps.
bool is_contiguous(const dl_tensor& x) {
  if (x.strides == nullptr) return true;
  std::int64_t step = 1;
  for (int i = x.rank; i-- > 0;) {
    if (x.extents[i] != 1 && x.strides[i] != step) return false;
    step *= x.extents[i];
  }
  return true;
}

// Whether several elements may be one place in memory: in the order of strides, each step must be longer than
// all that the shorter ones reach together.
bool overlaps(const dl_tensor& x) {
  std::array<std::pair<std::int64_t, std::int64_t>, 64> steps;
  std::size_t count = 0;
  for (int i = 0; i < x.rank; ++i) {
    if (x.extents[i] > 1) steps[count++] = {x.strides[i], x.extents[i]};
  }
  std::sort(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(count));
  std::int64_t reach = 0;
  for (std::size_t i = 0; i < count; ++i) {
    if (steps[i].first <= reach) return true;
    reach += (steps[i].second - 1) * steps[i].first;
  }
  return false;
}

// Row by row from a tensor of any strides.
void copy_elements(const dl_tensor& x, std::size_t size, std::byte* into) {
  const auto* from = static_cast<const std::byte*>(x.data) + x.byte_offset;
  std::int64_t count = 1;
  for (int i = 0; i < x.rank; ++i) count *= x.extents[i];
  if (is_contiguous(x)) {
    if (count > 0) std::memcpy(into, from, static_cast<std::size_t>(count) * size);
    return;
  }
  std::array<std::int64_t, 64> index{};
  for (std::int64_t n = 0; n < count; ++n) {
    std::int64_t offset = 0;
    for (int i = 0; i < x.rank; ++i) offset += index[static_cast<std::size_t>(i)] * x.strides[i];
    std::memcpy(into, from + offset * static_cast<std::int64_t>(size), size);
    into += size;
    for (int i = x.rank; i-- > 0;) {
      if (++index[static_cast<std::size_t>(i)] < x.extents[i]) break;
      index[static_cast<std::size_t>(i)] = 0;
    }
  }
}

class call_server {
 public:
  call_server(control_page& page, worker_side::region arena, const call_tools& tools,
              std::span<const tensor_kind> inputs, std::span<const tensor_kind> outputs)
      : page_(&page),
        arena_(arena),
        tools_(tools),
        inputs_(inputs.begin(), inputs.end()),
        outputs_(outputs.begin(), outputs.end()) {
    if (tools.exchange != nullptr) {
      exchange_ =
          static_cast<const dl_exchange*>(PyCapsule_GetPointer(tools.exchange, "dlpack_exchange_api"));
      if (exchange_ == nullptr || exchange_->version.major != 1) {
        PyErr_Clear();
        exchange_ = nullptr;
      }
    }
    for (const auto& one : inputs_) scalars_ += one.scalar != 0 ? 1 : 0;
    around_.resize(inputs_.size());
    plain_.resize(inputs_.size());
  }

  // What the next call needs besides the contents. An error of Python is kept for the call.
  void prepare(const call_arguments& call) {
    result_ = held();
    made_.clear();
    arguments_ = held(PyTuple_New(static_cast<std::ptrdiff_t>(inputs_.size())));
    std::size_t place = 0;
    std::int64_t* extent = extents_.data();
    std::copy(call.axes.begin(), call.axes.end(), extents_.begin());
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      if (inputs_[i].scalar != 0) continue;
      PyObject* tensor = around(i, arena_.data + call.offsets[place++], extent);
      extent += inputs_[i].rank;
      if (tensor == nullptr) {
        arguments_ = held();
        return;
      }
      PyTuple_SetItem(arguments_.get(), static_cast<std::ptrdiff_t>(i), tensor);
    }
    first_result_ = static_cast<std::size_t>(extent - extents_.data());
    outputs_inside_ = call.pointers > place;
    first_output_ = place;
  }

  // One call. False if Python has raised an exception.
  bool call(const call_arguments& given) {
    if (!arguments_) return false;
    std::size_t number = 0;
    for (std::size_t i = 0; number < scalars_; ++i) {
      if (inputs_[i].scalar == 0) continue;
      PyObject* value = scalar(i, given.scalars[number++]);
      if (value == nullptr) return false;
      PyTuple_SetItem(arguments_.get(), static_cast<std::ptrdiff_t>(i), value);
    }
    result_ = held(PyObject_Call(tools_.program, arguments_.get(), nullptr));
    if (!result_) return false;
    return tools_.silent != 0 || say_results(given);
  }

 private:
  // A tensor around memory of the arena, which stays the controller's.
  PyObject* around(std::size_t i, std::byte* data, std::int64_t* extents) {
    const auto& kind = inputs_[i];
    dl_tensor tensor{};
    tensor.data = data;
    tensor.device = {1, 0};
    tensor.rank = kind.rank;
    tensor.type = {kind.code, kind.bits, 1};
    tensor.extents = extents;
    std::int64_t* strides = strides_.data() + (extents - extents_.data());
    std::int64_t step = 1;
    for (int k = kind.rank; k-- > 0;) {
      strides[k] = step;
      step *= extents[k];
    }
    tensor.strides = strides;
    if (exchange_ != nullptr) {
      around_[i] = {{1, 0}, nullptr, keep_versioned, 0, tensor};
      void* object = nullptr;
      return exchange_->take(&around_[i], &object) == 0 ? static_cast<PyObject*>(object) : nullptr;
    }
    plain_[i] = {tensor, nullptr, keep_plain};
    const held capsule(static_cast<PyObject*>(PyCapsule_New(&plain_[i], unused_name, nullptr)));
    return capsule ? PyObject_CallFunctionObjArgs(tools_.from_capsule, capsule.get(), nullptr) : nullptr;
  }

  PyObject* scalar(std::size_t i, std::uint64_t word) const {
    // 64-bit integers, which sizes are, without a function of Python.
    if (inputs_[i].code == 0 && inputs_[i].bits == 64)
      return PyLong_FromLongLong(static_cast<long long>(word));
    const held index(PyLong_FromLongLong(static_cast<long long>(i)));
    const held bits(PyLong_FromUnsignedLongLong(word));
    return PyObject_CallFunctionObjArgs(tools_.scalar, index.get(), bits.get(), nullptr);
  }

  // What is known of a tensor. False if it cannot be said, with an exception or without.
  bool look(PyObject* tensor, dl_tensor& seen) {
    if (exchange_ != nullptr) return exchange_->look(tensor, &seen) == 0;
    made_.emplace_back(PyObject_CallFunctionObjArgs(tools_.to_capsule, tensor, nullptr));
    if (!made_.back()) return false;
    const auto* plain = static_cast<const dl_managed*>(PyCapsule_GetPointer(made_.back().get(), unused_name));
    if (plain == nullptr) return false;
    seen = plain->tensor;
    return true;
  }

  bool is_tensor(PyObject* object) const {
    const held type(PyObject_Type(object));
    return type.get() == tools_.tensor || type.get() == tools_.parameter;
  }

  bool fits(const dl_tensor& seen, std::size_t output, const std::int64_t* extents) const {
    const auto& kind = outputs_[output];
    if (seen.device.type != 1 || seen.rank != kind.rank || seen.type.code != kind.code ||
        seen.type.bits != kind.bits)
      return false;
    return std::equal(extents, extents + kind.rank, seen.extents);
  }

  // Its elements are still to be made, or are not its own: they lie in an input, several are one place, or
  // their signs change when they are read.
  std::optional<bool> is_borrowed(PyObject* tensor, const dl_tensor& seen) {
    const auto* data = static_cast<const std::byte*>(seen.data) + seen.byte_offset;
    if (data >= arena_.data && data < arena_.data + arena_.size) return true;
    if (!is_contiguous(seen) && overlaps(seen)) return true;
    if (calls_ >= checked_calls && !negative_) return false;
    const held answer(PyObject_CallFunctionObjArgs(tools_.is_negative, tensor, nullptr));
    if (!answer) return std::nullopt;
    const bool negative = PyObject_IsTrue(answer.get()) == 1;
    negative_ = negative_ || negative;
    return negative;
  }

  // What cannot be a result is refused by a function that says why, and does not return.
  bool refuse(PyObject* object, std::size_t output) {
    PyErr_Clear();
    const held index(PyLong_FromLongLong(static_cast<long long>(output)));
    const held extents(extents_of(output));
    const held never(PyObject_CallFunctionObjArgs(tools_.check, object, index.get(), extents.get(), nullptr));
    return static_cast<bool>(never);
  }

  PyObject* extents_of(std::size_t output) const {
    const std::int64_t* extent = extents_.data() + first_result_;
    for (std::size_t i = 0; i < output; ++i) extent += outputs_[i].rank;
    PyObject* tuple = PyTuple_New(outputs_[output].rank);
    for (int k = 0; k < outputs_[output].rank; ++k) PyTuple_SetItem(tuple, k, PyLong_FromLongLong(extent[k]));
    return tuple;
  }

  bool say_results(const call_arguments& given) {
    PyObject* all = nullptr;  // a tuple of tensors; null: there is one
    if (outputs_.size() != 1 || !is_tensor(result_.get())) {
      const held count(PyLong_FromLongLong(static_cast<long long>(outputs_.size())));
      result_ = held(PyObject_CallFunctionObjArgs(tools_.unpack, result_.get(), count.get(), nullptr));
      if (!result_) return false;
      all = result_.get();
    }
    const std::int64_t* extents = extents_.data() + first_result_;
    std::size_t word = 0;
    for (std::size_t i = 0; i < outputs_.size(); ++i) {
      PyObject* one = all == nullptr ? result_.get() : PyTuple_GetItem(all, static_cast<std::ptrdiff_t>(i));
      if (one == nullptr) return false;
      if (!say_result(one, i, extents, given, word)) return false;
      extents += outputs_[i].rank;
    }
    ++calls_;
    return true;
  }

  bool say_result(PyObject* one, std::size_t i, const std::int64_t* extents, const call_arguments& given,
                  std::size_t& word) {
    dl_tensor seen{};
    if (!is_tensor(one) || !look(one, seen) || !fits(seen, i, extents)) {
      if (!refuse(one, i)) return false;
      // It can be one all the same: then the function of Python made it so, which `look` cannot say anything
      // of.
      return false;
    }
    if (calls_ < checked_calls && !refuse(one, i)) return false;
    const bool empty = std::find(extents, extents + outputs_[i].rank, 0) != extents + outputs_[i].rank;
    if (!empty) {
      const auto borrowed = is_borrowed(one, seen);
      if (!borrowed) return false;
      if (*borrowed) {
        made_.emplace_back(PyObject_CallFunctionObjArgs(tools_.own, one, nullptr));
        if (!made_.back() || !look(made_.back().get(), seen)) return false;
      }
    }
    if (outputs_inside_) {
      copy_elements(seen, outputs_[i].bits / 8U, arena_.data + given.offsets[first_output_ + i]);
      return true;
    }
    if (word + 1 + static_cast<std::size_t>(seen.rank) > most_result_words) return refuse(one, i);
    auto& words = page_->results;
    words[word++] = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(seen.data) + seen.byte_offset);
    std::int64_t step = 1;
    for (int k = seen.rank; k-- > 0;) {
      words[word + static_cast<std::size_t>(k)] = seen.strides == nullptr ? step : seen.strides[k];
      step *= seen.extents[k];
    }
    word += static_cast<std::size_t>(seen.rank);
    return true;
  }

  control_page* page_;
  worker_side::region arena_;
  call_tools tools_;
  const dl_exchange* exchange_ = nullptr;
  std::vector<tensor_kind> inputs_;
  std::vector<tensor_kind> outputs_;
  std::size_t scalars_ = 0;
  std::array<std::int64_t, most_axes> extents_{};
  std::array<std::int64_t, most_axes> strides_{};
  std::size_t first_result_ = 0;  // of its extents
  std::size_t first_output_ = 0;  // of its offset in the arena
  bool outputs_inside_ = false;   // results are copied to the arena
  std::vector<dl_managed_versioned> around_;
  std::vector<dl_managed> plain_;
  held arguments_;
  held result_;             // of the latest call, until the next one is prepared
  std::vector<held> made_;  // what its results were made into
  int calls_ = 0;
  bool negative_ = false;
};

}  // namespace

bool serve_calls(control_page& page, worker_side::region arena, bool threads, const call_tools& tools,
                 std::span<const tensor_kind> inputs, std::span<const tensor_kind> outputs) {
  call_server server(page, arena, tools, inputs, outputs);
  worker_side::calls calls(page, threads, [&](const call_arguments& next) { server.prepare(next); });
  for (;;) {
    if (!server.call(calls.next())) return false;
    calls.done();
  }
}

}  // namespace kevo::torch
