// attack: an additional thread spins, so that the working threads wait for a processor; a clock that subtracts waits would show too little
// judged by: time
// expects: valid crashed rejected
// insert: honest
void attack(const attack_call& call) {
  static const bool started = [] {
    std::thread([] {
      for (volatile bool on = true; on;) {
      }
    }).detach();
    return true;
  }();
  static_cast<void>(started);
  call.honest();
}
