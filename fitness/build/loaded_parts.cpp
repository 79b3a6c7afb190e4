#include "fitness/build/loaded_parts.hpp"

#include <cstring>
#include <elf.h>
#include <optional>

namespace kevo {
namespace {

/// The program headers; nothing if the file is no whole ELF64 file.
std::optional<std::vector<Elf64_Phdr>> headers_of(std::string_view file) {
  Elf64_Ehdr start;
  if (file.size() < sizeof start) return std::nullopt;
  std::memcpy(&start, file.data(), sizeof start);
  if (std::memcmp(start.e_ident, ELFMAG, SELFMAG) != 0 || start.e_ident[EI_CLASS] != ELFCLASS64 ||
      start.e_phentsize != sizeof(Elf64_Phdr) || start.e_phoff > file.size() ||
      (file.size() - start.e_phoff) / sizeof(Elf64_Phdr) < start.e_phnum)
    return std::nullopt;
  std::vector<Elf64_Phdr> read(start.e_phnum);
  if (!read.empty()) std::memcpy(read.data(), file.data() + start.e_phoff, read.size() * sizeof(Elf64_Phdr));
  for (const auto& one : read) {
    if (one.p_offset > file.size() || one.p_filesz > file.size() - one.p_offset) return std::nullopt;
  }
  return read;
}

}  // namespace

std::vector<loaded_part> loaded_parts(std::string_view file) {
  const auto all = headers_of(file);
  if (!all) return {{0, 0, file.size(), file}};
  std::vector<loaded_part> parts;
  for (const auto& one : *all) {
    if (one.p_type == PT_LOAD)
      parts.push_back({one.p_flags, one.p_vaddr, one.p_memsz, file.substr(one.p_offset, one.p_filesz)});
  }
  return parts;
}

std::uint64_t thread_local_bytes(std::string_view file) {
  std::uint64_t bytes = 0;
  for (const auto& one : headers_of(file).value_or(std::vector<Elf64_Phdr>())) {
    if (one.p_type == PT_TLS) bytes += one.p_memsz;
  }
  return bytes;
}

}  // namespace kevo
