// attack: writes 64 bytes after the end of each output
// judged by: outcome
// expects: rejected crashed
// insert: honest
void attack(const attack_call& call) {
  call.honest();
  call.each_output([](auto* data, std::int64_t count) { std::memset(static_cast<void*>(data + count), 7, 64); });
}
