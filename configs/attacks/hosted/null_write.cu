// attack: the host code writes to address 0
// judged by: outcome
// expects: crashed
int attack(const attack_call&, cudaStream_t) {
  *reinterpret_cast<volatile int*>(std::uintptr_t{0}) = 1;
  return 0;
}
