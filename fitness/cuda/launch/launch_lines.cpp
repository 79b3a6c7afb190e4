#include "fitness/cuda/launch/launch_lines.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <utility>

#include "fitness/cuda/launch/line_scanner.hpp"

namespace kevo::cuda {
namespace {

using detail::line_scanner;
using detail::piece;
using kevo::detail::hint_for;

constexpr std::array<std::string_view, 4> statement_words = {"launch", "memset", "workspace", "tensormap"};
constexpr std::array<std::string_view, 4> attribute_words = {"cluster", "cooperative", "pdl", "carveout"};
constexpr std::array<std::string_view, 5> setting_words = {"warps", "stages", "ctas", "registers", "config"};

/// How device code calls some types; dtype names are understood, too.
struct type_alias {
  std::string_view name, dtype;
};
constexpr std::array<type_alias, 6> type_aliases = {{{"int", "int32"},
                                                     {"unsigned", "uint32"},
                                                     {"float", "float32"},
                                                     {"double", "float64"},
                                                     {"half", "float16"},
                                                     {"size_t", "uint64"}}};

std::optional<dtype_info> find_type(std::string_view name) {
  for (const auto& alias : type_aliases) {
    if (alias.name == name) return find_dtype(alias.dtype);
  }
  return find_dtype(name);
}

class line_parser {
 public:
  line_parser(std::string_view text, const error_place& place) : line_(text, place) {}

  statement_line parse() {
    std::optional<expression> condition;
    std::optional<loop_line> loop;
    if (line_.peek_name() == "when") {
      line_.name();
      condition = line_.integer(line_.until(":", "the condition of 'when'"));
    }
    const auto loop_at = line_.at();
    if (line_.peek_name() == "for") {
      line_.name();
      loop = read_loop();
    }
    const auto at = line_.at();
    const std::string word(line_.peek_name());
    if (word == "when" && (condition || loop)) {
      line_.fail(at, loop ? "'when' must come before 'for'" : "a line can have only one 'when'",
                 "combine conditions with &&");
    }
    if (word == "for" && loop)
      line_.fail(at, "loops cannot be nested", "compute both indices from a single one");
    line_.name();
    std::optional<std::variant<launch_line, memset_line, workspace_line, tensor_map_line>> body;
    if (word == "launch") {
      body = read_launch();
    } else if (word == "memset") {
      body = read_memset();
    } else if (word == "workspace") {
      body = read_workspace();
    } else if (word == "tensormap") {
      body = read_tensor_map();
    } else {
      line_.fail(at,
                 word.empty() ? "expected a statement, found " + line_.shown_here()
                              : "unknown statement '" + kevo::detail::shown(word, 40) + "'",
                 hint_for(word, statement_words, "statements"));
    }
    if (loop && (word == "workspace" || word == "tensormap")) {
      line_.fail(loop_at, "a " + word + " cannot be in a loop", "only launch and memset can be repeated");
    }
    line_.skip();
    if (!line_.at_end()) {
      line_.fail(line_.at(), "unexpected " + line_.shown_here() + " after the statement",
                 word == "launch" ? "the attributes are cluster, cooperative, pdl and carveout" : "");
    }
    return {std::move(condition), std::move(loop), std::move(*body), {}, {}};
  }

 private:
  placed_name name(const std::string& what) {
    const auto word = line_.name();
    if (word.text.empty()) line_.fail(word.at, "expected " + what + ", found " + line_.shown_here());
    return {std::string(word.text), line_.place(word.at)};
  }

  loop_line read_loop() {
    auto id = name("the name of the loop's index");
    if (line_.peek_name() != "in") line_.fail(line_.at(), "expected 'in', found " + line_.shown_here());
    line_.name();
    auto from = line_.integer(line_.until("..", "the first index"));
    auto to = line_.integer(line_.until(":", "the loop's end"));
    return {std::move(id), std::move(from), std::move(to)};
  }

  dim3_line dim3_of(const piece& p, const std::string& what) const {
    if (!p.text.starts_with('(') || !line_.is_group(p)) return {line_.integer(p)};
    auto extents = list_of(line_.split(line_scanner::inside(p)));
    if (extents.empty() || extents.size() > 3) {
      line_.fail(p.at, what + " must have one to three extents, not " + std::to_string(extents.size()));
    }
    return extents;
  }

  std::vector<expression> list_of(const std::vector<piece>& parts) const {
    std::vector<expression> values;
    values.reserve(parts.size());
    for (const auto& part : parts) values.push_back(line_.integer(part));
    return values;
  }
  /// "[a, b]"; the cursor is before the bracket.
  std::vector<expression> list(const std::string& what) {
    if (line_.rest().substr(0, 1) != "[") {
      line_.fail(line_.at(), "expected " + what + " as [...], found " + line_.shown_here());
    }
    return list_of(line_.split(line_.bracketed()));
  }

  launch_line read_launch() {
    launch_line launch;
    launch.kernel = name("the name of a kernel");
    while (line_.accept("::")) launch.kernel.text += "::" + name("a name after '::'").text;
    if (line_.rest().starts_with('[')) {
      const auto brackets = line_.bracketed();
      if (line_.rest().starts_with('(')) return read_triton(std::move(launch), brackets);
      launch.is_template = true;
      for (const auto& part : line_.split(brackets, true)) {
        if (part.text.empty()) line_.fail(part.at, "an empty template argument");
        launch.template_args.push_back({std::string(part.text), line_.place(part.at)});
      }
    }
    const auto open = line_.at();
    line_.expect("<<<", "after the kernel");
    const auto configuration = line_.split(line_.until(">>>", "the launch configuration"));
    if (configuration.size() < 2 || configuration.size() > 3) {
      line_.fail(open, "a launch configuration is <<<grid, block>>> or <<<grid, block, bytes>>>",
                 "write several extents in parentheses: <<<(x, y), 256>>>");
    }
    launch.grid = dim3_of(configuration[0], "a grid");
    launch.block = dim3_of(configuration[1], "a block");
    if (configuration.size() == 3) launch.shared_bytes = shared_bytes(configuration[2]);
    if (!line_.rest().starts_with('(')) {
      line_.fail(line_.at(), "expected the arguments in parentheses, found " + line_.shown_here());
    }
    for (const auto& part : line_.split(line_.bracketed())) launch.arguments.push_back(argument(part));
    while (!line_.at_end()) read_attribute(launch);
    return launch;
  }

  /// The rest of `kernel[grid](args, NAME=value) warps 4 stages 3`; the cursor is before the arguments.
  launch_line read_triton(launch_line launch, const piece& grid) {
    const auto extents = line_.split(grid);
    if (extents.size() == 1) {
      launch.grid = dim3_of(extents.front(), "a grid");
    } else {
      launch.grid = list_of(extents);
      if (extents.empty() || extents.size() > 3)
        line_.fail(grid.at, "a grid must have one to three extents, not " + std::to_string(extents.size()));
    }
    auto& triton = launch.triton.emplace();
    for (const auto& part : line_.split(line_.bracketed())) {
      const std::size_t end = kevo::detail::end_of_name(part.text, 0);
      const piece after = line_scanner::trim({part.text.substr(end), part.at + end});
      const bool named = end > 0 && after.text.starts_with('=') && !after.text.starts_with("==");
      if (!named && !triton.constants.empty()) line_.fail(part.at, "a positional argument after NAME=value");
      if (!named) {
        launch.arguments.push_back(argument(part));
        continue;
      }
      const piece value = line_scanner::trim({after.text.substr(1), after.at + 1});
      if (value.text.empty()) line_.fail(value.at, "the value is missing");
      triton.constants.push_back({{std::string(part.text.substr(0, end)), line_.place(part.at)},
                                  {std::string(value.text), line_.place(value.at)}});
    }
    while (!line_.at_end()) read_setting(triton);
    return launch;
  }

  void read_setting(triton_line& triton) {
    const auto at = line_.at();
    const std::string word(line_.name().text);
    std::optional<expression>* setting = word == "warps"       ? &triton.warps
                                         : word == "stages"    ? &triton.stages
                                         : word == "ctas"      ? &triton.ctas
                                         : word == "registers" ? &triton.registers
                                         : word == "config"    ? &triton.config
                                                               : nullptr;
    if (setting == nullptr) {
      line_.fail(at,
                 word.empty() ? "unexpected " + line_.shown_here() + " after the launch"
                              : "unknown setting '" + kevo::detail::shown(word, 40) + "'",
                 hint_for(word, setting_words, "settings"));
    }
    if (setting->has_value()) line_.fail(at, "'" + word + "' twice");
    *setting = number_or_group("a number after '" + word + "'");
  }

  /// One number, one name, or an expression in parentheses. `wanted` says what it is, for the message.
  expression number_or_group(const std::string& wanted) {
    if (line_.rest().starts_with('(')) return line_.integer(line_.bracketed());
    const auto start = line_.at();
    const auto end = kevo::detail::end_of_literal(line_.rest(), 0);
    if (end == 0) line_.fail(start, "expected " + wanted + ", found " + line_.shown_here());
    const piece value{line_.rest().substr(0, end), start};
    line_.accept(value.text);
    return line_.integer(value);
  }

  expression shared_bytes(const piece& p) const {
    if (p.text.starts_with("smem")) {
      const piece group = line_scanner::trim({p.text.substr(4), p.at + 4});
      if (line_.is_group(group)) return line_.integer(line_scanner::inside(group));
    }
    return line_.integer(p);
  }

  argument_line argument(const piece& p) const {
    argument_line result{line_.place(p.at), std::string(p.text), null_argument{}};
    if (p.text.empty()) line_.fail(p.at, "an empty argument");
    if (p.text == "null" || p.text == "nullptr") return result;
    const std::size_t end = kevo::detail::end_of_name(p.text, 0);
    const std::string_view word = p.text.substr(0, end);
    const piece after = line_scanner::trim({p.text.substr(end), p.at + end});
    if (end > 0 && after.text.starts_with('(') && line_.is_group(after)) {
      if (const auto type = find_type(word)) {
        const piece inner = line_scanner::inside(after);
        if (type->kind == dtype_kind::real) {
          result.value = typed_argument{*type, real_expression::parse(inner.text, line_.place(inner.at))};
        } else {
          result.value = typed_argument{*type, line_.integer(inner)};
        }
        return result;
      }
    }
    plain_argument plain;
    if (end > 0 && (after.text.empty() || after.text.starts_with('+'))) {
      plain.name = placed_name{std::string(word), line_.place(p.at)};
      if (!after.text.empty())
        plain.offset = line_.integer(line_scanner::trim({after.text.substr(1), after.at + 1}));
    }
    plain.value = line_.integer(p);
    result.value = std::move(plain);
    return result;
  }

  void read_attribute(launch_line& launch) {
    const auto at = line_.at();
    const std::string word(line_.name().text);
    const auto once = [&](bool given) {
      if (given) line_.fail(at, "'" + word + "' twice");
    };
    if (word == "cluster") {
      once(!launch.cluster.empty());
      if (line_.rest().starts_with('(')) {
        const auto start = line_.at();
        launch.cluster = list_of(line_.split(line_.bracketed()));
        if (launch.cluster.empty() || launch.cluster.size() > 3)
          line_.fail(start, "a cluster must have one to three extents");
      } else {
        const auto start = line_.at();
        const auto end = kevo::detail::end_of_literal(line_.rest(), 0);
        const piece value{line_.rest().substr(0, end), start};
        line_.accept(value.text);
        launch.cluster = {line_.integer(value)};
      }
    } else if (word == "cooperative") {
      once(launch.cooperative);
      launch.cooperative = true;
    } else if (word == "pdl") {
      once(launch.programmatic);
      launch.programmatic = true;
    } else if (word == "carveout") {
      once(launch.carveout.has_value());
      if (!line_.rest().starts_with('(')) line_.fail(line_.at(), "write carveout(percent)");
      launch.carveout = line_.integer(line_.bracketed());
    } else {
      line_.fail(at,
                 word.empty() ? "unexpected " + line_.shown_here() + " after the launch"
                              : "unknown attribute '" + kevo::detail::shown(word, 40) + "'",
                 hint_for(word, attribute_words, "attributes"));
    }
  }

  memset_line read_memset() {
    auto buffer = name("the name of a buffer");
    auto byte = number_or_group("the byte to fill with");
    std::optional<expression> bytes;
    if (!line_.at_end()) {
      const char next = line_.rest().front();
      if (std::string_view("+-*/%<>=!&|?").find(next) != std::string_view::npos) {
        line_.fail(line_.at(), "the byte must be a number, or an expression in parentheses",
                   "write memset NAME (BYTE) BYTES");
      }
      bytes = line_.integer(line_.take_rest());
    }
    return {std::move(buffer), std::move(byte), std::move(bytes)};
  }

  workspace_line read_workspace() {
    auto id = name("the name of the workspace");
    const auto type_name = name("its element type");
    const auto type = find_type(type_name.text);
    if (!type) {
      throw error(error_code::input, "unknown dtype '" + kevo::detail::shown(type_name.text) + "'",
                  type_name.place, hint_for(type_name.text, dtype_names(), "known dtypes"));
    }
    auto shape = list("the shape");
    std::optional<expression> align;
    if (line_.peek_name() == "align") {
      line_.name();
      align = line_.integer(line_.take_rest());
    }
    return {std::move(id), *type, std::move(shape), std::move(align)};
  }

  tensor_map_line read_tensor_map() {
    static constexpr std::array<const char*, 9> parts_names = {
        "buffer", "dims", "strides", "box", "element_strides", "swizzle", "interleave", "l2", "oob"};
    tensor_map_line map;
    map.id = name("the name of the tensor map");
    const auto open = line_.at();
    if (!line_.rest().starts_with('(')) line_.fail(open, "expected '(', found " + line_.shown_here());
    const auto parts = line_.split(line_.bracketed());
    if (parts.size() < 4 || parts.size() > parts_names.size()) {
      line_.fail(open, "a tensor map must have 4 to 9 parts, not " + std::to_string(parts.size()),
                 "(buffer, dims, strides, box, element_strides, swizzle, interleave, l2, oob)");
    }
    const auto buffer = argument(parts[0]);
    const auto* plain = std::get_if<plain_argument>(&buffer.value);
    if (plain == nullptr || !plain->name) line_.fail(parts[0].at, "expected a buffer, or buffer + elements");
    map.buffer = *plain->name;
    map.offset = plain->offset;
    const auto list_at = [&](std::size_t i) {
      const auto& p = parts[i];
      if (!line_.is_group(p) || p.text.front() == '{') {
        line_.fail(p.at, std::string("expected ") + parts_names[i] + " as [...], innermost dimension first");
      }
      return list_of(line_.split(line_scanner::inside(p)));
    };
    map.dims = list_at(1);
    map.strides = list_at(2);
    map.box = list_at(3);
    if (parts.size() > 4) map.element_strides = list_at(4);
    if (parts.size() > 5) map.swizzle = mode(parts[5]);
    if (parts.size() > 6) map.interleave = mode(parts[6]);
    if (parts.size() > 7) map.l2_promotion = mode(parts[7]);
    if (parts.size() > 8) map.oob_fill = mode(parts[8]);
    const std::size_t rank = map.dims.size();
    if (rank < 1 || rank > 5)
      line_.fail(parts[1].at, "a tensor map must have 1 to 5 dimensions, not " + std::to_string(rank));
    if (map.strides.size() != rank - 1) {
      line_.fail(parts[2].at,
                 "strides has " + std::to_string(map.strides.size()) + " entries instead of " +
                     std::to_string(rank - 1),
                 "write the strides in bytes, one for each dimension except the innermost");
    }
    if (map.box.size() != rank) line_.fail(parts[3].at, "box must have as many entries as dims");
    if (parts.size() > 4 && !map.element_strides.empty() && map.element_strides.size() != rank)
      line_.fail(parts[4].at, "element_strides must have as many entries as dims");
    return map;
  }

  /// "none", "zero", "nan" and numbers with a B ("128B") are words; all else is an expression.
  mode_line mode(const piece& p) const {
    const bool bytes = p.text.size() > 1 && p.text.back() == 'B' &&
                       std::all_of(p.text.begin(), p.text.end() - 1, kevo::detail::is_digit);
    if (bytes || p.text == "none" || p.text == "zero" || p.text == "nan")
      return placed_name{std::string(p.text), line_.place(p.at)};
    return line_.integer(p);
  }

  line_scanner line_;
};

/// A Triton kernel is launched in another form than one in CUDA.
void require_form(const launch_line& launch, bool triton) {
  if (launch.triton.has_value() == triton) return;
  throw error(error_code::input,
              triton ? "this is how a CUDA kernel is launched, but the program is in Triton"
                     : "this is how a Triton kernel is launched, but the program is in CUDA",
              launch.kernel.place,
              triton ? "write launch kernel[grid](arguments, NAME=value) warps 4 stages 3"
                     : "write launch kernel<<<grid, block>>>(arguments)");
}

}  // namespace

statement_line parse_launch_line(std::string_view text, error_place place) {
  auto result = line_parser(text, place).parse();
  result.place = std::move(place);
  result.text = text;
  return result;
}

declared_launch parse_launch_lines(const program& source) {
  const annotations found = parse_annotations(source);
  declared_launch result;
  if (!source.files.empty()) result.file = source.files.front().path;
  for (const auto& t : found.tunables) result.tunables[t.name] = t.value;
  const bool triton = source.language == "triton";
  bool launches = false;
  for (const auto& directive : found.directives) {
    result.statements.push_back(parse_launch_line(
        directive.text, {source.files.at(directive.file).path, directive.line, directive.column, {}}));
    const auto& line = result.statements.back();
    const auto* launch = std::get_if<launch_line>(&line.body);
    if (launch != nullptr) require_form(*launch, triton);
    if (triton && std::holds_alternative<tensor_map_line>(line.body)) {
      throw error(error_code::input, "Triton programs have no tensor maps", line.place,
                  "make a descriptor in the kernel: tl.make_tensor_descriptor");
    }
    launches = launches || launch != nullptr;
  }
  if (!launches) {
    error_place place;
    place.file = result.file;
    if (triton && source.text().find("@triton.jit") == std::string_view::npos) {
      throw error(
          error_code::input,
          "the program has no kernel: functions of PyTorch alone are none, a function with @triton.jit "
          "and a launch line for it are needed",
          place, "tasks whose reference is in Python take modules of PyTorch");
    }
    throw error(error_code::input, "the program has no launch line", place,
                triton ? "add a line # kevo: launch kernel[grid](arguments, NAME=value)"
                       : "add a line // kevo: launch kernel<<<grid, block>>>(arguments)");
  }
  return result;
}

}  // namespace kevo::cuda
