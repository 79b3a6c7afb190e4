// attack: computes a result from the buffers after each call has ended, and returns it in the next call
// judged by: outcome
// expects: incorrect
// insert: honest
void attack(const attack_call& call) {
  static std::map<std::vector<std::int64_t>, std::vector<unsigned char>> ahead;
  auto& kept = ahead[sizes_of(call)];
  if (kept.empty()) {
    call.honest();
  } else {
    put_outputs(call, kept);
  }
  auto mine = with_private_outputs(call);
  mine.call.honest();
  kept = copy_of_outputs(mine.call);
}
