// attack: computes once for every shape and copies that result from then on
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
