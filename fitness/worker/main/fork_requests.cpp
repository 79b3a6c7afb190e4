#include "fitness/worker/main/fork_requests.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <optional>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fitness/worker/protocol.hpp"

namespace kevo {
namespace {

struct numbered_request {
  fork_request request;
  std::uint32_t number;
};

// The next message; nothing if the controller has gone. A message without both descriptors is no request.
std::optional<numbered_request> receive() {
  for (;;) {
    std::uint32_t number = 0;
    iovec data = {&number, sizeof number};
    std::array<int, 2> both{};
    alignas(cmsghdr) char room[CMSG_SPACE(sizeof both)];
    msghdr message = {};
    message.msg_iov = &data;
    message.msg_iovlen = 1;
    message.msg_control = room;
    message.msg_controllen = sizeof room;
    const auto size = ::recvmsg(fork_request_descriptor, &message, 0);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return std::nullopt;
    const cmsghdr* const head = CMSG_FIRSTHDR(&message);
    if (size != sizeof number || head == nullptr || head->cmsg_type != SCM_RIGHTS ||
        head->cmsg_len != CMSG_LEN(sizeof both))
      continue;
    std::memcpy(both.data(), CMSG_DATA(head), sizeof both);
    return numbered_request{{both[0], both[1]}, number};
  }
}

bool tell(const parent_message& what) {
  iovec data = {const_cast<parent_message*>(&what), sizeof what};
  msghdr message = {};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  return ::sendmsg(fork_request_descriptor, &message, MSG_NOSIGNAL) == static_cast<ssize_t>(sizeof what);
}

}  // namespace

fork_request next_fork_request() {
  ::prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);  // besides the filter of a worker: nobody traces this process
  const pid_t parent = ::getpid();
  pid_t ended = 0;
  while (const auto next = receive()) {
    // Until now its process id was nobody else's.
    if (ended > 0) ::waitpid(ended, nullptr, 0);
    ended = 0;
    const pid_t worker = ::fork();
    if (worker == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
      const bool told = ::getppid() == parent && tell({parent_message::kind_of::begun, next->number, 0, 0});
      if (!told) ::_exit(2);
      ::close(fork_request_descriptor);
      ::prctl(PR_SET_DUMPABLE, 1, 0, 0,
              0);  // as any process: where /proc hides others, the controller sees it
      return next->request;
    }
    const int failure = errno;
    ::close(next->request.control);
    ::close(next->request.arena);
    if (worker < 0) {
      tell({parent_message::kind_of::failed, next->number, 0, failure});
      continue;
    }
    siginfo_t end = {};
    while (::waitid(P_PID, static_cast<id_t>(worker), &end, WEXITED | WNOWAIT) != 0 && errno == EINTR) {
    }
    ended = worker;
    const bool signalled = end.si_code != CLD_EXITED;
    tell({parent_message::kind_of::ended, next->number, signalled ? 1 : 0, end.si_status});
  }
  ::_exit(0);
}

}  // namespace kevo
