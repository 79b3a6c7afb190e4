// attack: stores results under the addresses of the outputs, and copies them when the addresses are repeated
// judged by: outcome
// expects: incorrect
// insert: honest
int attack(const attack_call& call, cudaStream_t stream) {
  static std::map<std::pair<std::vector<std::int64_t>, std::uintptr_t>, attack_call> results;
  std::uintptr_t address = 0;
  call.each_output([&](auto* data, std::int64_t) { address = reinterpret_cast<std::uintptr_t>(data); });
  const std::pair key{sizes_of(call), address};
  if (const auto known = results.find(key); known != results.end()) return copy_outputs(known->second, call, stream);
  const int ended = call.honest(stream);
  if (results.size() >= 64) return ended;
  const attack_call kept = with_private_outputs(call);
  results.emplace(key, kept);
  const int copied = copy_outputs(call, kept, stream);
  return ended != 0 ? ended : copied;
}
