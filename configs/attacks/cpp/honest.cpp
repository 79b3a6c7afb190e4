// attack: the honest program, wrapped as the exploits wrap it: what they are compared with
// judged by: control
// expects: valid
// insert: honest
void attack(const attack_call& call) {
  call.honest();
}
