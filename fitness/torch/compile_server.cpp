#include "fitness/torch/compile_server.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>
#include <sys/socket.h>
#include <utility>

#include <kevo/error.hpp>

#include "fitness/build/extension_words.hpp"
#include "fitness/sandbox/sandbox.hpp"
#include "fitness/torch/python_spec.hpp"

namespace kevo::torch {
namespace {

// Preprocessed sources and objects of several builds at a time. Memory is taken for what is there.
constexpr std::uint64_t scratch_bytes = std::uint64_t{3} << 30U;
constexpr const char* inside_modules = "/kevo/modules";

std::pair<detail::descriptor, detail::descriptor> socket_pair() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
    throw error(error_code::environment, std::string("cannot make a socket: ") + std::strerror(errno));
  return {detail::descriptor(ends[0]), detail::descriptor(ends[1])};
}

}  // namespace

compile_server::compile_server(const python_tools& tools, sandbox_mode sandbox,
                               const compile_settings& settings) {
  auto [ours, theirs] = socket_pair();
  launch_spec spec = python_spec(tools, sandbox, compile_script(), {tools.packages}, theirs.get());
  spec.argv.push_back(mount_libraries(spec, settings.libraries));
  spec.argv.emplace_back(settings.modules.empty() ? "" : inside_modules);
  spec.argv.push_back(settings.nvcc);
  spec.argv.push_back(settings.architecture);
  if (!settings.modules.empty()) spec.mounts.push_back({settings.modules, inside_modules, true});
  for (const auto& one : settings.toolkit) {
    const bool seen = std::any_of(spec.mounts.begin(), spec.mounts.end(),
                                  [&](const mount& m) { return m.inside == one.inside; });
    if (!seen) spec.mounts.push_back(one);
  }
  spec.limits.scratch_bytes = scratch_bytes;
  process_ = launch(spec);
  socket_ = std::move(ours);
}

bool uses_extensions(const program& source) {
  return std::any_of(source.files.begin(), source.files.end(),
                     [](const auto& file) { return names_extensions(file.text); });
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
  throw error(error_code::environment, "the process that compiles for programs of PyTorch has ended" +
                                           (report ? ": it " + describe(*report) + "; " + report->err : ""));
}

}  // namespace kevo::torch
