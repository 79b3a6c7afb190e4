// attack: computes, and then ends its process with the exit code 0
// judged by: outcome
// expects: crashed rejected
// insert: honest
void attack(const attack_call& call) {
  call.honest();
  std::_Exit(0);
}
