#include "src/task/decode_generator.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <string_view>
#include <system_error>
#include <utility>

#include <kevo/detail/nearest.hpp>
#include <kevo/dtype.hpp>
#include <kevo/error.hpp>
#include <kevo/task_extents.hpp>

#include "src/task/decode.hpp"

namespace kevo::task_decoding {
namespace {

[[noreturn]] void refuse(const error_place& place, const std::string& message, const std::string& hint = {}) {
  throw error(error_code::input, message, place, hint);
}

const tensor* find_input(const task& t, const std::string& name) {
  const auto found =
      std::find_if(t.inputs.begin(), t.inputs.end(), [&](const tensor& x) { return x.name == name; });
  return found == t.inputs.end() ? nullptr : &*found;
}

constexpr double largest_whole = 4611686018427387904.0;  // 2^62

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

bool is_exact_input(const tensor& input) {
  const auto type = find_dtype(input.dtype);
  return type && is_exact(*type);
}

struct argument {
  std::string text;
  std::size_t offset = 0;  // within the text of the generator
};

// "word(1, N - 1)" in pieces.
struct call {
  std::string word;
  std::vector<argument> arguments;
};

constexpr std::string_view blanks = " \t\n";

// The text without blanks at its ends.
argument trimmed(const std::string& text, std::size_t begin, std::size_t end) {
  while (begin < end && blanks.find(text[begin]) != std::string_view::npos) ++begin;
  while (end > begin && blanks.find(text[end - 1]) != std::string_view::npos) --end;
  return {text.substr(begin, end - begin), begin};
}

call parse_call(const std::string& text, const error_place& place) {
  call result;
  std::size_t at = text.find_first_not_of(blanks);
  if (at == std::string::npos) return result;
  while (at < text.size() && ((text[at] >= 'a' && text[at] <= 'z') || text[at] == '_'))
    result.word += text[at++];
  at = text.find_first_not_of(blanks, at);
  if (at == std::string::npos) return result;
  if (text[at] != '(')
    refuse(place, "expected '(' after '" + result.word + "'", "for example, uniform(0, 1)");
  int depth = 1;
  std::size_t begin = ++at;
  for (; at < text.size() && depth > 0; ++at) {
    const char c = text[at];
    if (c == '(') ++depth;
    if (c == ')') --depth;
    if (depth > 1 || (depth == 1 && c != ',')) continue;
    result.arguments.push_back(trimmed(text, begin, at));
    begin = at + 1;
  }
  if (depth > 0) refuse(place, "expected ',' or ')' in '" + detail::shown(text) + "'");
  if (text.find_first_not_of(blanks, at) != std::string::npos)
    refuse(place, "unexpected text after ')' in '" + detail::shown(text) + "'");
  return result;
}

std::optional<double> plain_number(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  const auto parsed = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool whole = parsed.ec == std::errc() && parsed.ptr == text.data() + text.size();
  if (!whole || !std::isfinite(value)) return std::nullopt;
  return value;
}

// One generator that is being read.
class generator_decoder {
 public:
  generator_decoder(const settings_node& node, const tensor& input, const task& t)
      : node_(node), input_(input), task_(t), given_(parse_call(node.text, node.place)) {}

  generator decode() {
    static constexpr std::array<std::string_view, 8> known = {"normal", "uniform",     "integers", "sorted",
                                                              "zipf",   "permutation", "offsets",  "columns"};
    const auto& word = given_.word;
    if (std::find(known.begin(), known.end(), word) == known.end()) {
      refuse(node_.place, "unknown generator '" + detail::shown(word) + "'",
             detail::hint_for(word, known, "generators"));
    }
    made_.kind = word;
    if (word == "normal" || word == "uniform") {
      real();
    } else if (word == "integers" || word == "sorted" || word == "zipf") {
      integers();
    } else if (word == "permutation") {
      takes(0, 0, "permutation");
      needs_integers("a permutation needs");
    } else if (word == "offsets") {
      offsets();
    } else {
      columns();
    }
    if (!made_.a_of && !made_.b_of) {
      if (const auto wrong = problem_of(made_, input_, node_.text)) refuse(node_.place, *wrong);
    }
    return std::move(made_);
  }

 private:
  void takes(std::size_t least, std::size_t most, const std::string& form) const {
    const std::size_t count = given_.arguments.size();
    if (count >= least && count <= most) return;
    refuse(node_.place,
           "'" + given_.word + "' does not take " + std::to_string(count) +
               (count == 1 ? " number" : " numbers"),
           "write " + form);
  }

  void needs_integers(const std::string& what) const {
    if (is_exact_input(input_)) return;
    refuse(node_.place, what + " an integer type, and '" + input_.name + "' is " + input_.dtype);
  }

  error_place place_of(const argument& one) const {
    error_place place = node_.place;
    place.column += static_cast<int>(one.offset) + (node_.quoted ? 1 : 0);
    return place;
  }

  void number(std::size_t i, double& value, std::optional<expression>& computed) const {
    const auto& one = given_.arguments.at(i);
    if (const auto plain = plain_number(one.text)) {
      value = *plain;
      return;
    }
    if (one.text.empty()) refuse(place_of(one), "expected a number in '" + detail::shown(node_.text) + "'");
    settings_node node = node_;
    node.text = one.text;
    node.place.column += static_cast<int>(one.offset);
    computed = decode_expression(node, task_.axes);
    value = 0;
  }

  double exponent(const argument& one) const {
    const auto value = plain_number(one.text);
    if (value && *value > 0 && *value <= 10) return *value;
    refuse(place_of(one), "the exponent '" + detail::shown(one.text) + "' is not a number above 0, up to 10");
  }

  void real() {
    // Whole numbers near a mean are of use, a few far from it among them; `normal` alone would be 0 and 1.
    const bool near = given_.word == "normal" && given_.arguments.size() == 2 && input_.dtype != "bool";
    if (is_exact_input(input_) && !near) {
      refuse(node_.place, "'" + input_.name + "' is " + input_.dtype,
             "write integers(a, b) or normal(mean, deviation)");
    }
    takes(0, 2, given_.word + "(a, b)");
    if (given_.arguments.size() == 1) takes(2, 2, given_.word + "(a, b)");
    if (given_.arguments.size() == 2) number(0, made_.a, made_.a_of), number(1, made_.b, made_.b_of);
  }

  void integers() {
    const bool zipf = given_.word == "zipf";
    if (zipf) {
      takes(3, 3, "zipf(a, b, exponent)");
      needs_integers("zipf(a, b, exponent) needs");
    } else {
      takes(2, 2, given_.word + "(a, b)");
    }
    number(0, made_.a, made_.a_of), number(1, made_.b, made_.b_of);
    if (zipf) made_.parameter = exponent(given_.arguments[2]);
  }

  void offsets() {
    takes(1, 3, "offsets(total), offsets(total, law) or offsets(total, law, longest row)");
    needs_integers("offsets need");
    made_.b = 0;
    number(0, made_.a, made_.a_of);
    if (given_.arguments.size() > 1) law(given_.arguments[1]);
    if (given_.arguments.size() > 2) {
      number(2, made_.b, made_.b_of);
      if (!made_.b_of && made_.b < 1)
        refuse(place_of(given_.arguments[2]), "the longest row must have elements");
    }
  }

  void law(const argument& one) {
    const auto parsed = parse_call(one.text, place_of(one));
    static constexpr std::array<std::string_view, 3> known = {"equal", "uniform", "power_law"};
    if (std::find(known.begin(), known.end(), parsed.word) == known.end()) {
      refuse(place_of(one), "unknown law '" + detail::shown(parsed.word) + "' of the lengths of rows",
             detail::hint_for(parsed.word, known, "laws"));
    }
    made_.law = parsed.word;
    const bool power = parsed.word == "power_law";
    if (parsed.arguments.size() != (power ? 1U : 0U)) {
      refuse(place_of(one),
             "'" + parsed.word + "' does not take " + std::to_string(parsed.arguments.size()) + " numbers",
             power ? "write power_law(exponent), for example power_law(1.2)" : "write " + parsed.word);
    }
    if (power) made_.parameter = exponent(parsed.arguments[0]);
  }

  void columns() {
    takes(2, 2, "columns(input with the offsets, number of columns)");
    needs_integers("columns need");
    const auto& rows = given_.arguments[0];
    const tensor* input = find_input(task_, rows.text);
    if (input == nullptr) {
      refuse(place_of(rows), "'" + detail::shown(rows.text) + "' is not an input",
             detail::hint_for(rows.text, names_of(task_.inputs), "inputs"));
    }
    if (input->name == input_.name || input->scalar || !is_exact_input(*input))
      refuse(place_of(rows),
             "'" + input->name + "' cannot hold the offsets of the rows of '" + input_.name + "'");
    made_.rows = input->name;
    made_.b = 0;
    number(1, made_.a, made_.a_of);
  }

  const settings_node& node_;
  const tensor& input_;
  const task& task_;
  call given_;
  generator made_{"normal", 0, 1, {}, {}, {}, 0, {}};
};

std::int64_t elements_of(const tensor& input, const std::map<std::string, std::int64_t>& axes) {
  std::int64_t count = 1;
  for (const auto extent : extents(input, axes)) count *= extent;  // checked to be small before
  return count;
}

}  // namespace

std::optional<std::string> problem_of(const generator& g, const tensor& input, const std::string& text) {
  const auto whole = [](double x) { return std::trunc(x) == x; };
  if (g.kind == "normal" && !(g.b > 0)) return "the deviation of normal(mean, deviation) must be positive";
  if (g.kind == "uniform" && !(g.a < g.b)) return "uniform(a, b) needs a < b";
  if (g.kind == "integers" || g.kind == "sorted" || g.kind == "zipf") {
    const std::string form = g.kind == "zipf" ? "zipf(a, b, exponent)" : g.kind + "(a, b)";
    if (!whole(g.a) || !whole(g.b)) return form + " needs integers";
    if (g.a > g.b) return form + " needs a <= b";
  }
  if (g.kind == "offsets" && (g.a < 0 || !whole(g.a)))
    return "offsets(total) needs an integer that is 0 or greater";
  if (g.kind == "offsets" && (g.b < 0 || !whole(g.b)))
    return "the longest row of offsets(total, law, longest row) must be a positive integer";
  if (g.kind == "columns" && (g.a < 1 || !whole(g.a)))
    return "columns(offsets, number of columns) needs a positive integer";
  // Contents are drawn as 64-bit integers, and so are the widths of ranges.
  const bool drawn_whole = g.kind != "normal" && g.kind != "uniform" && g.kind != "permutation";
  if (drawn_whole &&
      (std::abs(g.a) > largest_whole || std::abs(g.b) > largest_whole || g.b - g.a >= 2 * largest_whole)) {
    return "the numbers of '" + detail::shown(text) +
           "' are too large: integers are drawn between -2^62 and 2^62";
  }
  if (!is_exact_input(input)) return std::nullopt;
  const auto range = range_of(*find_dtype(input.dtype));
  const bool one_number = g.kind == "offsets" || g.kind == "normal";
  const double high = g.kind == "columns" ? g.a - 1 : one_number ? g.a : g.b;
  const bool from = g.kind == "integers" || g.kind == "sorted" || g.kind == "zipf" || g.kind == "normal";
  if ((from && g.a < range.low) || (g.kind != "permutation" && high > range.high))
    return "the numbers of '" + detail::shown(text) + "' do not fit into " + input.dtype;
  return std::nullopt;
}

generator default_generator(const tensor& input) {
  const auto type = find_dtype(input.dtype);
  if (!type || !is_exact(*type)) return {};
  const auto range = range_of(*type);
  generator made;
  made.kind = "integers";
  made.a = std::max(range.low, -128.0);
  made.b = std::min(range.high, 127.0);
  return made;
}

generator decode_generator(const settings_node& node, const tensor& input, const task& t) {
  if (node.type != settings_node::kind::text) {
    refuse(node.place, "expected a generator, found " + describe(node), "for example, \"uniform(0, 1)\"");
  }
  return generator_decoder(node, input, t).decode();
}

std::map<std::string, generator> decode_generators(settings& reader, const task& t) {
  std::map<std::string, generator> result;
  settings generate =
      reader.child_or_empty("generate", "random generators of the inputs, by name of the input");
  for (const auto& name : generate.keys()) {
    const tensor* input = find_input(t, name);
    const settings_node* node = generate.raw(name, "", "generator");
    if (input == nullptr) {
      refuse(node->place, "'" + detail::shown(name) + "' is not an input",
             detail::hint_for(name, names_of(t.inputs), "inputs"));
    }
    if (input->scalar) refuse(node->place, "'" + name + "' is a scalar: workloads give its value");
    result[name] = decode_generator(*node, *input, t);
  }
  return result;
}

void check_generators(const settings& one, const task& t, const workload& made) {
  const auto axes = axis_values(t, made);
  const auto in_force = [&](const tensor& input) {
    const auto own = made.generate.find(input.name);
    const auto& g = own == made.generate.end() ? input.generate : own->second;
    try {
      return resolved(g, axes);
    } catch (const error& wrong) {
      one.fail("axes", "the generator of '" + input.name + "': " + wrong.message());
    }
  };
  const auto from_file = [&](const tensor& input) {
    const auto given = made.inputs.find(input.name);
    return given != made.inputs.end() && given->second.contents && !given->second.alternates;
  };
  // How long a row may be.
  const auto longest = [&](const tensor& input, const generator& g) {
    const double rows = static_cast<double>(elements_of(input, axes) - 1);
    if (g.law == "equal") return std::ceil(g.a / std::max(rows, 1.0));
    return g.b > 0 ? std::min(g.a, g.b) : g.a;
  };
  for (const auto& input : t.inputs) {
    if (input.scalar || from_file(input)) continue;
    const auto g = in_force(input);
    const auto refuse = [&](const std::string& what, const std::string& hint = {}) {
      one.fail("axes", "the generator of '" + input.name + "': " + what, hint);
    };
    if (const auto wrong = problem_of(g, input, g.kind)) refuse(*wrong);
    if (g.kind == "offsets" && (!g.law.empty() || g.b > 0)) {
      const double rows = static_cast<double>(elements_of(input, axes) - 1);
      if (g.a > 0 && rows < 1) {
        refuse("an input of one offset has no rows, and so cannot hold " +
               std::to_string(static_cast<std::int64_t>(g.a)) + " elements");
      }
      if (g.a > 0 && rows * (g.b > 0 ? g.b : g.a) < g.a) {
        refuse(detail::shown(std::to_string(static_cast<std::int64_t>(rows))) + " rows of at most " +
               std::to_string(static_cast<std::int64_t>(g.b)) + " elements cannot hold " +
               std::to_string(static_cast<std::int64_t>(g.a)));
      }
    }
    if (g.kind != "columns") continue;
    const tensor& rows = *find_input(t, g.rows);
    if (from_file(rows)) continue;  // checked when contents are made
    const auto offsets = in_force(rows);
    if (offsets.kind != "offsets")
      refuse("the rows need offsets, and the generator of '" + rows.name + "' is " + offsets.kind,
             "write " + rows.name + ": offsets(total, law, longest row)");
    if (offsets.a != static_cast<double>(elements_of(input, axes))) {
      refuse("'" + input.name + "' has " + std::to_string(elements_of(input, axes)) +
             " elements, and the offsets in '" + rows.name + "' end at " +
             std::to_string(static_cast<std::int64_t>(offsets.a)));
    }
    if (longest(rows, offsets) > g.a) {
      refuse("a row may get " + std::to_string(static_cast<std::int64_t>(longest(rows, offsets))) +
                 " elements, and there are only " + std::to_string(static_cast<std::int64_t>(g.a)) +
                 " different columns",
             "limit the rows: " + rows.name + ": offsets(total, law, longest row)");
    }
  }
}

}  // namespace kevo::task_decoding
