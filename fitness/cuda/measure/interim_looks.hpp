#pragma once
// When the looks at a first measurement are taken, and with which error probability. Pure.
//
// A first measurement ends for one of three reasons. The interval of the speedup is narrow: that depends on
// how much the pairs vary and not on where they lie, so that the interval may be looked at after every pair
// without dividing the error probability among the looks (fixed-width intervals: Chow and Robbins 1965). The
// candidate is not among the best: that depends on where the pairs lie, so that these looks are few and share
// an error probability. All pairs that are allowed have been taken.

#include <cstddef>

namespace kevo::cuda {

/// The error probability of an interval whose width ends a measurement. It is a quarter of the one that is
/// wanted (`alpha`): half of that is for the other reason to end, and whoever stops at the first narrow
/// interval stops a little too early.
double alpha_of_width(double alpha);

/// The error probability of an interval of `pairs` pairs that may end a measurement because the candidate is
/// not among the best; 0 if it may not. Such looks are at `first` pairs and whenever they have doubled, up to
/// `last`.
double alpha_of_standing(double alpha, int pairs, int first, int last);

/// The number of pairs at the look after one of `pairs` pairs: one more, of many pairs a sixteenth more.
int pairs_of_next_look(int pairs, int last);

/// The number of batches of an interval (kevo::location) of so many pairs. Pairs of a device that is used by
/// nothing else hardly resemble their neighbours more than others, so that small batches do: at least 16,
/// from 32 pairs on half as many as pairs, at most 32.
std::size_t batches_of_pairs(std::size_t pairs);

}  // namespace kevo::cuda
