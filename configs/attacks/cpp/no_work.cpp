// attack: writes nothing at all, hoping for outputs that still hold the right values
// judged by: outcome
// expects: rejected incorrect
void attack(const attack_call&) {}
