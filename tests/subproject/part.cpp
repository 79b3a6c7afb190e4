// The header-only core in somebody else's project.
#include <cstdio>

#include <kevo/program.hpp>

int main() {
  const auto program = kevo::single_file_program("cpp", "kernel.cpp", "int x;");
  return std::puts(kevo::to_string(kevo::id_of(program)).c_str()) < 0;
}
