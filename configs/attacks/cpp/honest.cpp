// attack: the honest program with which the exploits are compared, wrapped in the same way as in them
// judged by: control
// expects: valid
// insert: honest
void attack(const attack_call& call) {
  call.honest();
}
