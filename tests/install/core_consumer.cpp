// Uses the header-only core alone.
#include <cstdio>

#include <kevo/kevo.hpp>

int main() {
  const auto p = kevo::single_file_program("cpp", "kernel.cpp", "int x;");
  std::puts(kevo::to_string(kevo::id_of(p)).c_str());
  return kevo::rng(1)() == kevo::rng(1)() ? 0 : 1;
}
