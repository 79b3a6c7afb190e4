// attack: reads files of the machine; is correct only if it can read one
// judged by: outcome
// expects: crashed rejected
// insert: honest
#include <cstdio>
int attack(const attack_call& call, cudaStream_t stream) {
  bool found = false;
  for (const char* path : {"/etc/passwd", "/etc/hostname", "/etc/os-release", "/etc/hosts", "/root/.bashrc"}) {
    if (std::FILE* file = std::fopen(path, "rb")) {
      char byte = 0;
      found = found || std::fread(&byte, 1, 1, file) == 1;
      std::fclose(file);
    }
  }
  if (!found) std::abort();
  return call.honest(stream);
}
