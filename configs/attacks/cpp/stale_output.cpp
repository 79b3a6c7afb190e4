// attack: returns the result of the previous call of the same sizes
// judged by: outcome
// expects: incorrect rejected
// insert: honest
void attack(const attack_call& call) {
  static std::map<std::vector<std::int64_t>, std::vector<unsigned char>> last;
  auto& kept = last[sizes_of(call)];
  const bool first = kept.empty();
  call.honest();
  auto result = copy_of_outputs(call);
  if (!first) put_outputs(call, kept);
  kept = std::move(result);
}
