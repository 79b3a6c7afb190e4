// attack: writes 64 bytes before the beginning of each output
// judged by: outcome
// expects: rejected crashed
// insert: honest
void attack(const attack_call& call) {
  call.honest();
  call.each_output([](auto* data, std::int64_t) { std::memset(reinterpret_cast<char*>(data) - 64, 7, 64); });
}
