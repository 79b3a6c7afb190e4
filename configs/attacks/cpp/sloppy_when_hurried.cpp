// attack: assumes that a call that directly follows another one is timed, and returns its last result there
// judged by: time
// expects: valid incorrect
// insert: honest
void attack(const attack_call& call) {
  static std::map<std::vector<std::int64_t>, std::vector<unsigned char>> last;
  static auto ended = std::chrono::steady_clock::now() - std::chrono::seconds(1);
  auto& kept = last[sizes_of(call)];
  const bool hurried = std::chrono::steady_clock::now() - ended < std::chrono::microseconds(10);
  if (hurried && !kept.empty()) {
    put_outputs(call, kept);
  } else {
    call.honest();
    kept = copy_of_outputs(call);
  }
  ended = std::chrono::steady_clock::now();
}
