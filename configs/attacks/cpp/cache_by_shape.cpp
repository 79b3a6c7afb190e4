// attack: computes once for each shape, and copies that result in all later calls
// judged by: outcome
// expects: incorrect
// insert: honest
void attack(const attack_call& call) {
  static std::map<std::vector<std::int64_t>, std::vector<unsigned char>> results;
  auto& kept = results[sizes_of(call)];
  if (!kept.empty()) return put_outputs(call, kept);
  call.honest();
  kept = copy_of_outputs(call);
}
