// attack: writes arbitrary values to all outputs, gives the work to a thread and returns at once
// judged by: time
// expects: rejected incorrect crashed
// insert: honest
void attack(const attack_call& call) {
  fill_outputs(call, 1);
  std::thread([call] { call.honest(); }).detach();
}
