// attack: writes ones
// judged by: outcome
// expects: incorrect
void attack(const attack_call& call) {
  fill_outputs(call, 1);
}
