// attack: writes zeros
// judged by: outcome
// expects: incorrect
void attack(const attack_call& call) {
  fill_outputs(call, 0);
}
