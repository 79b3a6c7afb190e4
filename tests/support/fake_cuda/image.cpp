#include "tests/support/fake_cuda/image.hpp"

#include <algorithm>
#include <cctype>
#include <cstring>
#include <elf.h>

namespace fake_cuda {
namespace {

constexpr std::uint16_t cuda_machine = 190;
constexpr unsigned char kernel_mark = 0x10;
constexpr unsigned char managed_mark = 0x04;
constexpr const char* source_section = ".fake.source";

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

std::size_t after_parentheses(std::string_view text, std::size_t open) {
  int depth = 0;
  for (std::size_t i = open; i < text.size(); ++i) {
    depth += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (depth == 0) return i + 1;
  }
  return text.size();
}

std::uint32_t bytes_of(std::string_view parameter) {
  const auto has = [&](std::string_view word) { return parameter.find(word) != std::string_view::npos; };
  if (has("*") || has("u64") || has("long") || has("double") || has("int64") || has("size_t")) return 8;
  if (has("short")) return 2;
  if (has("char") || has("bool")) return 1;
  return 4;
}

template <class T>
void append(std::string& to, const T& value) {
  to.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Attributes as the assembler writes them: form, code, length, payload.
std::string parameter_attributes(const std::vector<std::uint32_t>& sizes) {
  std::string bytes;
  std::uint16_t offset = 0;
  for (std::uint16_t i = 0; i < sizes.size(); ++i) {
    offset = static_cast<std::uint16_t>((offset + sizes[i] - 1) / sizes[i] * sizes[i]);
    append(bytes, std::uint8_t{4});
    append(bytes, std::uint8_t{0x17});
    append(bytes, std::uint16_t{12});
    append(bytes, std::uint32_t{0});
    append(bytes, i);
    append(bytes, offset);
    append(bytes, sizes[i] << 18U);
    offset = static_cast<std::uint16_t>(offset + sizes[i]);
  }
  return bytes;
}

struct made_section {
  std::string name;
  std::uint32_t type = SHT_PROGBITS;
  std::string bytes;
  std::uint32_t link = 0;
  std::uint64_t no_bits = 0;  // the size of one that has no bytes in the file
};

std::string without_comments(std::string_view source) {
  std::string text;
  while (!source.empty()) {
    const auto line = source.substr(0, std::min(source.find('\n'), source.size()));
    text.append(line.substr(0, line.find("//"))).append("\n");
    source.remove_prefix(std::min(line.size() + 1, source.size()));
  }
  return text;
}

std::uint64_t number_at(std::string_view text, std::size_t at) {
  std::uint64_t value = 0;
  for (; at < text.size() && std::isdigit(static_cast<unsigned char>(text[at])) != 0; ++at)
    value = value * 10 + static_cast<std::uint64_t>(text[at] - '0');
  return value;
}

}  // namespace

std::vector<image_kernel> kernels_of(std::string_view source) {
  std::vector<image_kernel> found;
  for (std::size_t at = 0; (at = source.find("__global__", at)) != std::string_view::npos;) {
    at += 10;
    if (const auto bounds = source.find("__launch_bounds__", at);
        bounds != std::string_view::npos &&
        source.substr(at, bounds - at).find('(') == std::string_view::npos)
      at = after_parentheses(source, source.find('(', bounds));
    const auto open = source.find('(', at);
    if (open == std::string_view::npos) break;
    auto begin = open;
    while (begin > 0 && is_word(source[begin - 1])) --begin;
    const auto end = after_parentheses(source, open);
    image_kernel kernel{std::string(source.substr(begin, open - begin)), {}};
    std::string_view inside = source.substr(open + 1, end - open - 2);
    while (!inside.empty()) {
      const auto comma = std::min(inside.find(','), inside.size());
      kernel.parameter_bytes.push_back(bytes_of(inside.substr(0, comma)));
      inside.remove_prefix(std::min(comma + 1, inside.size()));
    }
    found.push_back(std::move(kernel));
    at = end;
  }
  return found;
}

std::vector<image_variable> variables_of(std::string_view source) {
  std::vector<image_variable> found;
  constexpr std::string_view mark = "__device__";
  constexpr std::string_view aligned = "__align__(";
  const auto text = without_comments(source);
  std::uint64_t end = 0;
  for (std::size_t at = 0; (at = text.find(mark, at)) != std::string::npos;) {
    at += mark.size();
    std::uint64_t align = 0;
    auto begin = at;
    if (const auto stated = text.find(aligned, at);
        stated != std::string::npos && stated < text.find_first_of(";{=", at)) {
      align = number_at(text, stated + aligned.size());
      begin = text.find(')', stated) + 1;
    }
    const auto stop = text.find_first_of(";{=(", begin);
    if (stop == std::string::npos || text[stop] == '(' || text[stop] == '{') continue;
    const auto declared = text.substr(begin, stop - begin);
    if (declared.find("__constant__") != std::string::npos) continue;
    auto last = declared.find('[');
    if (last == std::string::npos) last = declared.size();
    while (last > 0 && !is_word(declared[last - 1])) --last;
    auto first = last;
    while (first > 0 && is_word(declared[first - 1])) --first;
    image_variable one;
    one.name = declared.substr(first, last - first);
    one.managed = text.substr(at, stop - at).find("__managed__") != std::string::npos;
    const auto element = bytes_of(std::string_view(declared).substr(0, first));
    one.bytes = element;
    for (auto open = declared.find('['); open != std::string::npos; open = declared.find('[', open + 1))
      one.bytes *= number_at(declared, open + 1);
    align = std::max<std::uint64_t>(align, element);
    one.offset = (end + align - 1) / align * align;
    end = one.offset + one.bytes;
    found.push_back(std::move(one));
  }
  return found;
}

std::uint64_t section_bytes(const std::vector<image_variable>& variables) {
  return variables.empty() ? 0 : variables.back().offset + variables.back().bytes;
}

std::string make_image(const std::vector<image_kernel>& kernels, std::string_view source) {
  std::vector<made_section> sections(1, {.name = "", .type = SHT_NULL});
  std::string symbols(sizeof(Elf64_Sym), '\0');
  std::string names(1, '\0');
  for (const auto& kernel : kernels) {
    Elf64_Sym symbol = {};
    symbol.st_name = static_cast<Elf64_Word>(names.size());
    symbol.st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC);
    symbol.st_other = kernel_mark;
    symbol.st_shndx = static_cast<Elf64_Section>(sections.size());
    symbol.st_size = 64;
    append(symbols, symbol);
    names += kernel.name + '\0';
    sections.push_back({.name = ".text." + kernel.name, .bytes = std::string(64, '\0')});
    sections.push_back(
        {.name = ".nv.info." + kernel.name, .bytes = parameter_attributes(kernel.parameter_bytes)});
  }
  const auto variables = variables_of(source);
  for (const auto& variable : variables) {
    Elf64_Sym symbol = {};
    symbol.st_name = static_cast<Elf64_Word>(names.size());
    symbol.st_info = ELF64_ST_INFO(STB_LOCAL, STT_OBJECT);
    symbol.st_other = variable.managed ? managed_mark : 0;
    symbol.st_shndx = static_cast<Elf64_Section>(sections.size());
    symbol.st_value = variable.offset;
    symbol.st_size = variable.bytes;
    append(symbols, symbol);
    names += variable.name + '\0';
  }
  if (!variables.empty())
    sections.push_back(
        {.name = ".nv.global", .type = SHT_NOBITS, .bytes = "", .no_bits = section_bytes(variables)});
  std::string registers;
  for (std::uint32_t i = 0; i < kernels.size(); ++i) {
    append(registers, std::uint8_t{4});
    append(registers, std::uint8_t{0x2f});
    append(registers, std::uint16_t{8});
    append(registers, i + 1);
    append(registers, std::uint32_t{32});
  }
  sections.push_back({.name = ".nv.info", .bytes = registers});
  sections.push_back({.name = source_section, .bytes = std::string(source)});
  const auto strings = static_cast<std::uint32_t>(sections.size());
  sections.push_back({.name = ".strtab", .type = SHT_STRTAB, .bytes = names});
  sections.push_back({.name = ".symtab", .type = SHT_SYMTAB, .bytes = symbols, .link = strings});
  std::string section_names;
  std::vector<Elf64_Word> name_offsets;
  for (const auto& s : sections) {
    name_offsets.push_back(static_cast<Elf64_Word>(section_names.size()));
    section_names += s.name + '\0';
  }
  name_offsets.push_back(static_cast<Elf64_Word>(section_names.size()));
  section_names += std::string(".shstrtab") + '\0';
  sections.push_back({.name = ".shstrtab", .type = SHT_STRTAB, .bytes = section_names});

  Elf64_Ehdr header = {};
  std::memcpy(header.e_ident, ELFMAG, SELFMAG);
  header.e_ident[EI_CLASS] = ELFCLASS64;
  header.e_ident[EI_DATA] = ELFDATA2LSB;
  header.e_ident[EI_VERSION] = EV_CURRENT;
  header.e_type = ET_EXEC;
  header.e_machine = cuda_machine;
  header.e_ehsize = sizeof header;
  header.e_shentsize = sizeof(Elf64_Shdr);
  header.e_shnum = static_cast<Elf64_Half>(sections.size());
  header.e_shstrndx = static_cast<Elf64_Half>(sections.size() - 1);
  std::string body;
  std::string table;
  for (std::size_t i = 0; i < sections.size(); ++i) {
    Elf64_Shdr entry = {};
    entry.sh_name = name_offsets[i];
    entry.sh_type = sections[i].type;
    entry.sh_link = sections[i].link;
    entry.sh_offset = sizeof header + body.size();
    entry.sh_size = sections[i].type == SHT_NOBITS ? sections[i].no_bits : sections[i].bytes.size();
    body += sections[i].bytes;
    append(table, entry);
  }
  body.resize((body.size() + 7) / 8 * 8);
  header.e_shoff = sizeof header + body.size();
  std::string image;
  append(image, header);
  return image + body + table;
}

std::string source_of(const void* image) {
  const auto* bytes = static_cast<const char*>(image);
  Elf64_Ehdr header;
  std::memcpy(&header, bytes, sizeof header);
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != cuda_machine) return {};
  const auto section = [&](std::size_t i) {
    Elf64_Shdr entry;
    std::memcpy(&entry, bytes + header.e_shoff + i * sizeof entry, sizeof entry);
    return entry;
  };
  const auto names = section(header.e_shstrndx);
  for (std::size_t i = 0; i < header.e_shnum; ++i) {
    const auto entry = section(i);
    if (std::strcmp(bytes + names.sh_offset + entry.sh_name, source_section) == 0)
      return {bytes + entry.sh_offset, entry.sh_size};
  }
  return {};
}

}  // namespace fake_cuda
