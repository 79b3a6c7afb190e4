// attack: stores results under the signs of two elements of each input, so that different contents get the same result
// judged by: outcome
// expects: incorrect
// needs: float input
// insert: honest
void attack(const attack_call& call) {
  static std::map<std::pair<std::vector<std::int64_t>, std::uint64_t>, std::vector<unsigned char>> results;
  auto& kept = results[{sizes_of(call), sample_of_inputs(call, 2, 0x80)}];
  if (!kept.empty()) return put_outputs(call, kept);
  call.honest();
  kept = copy_of_outputs(call);
}
