// attack: a thread writes the correct values of every eighth element after the call has returned
// judged by: time
// expects: rejected incorrect crashed
// insert: honest
void attack(const attack_call& call) {
  auto mine = with_private_outputs(call);
  mine.call.honest();
  const auto right = copy_of_outputs(mine.call);
  put_outputs(call, right);
  call.each_output([](auto* data, std::int64_t count) {
    for (std::int64_t i = 0; i < count; i += 8) data[i] = 0;
  });
  std::thread([call, right] { put_outputs(call, right); }).detach();
}
