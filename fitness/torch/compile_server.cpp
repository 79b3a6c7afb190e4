#include "fitness/torch/compile_server.hpp"

#include <cerrno>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <utility>

#include <kevo/error.hpp>

#include "fitness/sandbox/sandbox.hpp"
#include "fitness/torch/python_spec.hpp"

namespace kevo::torch {
namespace {

constexpr std::uint64_t scratch_bytes = std::uint64_t{256} << 20U;

std::pair<detail::descriptor, detail::descriptor> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw error(error_code::environment, std::string("cannot make a socket: ") + std::strerror(errno));
  return {detail::descriptor(ends[0]), detail::descriptor(ends[1])};
}

}  // namespace

compile_server::compile_server(const python_tools& tools, sandbox_mode sandbox,
                               const std::vector<std::string>& libraries) {
  auto [ours, theirs] = socket_pair();
  launch_spec spec = python_spec(tools, sandbox, compile_script(), {tools.packages}, theirs.get());
  spec.argv.push_back(mount_libraries(spec, libraries));
  spec.limits.scratch_bytes = scratch_bytes;
  process_ = launch(spec);
  socket_ = std::move(ours);
}

detail::descriptor compile_server::connect() {
  auto [ours, theirs] = socket_pair();
  char request = 'c';
  iovec part = {&request, 1};
  alignas(cmsghdr) char control[CMSG_SPACE(sizeof(int))] = {};
  msghdr message = {};
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control;
  message.msg_controllen = sizeof control;
  cmsghdr* rights = CMSG_FIRSTHDR(&message);
  rights->cmsg_level = SOL_SOCKET;
  rights->cmsg_type = SCM_RIGHTS;
  rights->cmsg_len = CMSG_LEN(sizeof(int));
  const int given = theirs.get();
  std::memcpy(CMSG_DATA(rights), &given, sizeof given);
  if (::sendmsg(socket_.get(), &message, MSG_NOSIGNAL) == 1) return std::move(ours);
  const auto report = process_.try_wait();
  throw error(error_code::environment, "the process that compiles for Triton has ended" +
                                           (report ? ": it " + describe(*report) + "; " + report->err : ""));
}

}  // namespace kevo::torch
