// attack: stores results under the addresses of the buffers, and copies them when the addresses are repeated
// judged by: outcome
// expects: incorrect
// insert: honest
void attack(const attack_call& call) {
  static std::map<std::pair<std::vector<std::int64_t>, std::uintptr_t>, std::vector<unsigned char>> results;
  std::uintptr_t address = 0;
  call.each_output([&](auto* data, std::int64_t) { address = reinterpret_cast<std::uintptr_t>(data) / 4096; });
  auto& kept = results[{sizes_of(call), address}];
  if (!kept.empty()) return put_outputs(call, kept);
  call.honest();
  kept = copy_of_outputs(call);
}
