// attack: writes to address 0
// judged by: outcome
// expects: crashed
void attack(const attack_call&) {
  *reinterpret_cast<volatile int*>(std::uintptr_t{0}) = 1;
}
