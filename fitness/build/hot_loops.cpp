#include "fitness/build/hot_loops.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "fitness/build/object_measures.hpp"

namespace kevo {
namespace {

struct instruction {
  std::uint64_t at = 0;
  std::string_view mnemonic;
  std::string_view operands;
};

struct jump_back {
  std::size_t first = 0;  ///< index of the target
  std::size_t last = 0;   ///< index of the jump
};

std::optional<std::uint64_t> hexadecimal(std::string_view text) {
  std::uint64_t value = 0;
  const auto [end, wrong] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (wrong != std::errc() || end == text.data()) return std::nullopt;
  return value;
}

std::string_view without_spaces(std::string_view text) {
  const auto begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// "    1139:\tvmovups (%rdi),%ymm0"
std::optional<instruction> instruction_in(std::string_view line) {
  const auto tab = line.find(":\t");
  if (tab == std::string_view::npos) return std::nullopt;
  const auto at = hexadecimal(without_spaces(line.substr(0, tab)));
  std::string_view rest = without_spaces(line.substr(tab + 2));
  if (!at || rest.empty()) return std::nullopt;
  const auto space = std::min(rest.find_first_of(" \t"), rest.size());
  return instruction{*at, rest.substr(0, space), without_spaces(rest.substr(space))};
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

/// In AT&T's order the last operand is the one that is written.
std::string_view last_operand(std::string_view operands) {
  std::size_t depth = 0;
  for (std::size_t i = operands.size(); i-- > 0;) {
    if (operands[i] == ')') ++depth;
    if (operands[i] == '(' && depth > 0) --depth;
    if (operands[i] == ',' && depth == 0) return operands.substr(i + 1);
  }
  return operands;
}

bool computes(std::string_view mnemonic) {
  constexpr std::array<std::string_view, 8> words = {"add", "sub", "mul", "div", "sqrt", "min", "max", "dp"};
  return std::any_of(words.begin(), words.end(), [&](std::string_view word) { return has(mnemonic, word); });
}

/// How many values of 32 bits an instruction works on, roughly; 0 for those of the general registers.
std::size_t values_of(std::string_view mnemonic, std::string_view operands) {
  if (has(operands, "%zmm")) return 16;
  if (has(operands, "%ymm")) return 8;
  if (!has(operands, "%xmm")) return 0;
  return mnemonic.ends_with("ss") || mnemonic.ends_with("sd") ? 1 : 4;
}

void count(machine_loop& loop, const instruction& one) {
  const auto m = one.mnemonic;
  const auto operands = one.operands.substr(0, one.operands.find('#'));  // what follows is a comment
  if (has(operands, "%zmm")) {
    ++loop.wide;
  } else if (has(operands, "%ymm")) {
    ++loop.middle;
  } else if (is_vector_instruction(m, operands)) {
    ++loop.narrow;
  }
  const bool fma = m.starts_with("vfmadd") || m.starts_with("vfmsub") || m.starts_with("vfnm");
  if (fma) ++loop.fma;
  loop.arithmetic += (fma ? 2 : computes(m) ? 1 : 0) * values_of(m, operands);
  if (has(m, "div") || has(m, "sqrt") || has(m, "gather") || has(m, "scatter")) ++loop.slow;
  if (m.starts_with("call")) ++loop.calls;
  if (!has(operands, "(") || m.starts_with("lea") || m.starts_with("nop") || m.starts_with("prefetch"))
    return;
  const bool stack = has(operands, "(%rsp");
  // Comparisons and tests write no operand, and neither do instructions of one operand but a few.
  const bool reads_only = m.starts_with("cmp") || m.starts_with("test") || m.starts_with("vucom") ||
                          m.starts_with("ucom") || m.starts_with("vcom") || m.starts_with("com") ||
                          m.starts_with("push") || m.starts_with("call") || m.starts_with("j");
  const bool writes = !reads_only && has(last_operand(operands), "(");
  ++(stack ? (writes ? loop.spills : loop.reloads) : (writes ? loop.stores : loop.loads));
}

machine_loop loop_of(const std::string& function, const std::vector<instruction>& code,
                     const jump_back& found, int depth) {
  machine_loop loop;
  loop.function = function;
  loop.depth = depth;
  for (std::size_t i = found.first; i <= found.last; ++i) {
    count(loop, code[i]);
    loop.lines.push_back(code[i].operands.empty() ? std::string(code[i].mnemonic)
                                                  : fmt::format("{} {}", code[i].mnemonic, code[i].operands));
  }
  return loop;
}

void add_loops(std::vector<machine_loop>& all, const std::string& function,
               const std::vector<instruction>& code) {
  std::vector<jump_back> found;
  for (std::size_t i = 0; i < code.size(); ++i) {
    if (!code[i].mnemonic.starts_with('j')) continue;
    const auto to = hexadecimal(code[i].operands);
    if (!to || *to > code[i].at) continue;
    const auto target = std::lower_bound(
        code.begin(), code.end(), *to, [](const instruction& one, std::uint64_t at) { return one.at < at; });
    if (target == code.end() || target->at != *to) continue;
    const auto first = static_cast<std::size_t>(target - code.begin());
    const auto same =
        std::find_if(found.begin(), found.end(), [&](const jump_back& one) { return one.first == first; });
    if (same == found.end()) {
      found.push_back({first, i});
    } else {
      same->last = i;  // a `continue` jumps there, too
    }
  }
  const auto holds = [](const jump_back& outer, const jump_back& inner) {
    return outer.first <= inner.first && inner.last <= outer.last &&
           (outer.first != inner.first || outer.last != inner.last);
  };
  for (const auto& one : found) {
    const auto is_around = [&](const jump_back& other) { return holds(other, one); };
    const auto lies_in = [&](const jump_back& other) { return holds(one, other); };
    if (std::any_of(found.begin(), found.end(), lies_in)) continue;
    const auto depth = 1 + std::count_if(found.begin(), found.end(), is_around);
    all.push_back(loop_of(function, code, one, static_cast<int>(depth)));
  }
}

std::size_t vectors_of(const machine_loop& loop) {
  return loop.wide + loop.middle + loop.narrow;
}

/// How much an instruction of the loop computes, on average: what compilers put around hot loops, and
/// remainders, moves more than it computes, however deep it lies.
double work_of(const machine_loop& loop) {
  return static_cast<double>(loop.arithmetic) / static_cast<double>(loop.lines.size());
}

}  // namespace

std::vector<machine_loop> innermost_loops(std::string_view disassembly, std::string_view function,
                                          std::string_view ignored_prefix) {
  std::vector<machine_loop> all;
  std::vector<instruction> code;
  std::string name;
  const auto end_function = [&] {
    const bool wanted =
        !name.empty() && has(name, function) && (ignored_prefix.empty() || !name.starts_with(ignored_prefix));
    if (wanted) add_loops(all, name, code);
    code.clear();
  };
  while (!disassembly.empty()) {
    const auto end = std::min(disassembly.find('\n'), disassembly.size());
    const std::string_view line = disassembly.substr(0, end);
    disassembly.remove_prefix(std::min(end + 1, disassembly.size()));
    if (line.ends_with(">:") && has(line, "<")) {
      end_function();
      const auto open = line.find('<');
      name = std::string(line.substr(open + 1, line.size() - open - 3));
    } else if (const auto one = instruction_in(line)) {
      code.push_back(*one);
    }
  }
  end_function();
  std::stable_sort(all.begin(), all.end(), [](const machine_loop& a, const machine_loop& b) {
    if (work_of(a) != work_of(b)) return work_of(a) > work_of(b);
    if (a.depth != b.depth) return a.depth > b.depth;
    return vectors_of(a) > vectors_of(b);
  });
  return all;
}

std::string describe(const machine_loop& loop, std::size_t most_lines) {
  std::string text =
      fmt::format("loop in {}, depth {}: {} instructions", loop.function, loop.depth, loop.lines.size());
  const auto tell = [&](std::size_t many, const char* what) {
    if (many > 0) text += fmt::format(", {} {}", many, what);
  };
  tell(loop.wide, "with zmm registers (512 bits)");
  tell(loop.middle, "with ymm registers (256 bits)");
  tell(loop.narrow, "on several values in xmm registers (128 bits)");
  if (vectors_of(loop) == 0) text += ", no vector instruction";
  tell(loop.fma, "multiply-adds");
  tell(loop.loads, "loads");
  tell(loop.stores, "stores");
  tell(loop.slow, "divisions, roots, gathers or scatters");
  tell(loop.calls, "calls of functions");
  text += loop.spills + loop.reloads == 0
              ? ", no access to the stack"
              : fmt::format(", {} stores to the stack and {} loads from it (spilled registers)", loop.spills,
                            loop.reloads);
  text += '\n';
  for (std::size_t i = 0; i < loop.lines.size() && i < most_lines; ++i) text += "  " + loop.lines[i] + '\n';
  if (loop.lines.size() > most_lines)
    text += fmt::format("  ... and {} further instructions\n", loop.lines.size() - most_lines);
  return text;
}

std::string block_of(const machine_loop& loop) {
  std::string text = ".Lkevo:\n";
  for (const auto& line : loop.lines) {
    const auto space = std::min(line.find(' '), line.size());
    const std::string_view mnemonic = std::string_view(line).substr(0, space);
    if (mnemonic.starts_with("call")) continue;
    text += mnemonic.starts_with('j') ? fmt::format("{} .Lkevo\n", mnemonic)
                                      : line.substr(0, line.find('#')) + '\n';
  }
  return text;
}

}  // namespace kevo
