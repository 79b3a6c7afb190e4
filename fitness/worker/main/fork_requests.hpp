#pragma once
// The parent of workers: a process that forks one whenever the controller asks for it.

namespace kevo {

/// Descriptors of a worker's memory; whoever gets them closes them.
struct fork_request {
  int control;
  int arena;
};

/// Takes requests from `fork_request_descriptor` and forks a process for each, one after the other. Returns
/// in each new process, which has said that it began and has closed the socket; in the calling process it
/// never does: that one ends when the controller has closed its end. To be called while the process has one
/// thread.
fork_request next_fork_request();

}  // namespace kevo
