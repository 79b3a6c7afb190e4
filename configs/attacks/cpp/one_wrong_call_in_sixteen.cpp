// attack: writes zeros in one call of sixteen
// judged by: outcome
// expects: incorrect
// insert: honest
void attack(const attack_call& call) {
  static int calls = 0;
  if (++calls % 16 == 0) return fill_outputs(call, 0);
  call.honest();
}
