#include "fitness/cuda/device/socket.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>

#include <kevo/error.hpp>

namespace kevo::cuda {
namespace {

constexpr std::size_t most_descriptors = 4;
constexpr std::uint64_t most_bytes = 1ULL << 30U;

struct header {
  std::uint64_t bytes = 0;
  std::uint32_t descriptors = 0;
  std::uint32_t mark = 0x6b65766fU;
};

[[noreturn]] void fail(const char* what) {
  throw error(error_code::environment, std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

bool message_socket::wait(short events, std::chrono::steady_clock::time_point deadline) {
  for (;;) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd poll = {socket_.get(), events, 0};
    const int ready = ::poll(&poll, 1, static_cast<int>(std::clamp<long long>(left.count(), 0, 1'000'000)));
    if (ready > 0) return true;
    if (ready < 0 && errno != EINTR) fail("cannot wait for a message");
    if (left.count() <= 0) return false;
  }
}

bool message_socket::send(const message& m) {
  header head{m.bytes.size(), static_cast<std::uint32_t>(m.descriptors.size())};
  if (m.descriptors.size() > most_descriptors || head.bytes > most_bytes)
    throw error(error_code::internal, "a message is too large");
  iovec part = {&head, sizeof head};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * most_descriptors)] = {};
  msghdr envelope = {};
  envelope.msg_iov = &part;
  envelope.msg_iovlen = 1;
  if (!m.descriptors.empty()) {
    envelope.msg_control = control;
    envelope.msg_controllen = CMSG_SPACE(sizeof(int) * m.descriptors.size());
    cmsghdr* attached = CMSG_FIRSTHDR(&envelope);
    attached->cmsg_level = SOL_SOCKET;
    attached->cmsg_type = SCM_RIGHTS;
    attached->cmsg_len = CMSG_LEN(sizeof(int) * m.descriptors.size());
    int numbers[most_descriptors] = {};
    for (std::size_t i = 0; i < m.descriptors.size(); ++i) numbers[i] = m.descriptors[i].get();
    std::memcpy(CMSG_DATA(attached), numbers, sizeof(int) * m.descriptors.size());
  }
  if (::sendmsg(socket_.get(), &envelope, MSG_NOSIGNAL) != static_cast<ssize_t>(sizeof head)) return false;
  for (std::size_t at = 0; at < m.bytes.size();) {
    const ssize_t sent = ::send(socket_.get(), m.bytes.data() + at, m.bytes.size() - at, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    at += static_cast<std::size_t>(sent);
  }
  return true;
}

bool message_socket::receive(message& m, std::chrono::nanoseconds limit) {
  const auto deadline = std::chrono::steady_clock::now() +
                        std::min(limit, std::chrono::nanoseconds(std::chrono::hours(24 * 365)));
  m = {};
  if (!wait(POLLIN, deadline))
    throw error(error_code::environment, "kevo-device does not answer", {}, "run `kevo doctor`");
  header head;
  iovec part = {&head, sizeof head};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int) * most_descriptors)] = {};
  msghdr envelope = {};
  envelope.msg_iov = &part;
  envelope.msg_iovlen = 1;
  envelope.msg_control = control;
  envelope.msg_controllen = sizeof control;
  ssize_t length = 0;
  do {
    length = ::recvmsg(socket_.get(), &envelope, MSG_CMSG_CLOEXEC | MSG_WAITALL);
  } while (length < 0 && errno == EINTR);
  if (length <= 0) return false;
  for (cmsghdr* attached = CMSG_FIRSTHDR(&envelope); attached != nullptr;
       attached = CMSG_NXTHDR(&envelope, attached)) {
    if (attached->cmsg_level != SOL_SOCKET || attached->cmsg_type != SCM_RIGHTS) continue;
    const std::size_t count = (attached->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t i = 0; i < count; ++i) {
      int number = -1;
      std::memcpy(&number, CMSG_DATA(attached) + i * sizeof(int), sizeof number);
      m.descriptors.emplace_back(number);
    }
  }
  if (length != static_cast<ssize_t>(sizeof head) || head.mark != header{}.mark || head.bytes > most_bytes ||
      head.descriptors != m.descriptors.size())
    throw error(error_code::environment, "a message from or to kevo-device is damaged");
  m.bytes.resize(head.bytes);
  for (std::size_t at = 0; at < m.bytes.size();) {
    if (!wait(POLLIN, deadline))
      throw error(error_code::environment, "kevo-device does not answer", {}, "run `kevo doctor`");
    const ssize_t got = ::recv(socket_.get(), m.bytes.data() + at, m.bytes.size() - at, 0);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return false;
    at += static_cast<std::size_t>(got);
  }
  return true;
}

std::pair<detail::descriptor, detail::descriptor> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) fail("cannot make a socket pair");
  return {detail::descriptor(ends[0]), detail::descriptor(ends[1])};
}

}  // namespace kevo::cuda
