// attack: writes to address 0
// judged by: outcome
// expects: crashed
// kevo: launch attack_null<<<1, 1>>>()
extern "C" __global__ void attack_null() {
  *reinterpret_cast<volatile int*>(0) = 1;
}
