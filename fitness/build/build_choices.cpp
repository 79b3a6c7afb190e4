#include "fitness/build/build_choices.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <kevo/annotation.hpp>
#include <kevo/detail/nearest.hpp>
#include <kevo/dtype.hpp>
#include <kevo/error.hpp>

namespace kevo {
namespace {

constexpr unsigned in_cpp = 1;
constexpr unsigned in_cuda = 2;
constexpr unsigned in_hosted = 4;
constexpr unsigned in_triton = 8;

/// One option. Its values are words, or the integers from `low` to `high`; `high` of 0: words alone.
struct option_row {
  std::string_view name;
  unsigned families;
  std::array<std::string_view, 2> words;
  int low;
  int high;
  std::string_view needs_permission;  ///< the word that makes results less exact than IEEE demands
};

constexpr std::array<option_row, 10> options = {{
    {"compiler", in_cuda, {"nvrtc", "nvcc"}, 0, 0, ""},
    {"optimize", in_cpp | in_cuda | in_hosted | in_triton, {}, 1, 3, ""},
    {"registers", in_cuda | in_hosted, {}, 16, 255, ""},
    {"fuse_multiply_add", in_cpp | in_cuda | in_hosted | in_triton, {"on", "off"}, 0, 0, ""},
    {"fast_math", in_cpp | in_cuda | in_hosted, {"off", "on"}, 0, 0, "on"},
    {"denormals", in_cuda | in_hosted, {"kept", "flushed"}, 0, 0, "flushed"},
    {"division", in_cuda | in_hosted, {"exact", "approximate"}, 0, 0, "approximate"},
    {"square_root", in_cuda | in_hosted, {"exact", "approximate"}, 0, 0, "approximate"},
    {"unroll", in_cpp, {"off", "on"}, 0, 0, ""},
    {"vector_bits", in_cpp, {}, 128, 512, ""},
}};

unsigned bit_of(build_family family) {
  switch (family) {
    case build_family::cpp:
      return in_cpp;
    case build_family::cuda:
      return in_cuda;
    case build_family::hosted_cuda:
      return in_hosted;
    case build_family::triton:
      return in_triton;
    case build_family::torch:
      return 0;
  }
  return 0;
}

const char* people_say(build_family family) {
  switch (family) {
    case build_family::cpp:
      return "C++";
    case build_family::cuda:
      return "CUDA";
    case build_family::hosted_cuda:
      return "CUDA with host code";
    case build_family::triton:
      return "Triton";
    case build_family::torch:
      return "PyTorch";
  }
  return "";
}

/// "no cap" is a value, too, so that a search can compare with it.
constexpr std::string_view no_cap = "0";

bool is_number(const option_row& row, std::int64_t value) {
  if (row.name == "vector_bits") return value == 128 || value == 256 || value == 512;
  return value >= row.low && value <= row.high;
}

/// A value as the table spells it; empty if it is not allowed. @param literal as the program writes it
std::string allowed_value(const option_row& row, std::string_view literal) {
  if (literal.size() > 1 && literal.front() == '"' && literal.back() == '"')
    literal = literal.substr(1, literal.size() - 2);
  for (const auto word : row.words) {
    if (!word.empty() && word == literal) return std::string(word);
  }
  const auto number = integer_literal(literal);
  if (!number || row.high == 0 || literal == "true" || literal == "True") return {};
  if (row.name == "registers" && *number == 0) return std::string(no_cap);
  return is_number(row, *number) ? std::to_string(*number) : std::string();
}

std::string domain_text(const option_row& row) {
  if (row.name == "registers") return fmt::format("0 (no cap) and {} to {}", row.low, row.high);
  if (row.name == "vector_bits") return "128, 256 and 512";
  if (row.high > 0) return fmt::format("{} to {}", row.low, row.high);
  return fmt::format("{} and {}", row.words[0], row.words[1]);
}

const option_row& row_of(const build_part& part, build_family family, const error_place& place) {
  std::vector<std::string> names;
  for (const auto& row : options) {
    if ((row.families & bit_of(family)) == 0) continue;
    if (row.name == part.name) return row;
    names.emplace_back(row.name);
  }
  throw error(
      error_code::input,
      fmt::format("programs in {} have no build option '{}'", people_say(family), detail::shown(part.name)),
      place, detail::hint_for(part.name, names, "options"));
}

/// Whether a line may be a build line.
bool speaks_of_build(const source_file& file) {
  const std::string_view text = file.text;
  for (auto at = text.find("build"); at != std::string_view::npos; at = text.find("build", at + 1)) {
    const auto before = text.substr(0, at);
    if (before.substr(before.rfind('\n') + 1).find("kevo") != std::string_view::npos) return true;
  }
  return false;
}

void require_allowed(const option_row& row, const std::string& literal, const error_place& place) {
  if (!allowed_value(row, literal).empty()) return;
  throw error(error_code::input,
              fmt::format("the build option '{}' cannot be {}", row.name, detail::shown(literal)), place,
              "its values are " + domain_text(row));
}

}  // namespace

fast_math_permission fast_math_of(const task& t) {
  bool any = false;
  for (const auto& output : t.outputs) {
    const auto type = find_dtype(output.dtype);
    if (type && is_exact(*type)) continue;
    any = true;
    for (const auto& w : t.workloads) {
      if (tolerance_for(t, w, output.name).fast_math) continue;
      return {false, fmt::format("the task '{}' does not say 'fast_math: true' in the tolerance of '{}'",
                                 t.name, output.name)};
    }
  }
  if (!any) return {false, fmt::format("the task '{}' has no outputs with rounding errors", t.name)};
  return {true, {}};
}

std::string build_choices::value(const std::string& option, const std::string& otherwise) const {
  const auto found = values.find(option);
  return found == values.end() ? otherwise : found->second;
}

std::string build_choices::text() const {
  std::string all;
  for (const auto& [name, value] : values)
    all += (all.empty() ? "" : ", ") + fmt::format("{} {}", name, value);
  return all;
}

build_choices build_choices_of(const program& source, build_family family, const fast_math_permission& fast) {
  build_choices chosen;
  // Most programs have none, and one without is not to fail here for what its other annotations say.
  if (std::none_of(source.files.begin(), source.files.end(), speaks_of_build)) return chosen;
  const auto found = parse_annotations(source);
  for (const auto& part : found.build) {
    const error_place place{source.files.at(part.file).path, part.line, part.column, {}};
    const auto& row = row_of(part, family, place);
    require_allowed(row, part.value, place);
    if (const auto* tunable = found.find_tunable(part.tunable)) {
      for (const auto& value : tunable->domain) require_allowed(row, value, place);
    }
    auto value = allowed_value(row, part.value);
    if (!fast.allowed && value == row.needs_permission) {
      throw error(error_code::input,
                  fmt::format("the build option '{}: {}' is refused: {}", row.name, value, fast.why), place,
                  "only the task may allow results that are less exact than the operations of the source");
    }
    chosen.values[part.name] = std::move(value);
  }
  return chosen;
}

std::vector<std::string> cuda_words(const build_choices& chosen) {
  std::vector<std::string> words;  // fast_math comes first, because it implies others
  const auto add = [&](const char* option, std::string_view value, const char* word) {
    if (chosen.value(option) == value) words.emplace_back(word);
  };
  add("fast_math", "on", "--use_fast_math");
  add("fuse_multiply_add", "on", "--fmad=true");
  add("fuse_multiply_add", "off", "--fmad=false");
  add("denormals", "kept", "--ftz=false");
  add("denormals", "flushed", "--ftz=true");
  add("division", "exact", "--prec-div=true");
  add("division", "approximate", "--prec-div=false");
  add("square_root", "exact", "--prec-sqrt=true");
  add("square_root", "approximate", "--prec-sqrt=false");
  if (const auto cap = chosen.value("registers", std::string(no_cap)); cap != no_cap)
    words.push_back("--maxrregcount=" + cap);
  if (const auto level = chosen.value("optimize"); !level.empty())
    words.push_back("--ptxas-options=-O" + level);
  return words;
}

std::vector<std::string> cpp_words(const build_choices& chosen) {
  std::vector<std::string> words;
  const auto add = [&](const char* option, std::string_view value, std::initializer_list<const char*> all) {
    if (chosen.value(option) == value) words.insert(words.end(), all.begin(), all.end());
  };
  if (const auto level = chosen.value("optimize"); !level.empty()) words.push_back("-O" + level);
  // The parts of -ffast-math. That option itself also links code that changes how the whole process computes.
  add("fast_math", "on",
      {"-fno-math-errno", "-fno-trapping-math", "-fno-signed-zeros", "-fassociative-math",
       "-freciprocal-math", "-ffinite-math-only", "-ffp-contract=fast"});
  add("fuse_multiply_add", "on", {"-ffp-contract=fast"});
  add("fuse_multiply_add", "off", {"-ffp-contract=off"});
  add("unroll", "on", {"-funroll-loops"});
  add("unroll", "off", {"-fno-unroll-loops"});
  if (const auto bits = chosen.value("vector_bits"); !bits.empty())
    words.push_back("-mprefer-vector-width=" + bits);
  return words;
}

std::map<std::string, std::string> triton_words(const build_choices& chosen) {
  std::map<std::string, std::string> words;
  if (const auto fuse = chosen.value("fuse_multiply_add"); !fuse.empty())
    words["enable_fp_fusion"] = fuse == "on" ? "true" : "false";
  if (const auto level = chosen.value("optimize"); !level.empty())
    words["ptx_options"] = "\"-O" + level + '"';
  return words;
}

}  // namespace kevo
