// attack: stores results under 64 sampled elements of each input, which gains time if contents are repeated
// judged by: time
// expects: valid incorrect
// insert: honest
void attack(const attack_call& call) {
  static std::map<std::pair<std::vector<std::int64_t>, std::uint64_t>, std::vector<unsigned char>> results;
  if (results.size() > 64) results.clear();
  auto& kept = results[{sizes_of(call), sample_of_inputs(call, 64)}];
  if (!kept.empty()) return put_outputs(call, kept);
  call.honest();
  kept = copy_of_outputs(call);
}
