#include "src/task/decode_calls.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include <kevo/error.hpp>

#include "src/base/settings/json.hpp"
#include "src/task/decode.hpp"

namespace kevo::task_decoding {
namespace {

// What an argument that is not a plain value may be: a map with one of these keys.
constexpr std::array<std::string_view, 13> kinds = {"input",    "list",    "tuple",   "map",     "dtype",
                                                    "value",    "tensor",  "complex", "permute", "dominant",
                                                    "definite", "written", "device"};

[[noreturn]] void refuse(const settings_node& node, const std::string& what, const std::string& hint = {}) {
  throw error(error_code::input, what, node.place, hint);
}

bool has(const std::vector<tensor>& all, const std::string& name) {
  return std::any_of(all.begin(), all.end(), [&](const tensor& one) { return one.name == name; });
}

void check_argument(const settings_node& node, const task& t);

void check_all(const settings_node& node, const task& t) {
  for (const auto& item : node.items) check_argument(item, t);
  for (const auto& entry : node.entries) check_argument(entry.value, t);
}

void check_argument(const settings_node& node, const task& t) {
  if (node.is_list()) refuse(node, "a list as an argument is written {list: [...]}");
  if (!node.is_map()) return;
  if (node.entries.size() != 1 ||
      std::find(kinds.begin(), kinds.end(), node.entries.front().key) == kinds.end())
    refuse(node, "an argument is a plain value or a map with one key, which says what it is",
           "for example, {input: x} or {list: [1, 2]}");
  const auto& [kind, value, line, column] = node.entries.front();
  if (kind == "input" && (value.type != settings_node::kind::text || !has(t.inputs, value.text)))
    refuse(value, "the task has no such input");
  if (kind == "list" || kind == "tuple" || kind == "map") check_all(value, t);
  if (kind == "complex" || kind == "dominant" || kind == "definite" || kind == "written")
    check_argument(value, t);
  if (kind == "permute") {
    if (!value.is_list() || value.items.size() != 2 || !value.items[1].is_list())
      refuse(value, "permute takes an argument and the order of its dimensions",
             "for example, [{input: x}, [1, 0]]");
    check_argument(value.items[0], t);
  }
}

void check_call(const settings_node& call, const task& t) {
  if (!call.is_map()) refuse(call, "expected a map with args, kwargs and results, found " + describe(call));
  for (const auto& [key, value, line, column] : call.entries) {
    if (key != "args" && key != "kwargs" && key != "results")
      refuse(value, "unknown key '" + key + "' of a call", "use args, kwargs and results");
    if (key == "kwargs" ? !value.is_map() : !value.is_list())
      refuse(value,
             "expected a " + std::string(key == "kwargs" ? "map" : "list") + ", found " + describe(value));
    if (key != "results") {
      check_all(value, t);
      continue;
    }
    for (const auto& one : value.items) {
      if (one.type == settings_node::kind::null) continue;
      if (one.type != settings_node::kind::text || !has(t.outputs, one.text))
        refuse(one, "the task has no such output");
    }
  }
  if (call.find("results") == nullptr) refuse(call, "a call needs results: the outputs, in their order");
}

}  // namespace

std::string decode_calls(const settings_node& calls, const task& t) {
  if (!calls.is_list() || calls.items.empty())
    refuse(calls, "expected a list of calls, found " + describe(calls));
  for (const auto& call : calls.items) check_call(call, t);
  const bool selects = std::any_of(t.inputs.begin(), t.inputs.end(), [](const tensor& one) {
    return one.name == "call" && one.scalar && one.dtype == "int64";
  });
  if (calls.items.size() > 1 && !selects)
    refuse(calls, "with several calls, the task needs the input call, which selects one, counted from 0",
           "add call: {shape: null, dtype: int64} to the inputs");
  return json_of(calls);
}

}  // namespace kevo::task_decoding
