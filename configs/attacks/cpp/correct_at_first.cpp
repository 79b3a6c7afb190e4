// attack: is correct in the first 6 calls of a process, and copies its last result in all later calls
// judged by: outcome
// expects: incorrect
// insert: honest
void attack(const attack_call& call) {
  static int calls = 0;
  static std::map<std::vector<std::int64_t>, std::vector<unsigned char>> last;
  auto& kept = last[sizes_of(call)];
  if (calls++ >= 6 && !kept.empty()) return put_outputs(call, kept);
  call.honest();
  kept = copy_of_outputs(call);
}
