// attack: one more thread spins, so that those that work wait for a processor, for which a clock might make up
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
