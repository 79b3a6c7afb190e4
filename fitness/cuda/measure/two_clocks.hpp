#pragma once
// What the device's events and the trusted clock say together of the time of a call. Pure.

#include <vector>

namespace kevo::cuda {

/// The mean of the middle half of some times, which calls that were held up do not change; nor do those that
/// are short because the next one is long. Pure. @param times not empty
double middle_mean(std::vector<double> times);

/// How a time by events and one by the trusted clock become one. Pure.
struct clock_check {
  double ns = 0;  ///< of a call
  bool agree = true;
};
/// @param constant_ns what the trusted clock shows above events for trusted programs; @param tolerance_ns how
/// far a single reading of a trusted program may lie from that
clock_check reconcile(double event_ns, double outside_ns, double constant_ns, double tolerance_ns);

/// What the trusted clock shows above events, for a call of a reading: of several admitted calls the mean
/// without the longest tenth, which are those whose thread was held up. Pure. [ns]
double clock_excess(double outside_ns, double event_ns, int calls, const std::vector<double>& each_outside_ns,
                    const std::vector<double>& each_event_ns);

/// How much longer a candidate's calls are than its events say, by all readings together: the difference of
/// the medians of both sides' excesses, less three standard errors and `allowance_ns`; at least 0. Pure. [ns]
double hidden_time(const std::vector<double>& candidate_excess, const std::vector<double>& baseline_excess,
                   double allowance_ns);

}  // namespace kevo::cuda
