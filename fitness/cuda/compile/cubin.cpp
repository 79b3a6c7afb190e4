#include "fitness/cuda/compile/cubin.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <optional>
#include <tuple>

#include <kevo/error.hpp>

namespace kevo::cuda {
namespace {

[[noreturn]] void damaged(const std::string& what) {
  throw error(error_code::input, "cannot read the cubin: " + what);
}

/// Bounds-checked reading of little-endian numbers.
template <class T>
T number(std::string_view bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) damaged("it ends too early");
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

std::string_view piece(std::string_view bytes, std::uint64_t at, std::uint64_t size) {
  if (at > bytes.size() || bytes.size() - at < size) damaged("a section extends beyond its end");
  return bytes.substr(static_cast<std::size_t>(at), static_cast<std::size_t>(size));
}

std::string_view text_at(std::string_view strings, std::uint32_t at) {
  if (at >= strings.size()) damaged("a name lies beyond its end");
  const auto rest = strings.substr(at);
  return rest.substr(0, std::min(rest.find('\0'), rest.size()));
}

struct section {
  std::string_view name;
  std::uint32_t type = 0;
  std::uint32_t link = 0;
  std::uint64_t size = 0;
  std::string_view bytes;  // empty for those without bits
};

struct symbol {
  std::string_view name;
  std::uint8_t type = 0;   // 1 object, 2 function
  std::uint8_t other = 0;  // 0x10: a kernel, 0x04: a managed variable
  std::uint16_t section = 0;
  std::uint64_t value = 0;  // offset in the section
  std::uint64_t size = 0;
};

constexpr std::uint32_t no_bits = 8;

std::vector<section> sections_of(std::string_view image) {
  if (!image.starts_with("\x7f"
                         "ELF\x02\x01"))
    damaged("it is not an ELF64 file");
  if (number<std::uint16_t>(image, 18) != 190) damaged("it is not for a CUDA device");
  const auto table = number<std::uint64_t>(image, 40);
  const auto entry = number<std::uint16_t>(image, 58);
  const auto count = number<std::uint16_t>(image, 60);
  const auto names = number<std::uint16_t>(image, 62);
  if (entry < 64 || names >= count) damaged("its section table is not valid");
  std::vector<section> result;
  std::vector<std::uint32_t> name_offsets;
  for (std::uint64_t i = 0; i < count; ++i) {
    const auto header = piece(image, table + i * entry, 64);
    section s;
    name_offsets.push_back(number<std::uint32_t>(header, 0));
    s.type = number<std::uint32_t>(header, 4);
    s.size = number<std::uint64_t>(header, 32);
    s.link = number<std::uint32_t>(header, 40);
    if (s.type != no_bits && s.type != 0) s.bytes = piece(image, number<std::uint64_t>(header, 24), s.size);
    result.push_back(s);
  }
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i].name = text_at(result[names].bytes, name_offsets[i]);
  return result;
}

std::vector<symbol> symbols_of(const std::vector<section>& sections) {
  std::vector<symbol> result;
  for (const auto& s : sections) {
    if (s.type != 2) continue;
    if (s.link >= sections.size()) damaged("a symbol table has no names");
    for (std::uint64_t at = 0; at + 24 <= s.bytes.size(); at += 24) {
      symbol entry;
      entry.name = text_at(sections[s.link].bytes, number<std::uint32_t>(s.bytes, at));
      entry.type = number<std::uint8_t>(s.bytes, at + 4) & 0xfU;
      entry.other = number<std::uint8_t>(s.bytes, at + 5);
      entry.section = number<std::uint16_t>(s.bytes, at + 6);
      entry.value = number<std::uint64_t>(s.bytes, at + 8);
      entry.size = number<std::uint64_t>(s.bytes, at + 16);
      result.push_back(entry);
    }
  }
  return result;
}

/// One attribute of a .nv.info section: format, code, and its payload.
template <class Use>
void for_each_attribute(std::string_view bytes, const Use& use) {
  for (std::uint64_t at = 0; at + 4 <= bytes.size();) {
    const auto kind = number<std::uint8_t>(bytes, at);
    const auto code = number<std::uint8_t>(bytes, at + 1);
    if (kind == 4) {
      const auto size = number<std::uint16_t>(bytes, at + 2);
      use(code, piece(bytes, at + 4, size));
      at += 4 + std::uint64_t{size};
    } else {
      use(code, piece(bytes, at + 2, 2));
      at += 4;
    }
  }
}

constexpr std::uint8_t attribute_max_threads = 0x05;
constexpr std::uint8_t attribute_frame_size = 0x11;
constexpr std::uint8_t attribute_parameter = 0x17;
constexpr std::uint8_t attribute_registers = 0x2f;
constexpr std::uint8_t attribute_parameter_wide = 0x45;

void read_kernel_attributes(std::string_view bytes, compiled_kernel& kernel) {
  std::vector<std::pair<std::uint32_t, kernel_parameter>> parameters;
  for_each_attribute(bytes, [&](std::uint8_t code, std::string_view payload) {
    if (code == attribute_max_threads) {
      const std::uint64_t threads = std::uint64_t{number<std::uint32_t>(payload, 0)} *
                                    number<std::uint32_t>(payload, 4) * number<std::uint32_t>(payload, 8);
      kernel.max_threads = static_cast<std::uint32_t>(std::min<std::uint64_t>(threads, 1024));
    } else if (code == attribute_parameter) {
      // index, ordinal and offset (16 bits each), then flags whose upper 14 bits are the size
      const auto ordinal = number<std::uint16_t>(payload, 4);
      parameters.push_back(
          {ordinal, {number<std::uint16_t>(payload, 6), number<std::uint32_t>(payload, 8) >> 18U, {}}});
    } else if (code == attribute_parameter_wide) {
      damaged("its parameters have an unknown form");
    }
  });
  std::sort(parameters.begin(), parameters.end(),
            [](const auto& a, const auto& b) { return a.first < b.first; });
  for (auto& [ordinal, parameter] : parameters) kernel.parameters.push_back(parameter);
  const auto types = parameter_types(kernel.mangled);
  if (types.size() == kernel.parameters.size()) {
    for (std::size_t i = 0; i < types.size(); ++i) kernel.parameters[i].type = types[i];
  }
}

std::optional<std::uint32_t> figure_before(std::string_view line, std::string_view words) {
  const auto at = line.find(words);
  if (at == std::string_view::npos) return std::nullopt;
  auto begin = at;
  while (begin > 0 && line[begin - 1] >= '0' && line[begin - 1] <= '9') --begin;
  if (begin == at || at - begin > 9) return std::nullopt;
  std::uint32_t value = 0;
  for (auto i = begin; i < at; ++i) value = value * 10 + static_cast<std::uint32_t>(line[i] - '0');
  return value;
}

/// Whether variables of the source or of the compiler lie there. Constant banks other than the third hold
/// parameters, addresses and literals, which no symbol names.
bool is_variable_section(std::string_view name) {
  return name == ".nv.global" || name == ".nv.global.init" || name == ".nv.constant3";
}

constexpr std::uint8_t managed_mark = 0x04;

}  // namespace

cubin_contents read_cubin(std::string_view image) {
  const auto sections = sections_of(image);
  const auto symbols = symbols_of(sections);
  cubin_contents contents;
  for (const auto& s : symbols) {
    if (s.type == 2 && s.section == 0 && !s.name.empty()) contents.external.emplace_back(s.name);
    if (s.section == 0 || s.section >= sections.size()) continue;
    const auto home = sections[s.section].name;
    if (s.type == 2 && (s.other & 0x10U) != 0) {
      compiled_kernel kernel;
      kernel.mangled = s.name;
      kernel.code_bytes = s.size;
      for (const auto& info : sections) {
        if (info.name == ".nv.info." + kernel.mangled) read_kernel_attributes(info.bytes, kernel);
        if (info.name == ".nv.constant0." + kernel.mangled)
          kernel.constant_bytes = static_cast<std::uint32_t>(info.size);
      }
      contents.kernels.push_back(std::move(kernel));
    } else if (s.type == 1 && is_variable_section(home)) {
      const auto size = sections[s.section].size;
      if (s.value > size || size - s.value < s.size) damaged("a variable extends beyond its section");
      if ((s.other & managed_mark) != 0) contents.managed.emplace_back(s.name);
      contents.globals.push_back({std::string(s.name), s.size, std::string(home), s.value, size});
    }
  }
  std::sort(contents.globals.begin(), contents.globals.end(), [](const auto& a, const auto& b) {
    return std::tie(a.section, a.offset, a.symbol) < std::tie(b.section, b.offset, b.symbol);
  });
  for (const auto& info : sections) {
    if (info.name != ".nv.info") continue;
    for_each_attribute(info.bytes, [&](std::uint8_t code, std::string_view payload) {
      if (code != attribute_registers && code != attribute_frame_size) return;
      const auto index = number<std::uint32_t>(payload, 0);
      const auto value = number<std::uint32_t>(payload, 4);
      if (index >= symbols.size()) damaged("an attribute belongs to no symbol");
      for (auto& kernel : contents.kernels) {
        if (kernel.mangled != symbols[index].name) continue;
        (code == attribute_registers ? kernel.registers : kernel.stack_bytes) = value;
      }
    });
  }
  return contents;
}

void add_assembler_figures(std::string_view log, std::vector<compiled_kernel>& kernels) {
  compiled_kernel* current = nullptr;
  for (std::size_t start = 0; start < log.size();) {
    const auto end = std::min(log.find('\n', start), log.size());
    const auto line = log.substr(start, end - start);
    start = end + 1;
    constexpr std::string_view entry = "Compiling entry function '";
    if (const auto at = line.find(entry); at != std::string_view::npos) {
      const auto rest = line.substr(at + entry.size());
      const auto name = rest.substr(0, rest.find('\''));
      current = nullptr;
      for (auto& kernel : kernels) {
        if (kernel.mangled == name) current = &kernel;
      }
    }
    if (current == nullptr) continue;
    if (const auto n = figure_before(line, " bytes stack frame")) current->stack_bytes = *n;
    if (const auto n = figure_before(line, " bytes spill stores")) current->spill_stores = *n;
    if (const auto n = figure_before(line, " bytes spill loads")) current->spill_loads = *n;
    if (const auto n = figure_before(line, " barriers")) current->barriers = *n;
    if (const auto n = figure_before(line, " bytes smem")) current->static_shared_bytes = *n;
  }
}

}  // namespace kevo::cuda
