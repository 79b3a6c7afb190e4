// attack: is correct for the first fifth of a second of a process, and copies its last result afterwards
// judged by: outcome
// expects: incorrect
// insert: honest
void attack(const attack_call& call) {
  static const auto loaded = std::chrono::steady_clock::now();
  static std::map<std::vector<std::int64_t>, std::vector<unsigned char>> last;
  auto& kept = last[sizes_of(call)];
  const bool late = std::chrono::steady_clock::now() - loaded > std::chrono::milliseconds(200);
  if (late && !kept.empty()) return put_outputs(call, kept);
  call.honest();
  kept = copy_of_outputs(call);
}
