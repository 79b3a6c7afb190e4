#include "src/task/decode.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include <kevo/detail/nearest.hpp>
#include <kevo/dtype.hpp>
#include <kevo/error.hpp>

namespace kevo::task_decoding {
namespace {

[[noreturn]] void fail(const error_place& place, const std::string& message, const std::string& hint = {}) {
  throw error(error_code::input, message, place, hint);
}

const tensor* find_tensor(const std::vector<tensor>& tensors, const std::string& name) {
  const auto found =
      std::find_if(tensors.begin(), tensors.end(), [&](const tensor& t) { return t.name == name; });
  return found == tensors.end() ? nullptr : &*found;
}

struct integer_range {
  double low = 0;
  double high = 0;
};

integer_range range_of(const dtype_info& type) {
  const int bits = static_cast<int>(type.size) * 8;
  if (type.kind == dtype_kind::boolean) return {0, 1};
  if (type.kind == dtype_kind::unsigned_integer) return {0, std::ldexp(1.0, bits) - 1};
  if (type.kind == dtype_kind::integer) return {-std::ldexp(1.0, bits - 1), std::ldexp(1.0, bits - 1) - 1};
  return {-std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
}

// "word(1, 2.5)" in pieces.
struct call {
  std::string word;
  std::vector<double> arguments;
};

call parse_call(const std::string& text, const error_place& place) {
  call result;
  std::size_t at = 0;
  const auto skip = [&] {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t' || text[at] == '\n')) ++at;
  };
  skip();
  while (at < text.size() && ((text[at] >= 'a' && text[at] <= 'z') || text[at] == '_'))
    result.word += text[at++];
  skip();
  if (at == text.size()) return result;
  if (text[at] != '(') fail(place, "expected '(' after '" + result.word + "'", "for example, uniform(0, 1)");
  do {
    ++at;
    skip();
    if (at < text.size() && text[at] == '+') ++at;
    double value = 0;
    const auto parsed = std::from_chars(text.data() + at, text.data() + text.size(), value);
    if (parsed.ec != std::errc() || !std::isfinite(value))
      fail(place, "expected a number in '" + detail::shown(text) + "'");
    result.arguments.push_back(value);
    at = static_cast<std::size_t>(parsed.ptr - text.data());
    skip();
  } while (at < text.size() && text[at] == ',');
  if (at >= text.size() || text[at] != ')')
    fail(place, "expected ',' or ')' in '" + detail::shown(text) + "'");
  ++at;
  skip();
  if (at != text.size()) fail(place, "unexpected text after ')' in '" + detail::shown(text) + "'");
  return result;
}

tolerance decode_tolerance(settings& reader, const task& t, const std::vector<const tensor*>& outputs) {
  tolerance result;
  result.rule = reader.text("rule", {.def = "bounds",
                                     .doc = "rule by which an output element is accepted",
                                     .one_of = {"accumulation", "bounds", "exact"}});
  if (result.rule == "accumulation") {
    result.scale =
        reader.text("scale", {.doc = "name of the scale tensor that the reference writes after its outputs"});
    check_identifier(result.scale, reader.place("scale"), "the scale tensor");
    if (find_tensor(t.inputs, result.scale) != nullptr || find_tensor(t.outputs, result.scale) != nullptr) {
      reader.fail("scale", "'" + result.scale + "' is already the name of an input or output",
                  "the scale tensor is an additional output of the reference: give it another name");
    }
    result.factor = reader.real(
        "factor",
        {.def = 4.0,
         .above = 0.0,
         .doc = "c, the allowed error in units of u * sqrt(K) * scale, where u is the unit roundoff"});
    if (const auto* length = reader.raw(
            "length", "K, the number of terms that are summed in an output element", "expression")) {
      result.length = decode_expression(*length, t.axes);
    }
  } else if (result.rule == "bounds") {
    result.max_atol = reader.real("max_atol", {.def = 1e-5, .min = 0.0, .doc = "maximum absolute error"});
    result.max_rtol = reader.real("max_rtol", {.def = 1e-5, .min = 0.0, .doc = "maximum relative error"});
  }
  for (const std::string key : {"scale", "factor", "length", "max_atol", "max_rtol"}) {
    const bool accumulation = key[0] != 'm';
    if (!reader.has(key) ||
        (result.rule == "accumulation" ? accumulation : result.rule == "bounds" && !accumulation))
      continue;
    reader.fail(key, "the rule '" + result.rule + "' has no such key",
                accumulation ? "write rule: accumulation" : "write rule: bounds");
  }
  result.required_matched_ratio = reader.real(
      "required_matched_ratio",
      {.def = 1.0, .max = 1.0, .above = 0.0, .doc = "fraction of the elements that must be accepted"});
  result.max_error_cap = reader.optional<double>(
      "max_error_cap",
      {.min = 0.0,
       .doc = "upper limit of the error of any element, including those that need not be accepted"});
  result.allow_negative_inf = reader.boolean(
      "allow_negative_inf", {.def = false, .doc = "whether -inf is accepted where -inf is expected"});
  for (const tensor* output : outputs) {
    const auto type = find_dtype(output->dtype);
    if (type && is_exact(*type) && result.rule == "accumulation") {
      reader.fail("rule",
                  "'" + output->name + "' is " + output->dtype +
                      ": this rule is for floating-point outputs, and integers have no rounding errors",
                  "write rule: exact");
    }
  }
  return result;
}

}  // namespace

void not_supported_yet(const settings& reader, std::string_view key, const std::string& what) {
  reader.fail(key, what + " is not supported yet");
}

void check_identifier(const std::string& name, const error_place& place, const std::string& what) {
  const auto letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  const bool good =
      !name.empty() && name.size() <= 64 && letter(name[0]) &&
      std::all_of(name.begin(), name.end(), [&](char c) { return letter(c) || (c >= '0' && c <= '9'); });
  if (!good) {
    fail(place, "'" + detail::shown(name) + "' is not a valid name for " + what,
         "use up to 64 letters, digits and '_', starting with a letter");
  }
}

expression decode_expression(const settings_node& node, const std::vector<axis>& axes) {
  if (node.type != settings_node::kind::text && node.type != settings_node::kind::integer) {
    fail(node.place, "expected an expression, found " + describe(node), "for example, \"2*M*N*K\"");
  }
  error_place place = node.place;
  if (node.quoted) ++place.column;
  expression result = expression::parse(node.text, place);
  for (const auto& name : result.names()) {
    const auto known = std::any_of(axes.begin(), axes.end(), [&](const axis& a) { return a.name == name; });
    if (known) continue;
    const std::size_t offset = node.text.find(name);
    if (offset != std::string::npos) place.column += static_cast<int>(offset);
    fail(place, "'" + detail::shown(name) + "' is not an axis",
         detail::hint_for(name, names_of(axes), "axes"));
  }
  return result;
}

generator default_generator(const tensor& input) {
  const auto type = find_dtype(input.dtype);
  if (!type || !is_exact(*type)) return {};
  const auto range = range_of(*type);
  return {"integers", std::max(range.low, -128.0), std::min(range.high, 127.0)};
}

generator decode_generator(const settings_node& node, const tensor& input) {
  if (node.type != settings_node::kind::text) {
    fail(node.place, "expected a generator, found " + describe(node), "for example, \"uniform(0, 1)\"");
  }
  const auto parsed = parse_call(node.text, node.place);
  static const std::vector<std::string> known = {"normal", "uniform", "integers", "permutation", "offsets"};
  if (std::find(known.begin(), known.end(), parsed.word) == known.end()) {
    fail(node.place, "unknown generator '" + detail::shown(parsed.word) + "'",
         detail::hint_for(parsed.word, known, "generators"));
  }
  const auto& given = parsed.arguments;
  const auto takes = [&](std::size_t least, std::size_t most, const std::string& form) {
    if (given.size() < least || given.size() > most) {
      fail(node.place, "'" + parsed.word + "' does not take " + std::to_string(given.size()) + " numbers",
           "write " + form);
    }
  };
  const auto type = find_dtype(input.dtype);
  const bool exact = type && is_exact(*type);
  generator result{parsed.word, 0, 1};
  if (given.size() == 2) result.a = given[0], result.b = given[1];
  if (parsed.word == "normal" || parsed.word == "uniform") {
    // Whole numbers near a mean are of use, a few far from it among them; `normal` alone would be 0 and 1.
    const bool near = parsed.word == "normal" && given.size() == 2 && input.dtype != "bool";
    if (exact && !near) {
      fail(node.place, "'" + input.name + "' is " + input.dtype,
           "write integers(a, b) or normal(mean, deviation)");
    }
    takes(0, 2, parsed.word + "(a, b)");
    if (given.size() == 1) takes(2, 2, parsed.word + "(a, b)");
    if (parsed.word == "normal" && !(result.b > 0))
      fail(node.place, "the deviation of normal(mean, deviation) must be positive");
    if (parsed.word == "uniform" && !(result.a < result.b)) fail(node.place, "uniform(a, b) needs a < b");
  } else if (parsed.word == "integers") {
    takes(2, 2, "integers(a, b)");
    if (std::trunc(result.a) != result.a || std::trunc(result.b) != result.b)
      fail(node.place, "integers(a, b) needs integers");
    if (result.a > result.b) fail(node.place, "integers(a, b) needs a <= b");
  } else if (parsed.word == "permutation") {
    takes(0, 0, "permutation");
    if (!exact)
      fail(node.place, "a permutation needs an integer type, and '" + input.name + "' is " + input.dtype);
  } else {
    takes(1, 1, "offsets(total)");
    result.a = given[0];
    result.b = 0;
    if (!exact) fail(node.place, "offsets need an integer type, and '" + input.name + "' is " + input.dtype);
    if (result.a < 0 || std::trunc(result.a) != result.a)
      fail(node.place, "offsets(total) needs an integer that is 0 or greater");
  }
  if (exact) {
    const auto range = range_of(*type);
    const bool one_number = parsed.word == "offsets" || parsed.word == "normal";
    const double high = one_number ? result.a : result.b;
    const bool from = parsed.word == "integers" || parsed.word == "normal";
    if ((from && result.a < range.low) || (parsed.word != "permutation" && high > range.high)) {
      fail(node.place, "the numbers of '" + detail::shown(node.text) + "' do not fit into " + input.dtype);
    }
  }
  return result;
}

std::map<std::string, generator> decode_generators(settings& reader, const std::vector<tensor>& inputs) {
  std::map<std::string, generator> result;
  settings generate =
      reader.child_or_empty("generate", "random generators of the inputs, by name of the input");
  for (const auto& name : generate.keys()) {
    const tensor* input = find_tensor(inputs, name);
    const settings_node* node = generate.raw(name, "", "generator");
    if (input == nullptr) {
      fail(node->place, "'" + detail::shown(name) + "' is not an input",
           detail::hint_for(name, names_of(inputs), "inputs"));
    }
    if (input->scalar) fail(node->place, "'" + name + "' is a scalar: workloads give its value");
    result[name] = decode_generator(*node, *input);
  }
  return result;
}

std::map<std::string, tolerance> decode_tolerances(settings& reader, const task& t) {
  std::map<std::string, tolerance> result;
  if (!reader.has("tolerance")) return result;
  settings given = reader.child("tolerance", "rules by which output elements are accepted");
  const auto keys = given.keys();
  const bool by_output = !keys.empty() && std::all_of(keys.begin(), keys.end(), [&](const std::string& key) {
    const auto* node = given.raw().find(key);
    return node != nullptr && node->is_map();
  });
  if (!by_output) {
    std::vector<const tensor*> all;
    for (const auto& output : t.outputs) all.push_back(&output);
    result[""] = decode_tolerance(given, t, all);
    return result;
  }
  for (const auto& name : keys) {
    const tensor* output = find_tensor(t.outputs, name);
    if (output == nullptr) {
      given.fail(name, "'" + detail::shown(name) + "' is not an output",
                 detail::hint_for(name, names_of(t.outputs), "outputs"));
    }
    settings one = given.child(name);
    result[name] = decode_tolerance(one, t, {output});
  }
  return result;
}

const axis* find_axis(const task& t, const std::string& name) {
  for (const auto& a : t.axes) {
    if (a.name == name) return &a;
  }
  return nullptr;
}

}  // namespace kevo::task_decoding
