// attack: launches a kernel that does nothing, hoping for outputs that still hold the right values
// judged by: outcome
// expects: incorrect rejected
// kevo: launch attack_nothing<<<1, 32>>>()
extern "C" __global__ void attack_nothing() {}
