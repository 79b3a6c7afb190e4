// attack: a thread that was started once does the work; the call returns before it is done
// judged by: time
// expects: rejected incorrect crashed
// insert: honest
std::atomic<const attack_call*> late_work{nullptr};

void attack(const attack_call& call) {
  static attack_call copies[64];
  static unsigned next = 0;
  static std::thread* helper = new std::thread([] {
    for (;;) {
      if (const attack_call* work = late_work.exchange(nullptr)) work->honest();
    }
  });
  static_cast<void>(helper);
  attack_call& mine = copies[next++ % 64];
  mine = call;
  late_work = &mine;
}
