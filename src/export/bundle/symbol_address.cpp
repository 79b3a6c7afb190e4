#include "src/export/bundle/symbol_address.hpp"

#include <cstring>
#include <elf.h>

namespace kevo::bundle {
namespace {

template <class T>
bool object_at(const std::string& file, std::uint64_t offset, T& target) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
  std::memcpy(&target, file.data() + offset, sizeof(T));
  return true;
}

}  // namespace

std::optional<std::uint64_t> symbol_address(const std::string& bytes, const std::string& symbol) {
  Elf64_Ehdr header;
  if (!object_at(bytes, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return std::nullopt;
  }
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    Elf64_Shdr names;
    if (!object_at(bytes, header.e_shoff + std::uint64_t{i} * header.e_shentsize, section)) break;
    if (section.sh_type != SHT_SYMTAB) continue;
    if (!object_at(bytes, header.e_shoff + std::uint64_t{section.sh_link} * header.e_shentsize, names)) break;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Sym) <= section.sh_size; at += sizeof(Elf64_Sym)) {
      Elf64_Sym entry;
      if (!object_at(bytes, section.sh_offset + at, entry)) break;
      const std::uint64_t name = names.sh_offset + entry.st_name;
      if (entry.st_shndx != SHN_UNDEF && name < bytes.size() && symbol == bytes.c_str() + name)
        return entry.st_value;
    }
  }
  return std::nullopt;
}

}  // namespace kevo::bundle
