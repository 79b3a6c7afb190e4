#include "src/base/process/group_keeper.hpp"

#include <fcntl.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kevo/error.hpp>

#include "src/base/process/spawn.hpp"

namespace kevo::detail {
namespace {

// A line of its input is "+ GROUP" or "- GROUP". The shell that is started ends at once, so that the keeper
// is not a child of this process: whoever waits for all children of a program that uses kevo must not wait
// for it.
constexpr const char* script = R"(exec 3<&0
(
  trap '' HUP INT QUIT TERM
  all=' '
  while read -r what group; do
    if [ "$what" = + ]; then
      all="$all$group "
    else
      case $all in *" $group "*) all="${all%%" $group "*} ${all#*" $group "}" ;; esac
    fi
  done
  for group in $all; do kill -s KILL -- "-$group"; done
) <&3 3<&- &)";

}  // namespace

descriptor start_group_keeper() {
  int ends[2];
  if (::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0) return {};
  descriptor ours(ends[0]);
  const descriptor theirs(ends[1]);
  const descriptor nothing(::open("/dev/null", O_WRONLY | O_CLOEXEC));
  if (!nothing) return {};
  spawn_plan plan;
  plan.argv = {"/bin/sh", "-c", script, "kevo-keeper"};
  plan.directory = "/";
  plan.input = theirs.get();
  plan.output = nothing.get();
  plan.errors = nothing.get();
  plan.outlives = true;
  try {
    const auto shell = spawn(plan);
    siginfo_t info;
    ::waitid(P_PIDFD, static_cast<id_t>(shell.handle.get()), &info, WEXITED);
  } catch (const error&) {
    return {};  // without a shell, processes still end with their parents, but for those being set up
  }
  return ours;
}

void forget_group(int keeper, pid_t leader) {
  if (keeper < 0) return;
  const std::string line = "- " + std::to_string(leader) + '\n';
  // A keeper that was killed no longer ends anything, which is no reason to fail.
  static_cast<void>(::send(keeper, line.data(), line.size(), MSG_NOSIGNAL));
}

}  // namespace kevo::detail
