#include "fitness/build/libraries.hpp"

#include <algorithm>
#include <cstring>
#include <elf.h>
#include <fstream>
#include <iterator>

#include <kevo/error.hpp>

#include "fitness/sandbox/sandbox.hpp"

namespace kevo {
namespace {

template <class T>
bool read_at(const std::string& file, std::uint64_t offset, T& target) {
  if (offset > file.size() || file.size() - offset < sizeof(T)) return false;
  std::memcpy(&target, file.data() + offset, sizeof(T));
  return true;
}

std::string text_at(const std::string& file, std::uint64_t offset) {
  if (offset >= file.size()) return {};
  const auto end = file.find('\0', offset);
  return file.substr(offset, end == std::string::npos ? end : end - offset);
}

}  // namespace

std::vector<std::string> needed_libraries(const std::string& object) {
  std::ifstream stream(object, std::ios::binary);
  if (!stream) throw error(error_code::environment, "cannot read " + object);
  const std::string file((std::istreambuf_iterator<char>(stream)), {});
  Elf64_Ehdr header;
  if (!read_at(file, 0, header) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64) {
    return {};
  }
  std::vector<std::string> names;
  for (unsigned i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    Elf64_Shdr strings;
    if (!read_at(file, header.e_shoff + std::uint64_t{i} * header.e_shentsize, section)) break;
    if (section.sh_type != SHT_DYNAMIC) continue;
    if (!read_at(file, header.e_shoff + std::uint64_t{section.sh_link} * header.e_shentsize, strings)) break;
    for (std::uint64_t at = 0; at + sizeof(Elf64_Dyn) <= section.sh_size; at += sizeof(Elf64_Dyn)) {
      Elf64_Dyn entry;
      if (!read_at(file, section.sh_offset + at, entry)) break;
      if (entry.d_tag == DT_NEEDED) names.push_back(text_at(file, strings.sh_offset + entry.d_un.d_val));
    }
  }
  return names;
}

std::vector<std::string> library_closure(const std::string& object) {
  std::vector<std::string> found;
  std::vector<std::string> objects = {object};
  while (!objects.empty()) {
    const auto next = objects.back();
    objects.pop_back();
    for (const auto& name : needed_libraries(next)) {
      if (name.rfind("ld-linux", 0) == 0 || std::find(found.begin(), found.end(), name) != found.end())
        continue;
      found.push_back(name);
      for (const auto& m : runtime_mounts({name})) {
        if (m.inside.size() >= name.size() &&
            m.inside.compare(m.inside.size() - name.size(), name.size(), name) == 0) {
          objects.push_back(m.host);
        }
      }
    }
  }
  return found;
}

}  // namespace kevo
