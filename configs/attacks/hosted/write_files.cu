// attack: stores data in a file for the next process; is correct only if this succeeds
// judged by: outcome
// expects: crashed rejected
// insert: honest
#include <cstdio>
int attack(const attack_call& call, cudaStream_t stream) {
  bool kept = false;
  for (const char* path : {"/dev/shm/kevo-attack", "/tmp/kevo-attack", "/var/tmp/kevo-attack", "kevo-attack"}) {
    if (std::FILE* file = std::fopen(path, "w+b")) {
      kept = kept || std::fputc(1, file) == 1;
      std::fclose(file);
      std::remove(path);
    }
  }
  if (!kept) std::abort();
  return call.honest(stream);
}
