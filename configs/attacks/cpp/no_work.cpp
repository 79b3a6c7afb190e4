// attack: writes nothing; is correct only if the outputs still contain the correct values of an earlier call
// judged by: outcome
// expects: rejected incorrect
void attack(const attack_call&) {}
