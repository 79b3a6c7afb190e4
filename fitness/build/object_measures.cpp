#include "fitness/build/object_measures.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <elf.h>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <kevo/error.hpp>

#include "fitness/sandbox/sandbox.hpp"

namespace kevo {
namespace {

[[noreturn]] void malformed(const char* what) {
  throw error(error_code::input, std::string("not an ELF64 object: ") + what);
}

template <class T>
T read_at(std::string_view file, std::uint64_t at, const char* what) {
  if (at > file.size() || file.size() - at < sizeof(T)) malformed(what);
  T value;
  std::memcpy(&value, file.data() + at, sizeof(T));
  return value;
}

// What the C runtime puts into every object.
bool runtime_function(std::string_view name) {
  constexpr std::array<std::string_view, 8> names = {
      "_init",       "_fini",  "deregister_tm_clones", "register_tm_clones", "__do_global_dtors_aux",
      "frame_dummy", "_start", "__libc_csu_init"};
  return std::find(names.begin(), names.end(), name) != names.end();
}

bool starts_with_any(std::string_view text, std::initializer_list<std::string_view> prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [&](std::string_view p) { return text.starts_with(p); });
}

bool is_padding(std::string_view mnemonic, std::string_view operands) {
  return mnemonic == "nop" || mnemonic == "nopw" || mnemonic == "nopl" || mnemonic == "data16" ||
         mnemonic == "cs" || mnemonic == "int3" || mnemonic == "endbr64" ||
         (mnemonic == "xchg" && operands == "%ax,%ax");
}

// Scalar floating point lives in xmm registers, too: it copies them by movaps and clears them by xorps.
bool is_scalar_housekeeping(std::string_view mnemonic, std::string_view operands) {
  const bool memory = operands.find('(') != std::string_view::npos;
  if (memory) return false;
  if (starts_with_any(mnemonic, {"movap", "vmovap", "movdq", "vmovdq"})) return true;
  if (starts_with_any(mnemonic, {"xorp", "vxorp", "pxor", "vpxor"})) {
    const auto comma = operands.find(',');
    const auto next = comma == std::string_view::npos ? comma : operands.find(',', comma + 1);
    return comma != std::string_view::npos &&
           operands.substr(0, comma) ==
               operands.substr(comma + 1, next == std::string_view::npos ? next : next - comma - 1);
  }
  return false;
}

}  // namespace

bool is_vector_instruction(std::string_view mnemonic, std::string_view operands) {
  if (operands.find("%zmm") != std::string_view::npos || operands.find("%ymm") != std::string_view::npos)
    return true;
  if (operands.find("%xmm") == std::string_view::npos) return false;
  if (is_scalar_housekeeping(mnemonic, operands)) return false;
  return mnemonic.ends_with("ps") || mnemonic.ends_with("pd") ||
         starts_with_any(mnemonic, {"p", "vp", "movdq", "vmovdq", "vbroadcast", "vinsert", "vextract",
                                    "lddqu", "vlddqu"});
}

std::uint64_t text_bytes_of_elf(std::string_view file) {
  const auto header = read_at<Elf64_Ehdr>(file, 0, "too short");
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) malformed("no magic number");
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB)
    malformed("other class or order");
  if (header.e_shnum == 0) return 0;
  if (header.e_shentsize != sizeof(Elf64_Shdr) || header.e_shstrndx >= header.e_shnum)
    malformed("section headers");
  const auto section = [&](std::uint64_t index) {
    if (header.e_shoff > file.size()) malformed("section headers");
    return read_at<Elf64_Shdr>(file, header.e_shoff + index * sizeof(Elf64_Shdr), "section headers");
  };
  const auto names = section(header.e_shstrndx);
  if (names.sh_offset > file.size() || names.sh_size > file.size() - names.sh_offset)
    malformed("section names");
  const auto text = file.substr(names.sh_offset, names.sh_size);
  std::uint64_t bytes = 0;
  for (std::uint64_t i = 0; i < header.e_shnum; ++i) {
    const auto s = section(i);
    if (s.sh_name >= text.size()) malformed("section names");
    auto name = text.substr(s.sh_name);
    name = name.substr(0, name.find('\0'));
    if (name == ".text" || name.starts_with(".text.")) bytes += s.sh_size;
  }
  return bytes;
}

std::map<std::string, double> count_instructions(std::string_view disassembly,
                                                 std::string_view ignored_prefix) {
  double all = 0;
  double vector = 0;
  double fma = 0;
  bool counted = false;
  bool in_text = true;
  while (!disassembly.empty()) {
    const auto end = disassembly.find('\n');
    std::string_view line = disassembly.substr(0, end);
    disassembly.remove_prefix(end == std::string_view::npos ? disassembly.size() : end + 1);
    if (line.starts_with("Disassembly of section ")) {
      in_text = line.find(" .text") != std::string_view::npos;
      counted = false;
      continue;
    }
    if (line.ends_with(">:") && line.find('<') != std::string_view::npos) {
      const auto open = line.find('<');
      const auto name = line.substr(open + 1, line.size() - open - 3);
      counted =
          in_text && !runtime_function(name) && (ignored_prefix.empty() || !name.starts_with(ignored_prefix));
      continue;
    }
    const auto tab = line.find(":\t");
    if (!counted || tab == std::string_view::npos) continue;
    line.remove_prefix(tab + 2);
    const auto space = line.find_first_of(" \t");
    std::string_view mnemonic = line.substr(0, space);
    std::string_view operands = space == std::string_view::npos ? std::string_view() : line.substr(space);
    const auto first = operands.find_first_not_of(" \t");
    operands = first == std::string_view::npos ? std::string_view() : operands.substr(first);
    if (mnemonic.empty() || is_padding(mnemonic, operands)) continue;
    ++all;
    if (is_vector_instruction(mnemonic, operands)) ++vector;
    if (starts_with_any(mnemonic, {"vfmadd", "vfmsub", "vfnmadd", "vfnmsub"})) ++fma;
  }
  return {{"instructions", all},
          {"vector_instructions", vector},
          {"vector_fraction", all > 0 ? vector / all : 0},
          {"fma_instructions", fma}};
}

std::string disassembly_of(const std::string& path, sandbox_mode sandbox, running_builds* pausable) {
  constexpr const char* objdump = "/usr/bin/objdump";
  if (!std::filesystem::exists(objdump)) return {};
  launch_spec spec;
  spec.argv = {objdump, "-d", "--no-show-raw-insn", "-w", "/object.so"};
  spec.mounts = toolchain_mounts(objdump);
  spec.mounts.push_back({std::filesystem::absolute(path).string(), "/object.so"});
  spec.limits.wall_s = 30;
  spec.limits.memory_bytes = std::uint64_t{2} << 30U;
  spec.limits.processes = 4;
  spec.limits.output_bytes = 64U << 20U;
  spec.limits.file_bytes = 1U << 20U;
  spec.sandbox = sandbox;
  const auto report = pausable != nullptr ? pausable->run(spec) : run(spec);
  if (!report.ok()) return {};
  return report.out;
}

std::map<std::string, double> measures_of_object(const std::string& path, sandbox_mode sandbox,
                                                 std::string_view ignored_prefix, running_builds* pausable) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw error(error_code::environment, "cannot read the object", {path, 0, 0, {}});
  const std::string file((std::istreambuf_iterator<char>(stream)), std::istreambuf_iterator<char>());
  std::map<std::string, double> measures;
  try {
    measures["code_bytes"] = static_cast<double>(text_bytes_of_elf(file));
  } catch (const error& e) {
    throw error(error_code::environment, e.message(), {path, 0, 0, {}});
  }
  measures["object_bytes"] = static_cast<double>(file.size());
  const std::string disassembly = disassembly_of(path, sandbox, pausable);
  if (disassembly.empty()) return measures;
  measures.merge(count_instructions(disassembly, ignored_prefix));
  return measures;
}

}  // namespace kevo
