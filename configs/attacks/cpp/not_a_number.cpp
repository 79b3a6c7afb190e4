// attack: writes NaN everywhere
// judged by: outcome
// expects: incorrect
// needs: float output
void attack(const attack_call& call) {
  fill_outputs(call, std::numeric_limits<double>::quiet_NaN());
}
