// attack: a thread watches the memory where it expects the next inputs, and computes their outputs before the call
// judged by: time
// expects: valid crashed incorrect rejected
// needs: input
// insert: honest
// It expects the buffers of the next call as far from this one's as this one's are from those of the call before, and
// looks nowhere but between addresses that it has seen: others may not be there.
namespace ahead {
std::atomic<unsigned> asked{0};
std::atomic<unsigned> finished{0};
attack_call guess;
std::vector<unsigned char> result;
std::uint64_t sample = 0;

void help() {
  unsigned seen = 0;
  for (;;) {
    const unsigned now = asked.load();
    if (now == seen) continue;
    seen = now;
    // What lies there changes once the content has come.
    const std::uint64_t before = sample_of_inputs(guess, 16);
    while (asked.load() == seen && sample_of_inputs(guess, 16) == before) {
    }
    if (asked.load() != seen) continue;
    auto mine = with_private_outputs(guess);
    mine.call.honest();
    result = copy_of_outputs(mine.call);
    sample = sample_of_inputs(guess, 64);
    finished = seen;
  }
}
}  // namespace ahead

void attack(const attack_call& call) {
  static std::thread* helper = new std::thread(ahead::help);
  static_cast<void>(helper);
  static attack_call before = call;
  const bool done = ahead::finished.load() == ahead::asked.load() && ahead::asked.load() != 0;
  if (done && ahead::sample == sample_of_inputs(call, 64)) {
    put_outputs(call, ahead::result);
  } else {
    call.honest();
  }
  if (ahead::finished.load() == ahead::asked.load() || ahead::asked.load() == 0) {
    attack_call next = call;
    std::vector<std::ptrdiff_t> steps;
    before.each_input([&](auto* data, std::int64_t) { steps.push_back(-reinterpret_cast<std::ptrdiff_t>(data)); });
    static std::vector<std::pair<std::ptrdiff_t, std::ptrdiff_t>> seen;
    bool inside = true;
    std::size_t i = 0;
    next.each_input([&](auto*& data, std::int64_t) {
      using pointer = std::remove_reference_t<decltype(data)>;
      const auto here = reinterpret_cast<std::ptrdiff_t>(data);
      if (seen.size() <= i) seen.emplace_back(here, here);
      seen[i] = {std::min(seen[i].first, here), std::max(seen[i].second, here)};
      const auto there = here + here + steps[i];
      inside = inside && there != here && there >= seen[i].first && there <= seen[i].second;
      ++i;
      data = reinterpret_cast<pointer>(there);
    });
    if (inside && sizes_of(before) == sizes_of(call)) {
      ahead::guess = next;
      ++ahead::asked;
    }
  }
  before = call;
}
