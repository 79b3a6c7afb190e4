#pragma once
// How many pairs the next look at a speedup needs. Pure.

namespace kevo::cuda {

/// A plan of looks: their number, the pairs of the first and of the last one at most.
struct look_plan {
  int first = 4;
  int last = 16;
  int looks = 3;
};

/// The looks between `first` and `last` pairs. There are two more than doublings, so that most of them can be
/// taken where the interval is expected to be narrow enough.
look_plan plan_looks(int first, int last);

/// Pairs at which the next look is expected to find an interval that is narrower than `target`. The width of
/// an interval of n pairs is proportional to t(n) / sqrt(n), where t is the quantile of Student's
/// distribution for the confidence of that look. Never more than twice as many as now, because the width of
/// an interval of few pairs is itself uncertain, and so many that the looks that are left reach `plan.last`
/// by doubling.
/// @param done pairs of the last look
/// @param number of the last look, from 1
/// @param width of the interval of the last look, relative to the speedup
/// @param target width that is narrow enough, relative to the speedup
/// @param alpha probability that an interval misses the true speedup, for all looks together
int pairs_of_next_look(const look_plan& plan, int done, int number, double width, double target,
                       double alpha);

}  // namespace kevo::cuda
