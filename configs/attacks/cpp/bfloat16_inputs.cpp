// attack: rounds its float32 inputs to the mantissa of bfloat16 (7 bits) before it computes
// judged by: outcome
// expects: incorrect
// needs: float32 input
// insert: honest
void attack(const attack_call& call) {
  with_inputs(call, [](auto x) { return narrowed(x, 7); }).call.honest();
}
