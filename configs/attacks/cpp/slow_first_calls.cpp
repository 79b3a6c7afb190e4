// attack: is slow in its first calls, from which limits and plans are derived
// judged by: time
// expects: valid timed_out
// insert: honest
void attack(const attack_call& call) {
  static int calls = 0;
  call.honest();
  if (calls++ >= 12) return;
  const auto until = std::chrono::steady_clock::now() + std::chrono::milliseconds(30);
  while (std::chrono::steady_clock::now() < until) {
  }
}
