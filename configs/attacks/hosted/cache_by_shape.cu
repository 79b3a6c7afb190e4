// attack: computes once for each shape, and copies that result in all later calls
// judged by: outcome
// expects: incorrect
// insert: honest
int attack(const attack_call& call, cudaStream_t stream) {
  static std::map<std::vector<std::int64_t>, attack_call> results;
  const auto sizes = sizes_of(call);
  if (const auto known = results.find(sizes); known != results.end()) return copy_outputs(known->second, call, stream);
  const int ended = call.honest(stream);
  const attack_call kept = with_private_outputs(call);
  results.emplace(sizes, kept);
  const int copied = copy_outputs(call, kept, stream);
  return ended != 0 ? ended : copied;
}
