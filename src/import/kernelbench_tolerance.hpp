#pragma once
// The tolerance of a task from KernelBench: the suite's own rule, and how far the absolute one of a float32
// sum must be wider. `said` is what kernelbench.py says of a file, at some sizes.

#include <string>

#include <boost/json.hpp>

namespace kevo {

struct imported_task;

/// KernelBench's rule for the types of the outputs, absolute and relative; 0, which is exact, for integers.
double kernelbench_tolerance(const boost::json::object& said);

/// The absolute error that the rounding of a sum may have; 0 without outputs in float32.
///
/// A sum of `length` products of numbers with 24 bits has an error of about u sqrt(length) times the spread
/// of such sums (u = 2^-24; Higham, Accuracy and Stability of Numerical Algorithms, 2.8 and 3.1: the rounding
/// errors of a sum add up like a random walk). 4 times that is what the rule `accumulation` allows by
/// default. Near 0 it exceeds 1e-4 where the spread is large. It never exceeds KernelBench's relative
/// tolerance, taken of the spread: a lower precision has errors above that.
double rounding_of_sums(const boost::json::object& said);

/// By how much the outputs are smaller at the sizes of the file than at those of the test; 1 if they are not.
double shrinkage(const boost::json::object& given, const boost::json::object& tested);

/// Two digits, rounded up. @param value above 0
double rounded_up(double value);

/// The tolerance of the result in the task's file, below comments that say where it comes from.
std::string tolerance_text(const boost::json::object& said, const imported_task& result);

}  // namespace kevo
