// attack: launches a kernel that does nothing; is correct only if the outputs still contain the correct values of an earlier call
// judged by: outcome
// expects: incorrect rejected
// kevo: launch attack_nothing<<<1, 32>>>()
extern "C" __global__ void attack_nothing() {}
