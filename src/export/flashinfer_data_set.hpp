#pragma once
// A data set of FlashInfer-Bench with one definition: its workloads, solutions and traces, as its TraceSet
// reads them.

#include <cstddef>
#include <memory>
#include <string>

#include <kevo/evaluation.hpp>
#include <kevo/program.hpp>
#include <kevo/task.hpp>

#include "src/export/export.hpp"

namespace kevo {

/// A solution and what was found of it.
struct flashinfer_solution {
  std::string name;  ///< unique in the data set
  std::string description;
  std::string author = "kevo";
  const program* source = nullptr;
  const evaluation* result = nullptr;
  std::string timestamp;                   ///< of the evaluation, ISO 8601
  std::string kevo_version;                ///< that evaluated it
  std::string shown_as = "this solution";  ///< subject of error messages
  std::string origin;                      ///< file or folder that error messages name
};

class flashinfer_data_set {
 public:
  /// Writes definitions/ and workloads/ into `directory`. Hidden workloads are left out. `t` must outlive it.
  /// @throws kevo::error: input for a dtype that their schema has no word for, environment if a file cannot
  /// be written
  flashinfer_data_set(const task& t, const std::string& directory);
  ~flashinfer_data_set();
  flashinfer_data_set(const flashinfer_data_set&) = delete;
  flashinfer_data_set& operator=(const flashinfer_data_set&) = delete;

  /// Writes a solution and a trace for each workload on which it was timed or failed. A solution that is not
  /// valid has no passed trace. @throws as the constructor, input also for a language without a word
  void add(const flashinfer_solution& given);
  /// Completes the file of the traces; nothing can be added afterwards.
  flashinfer_summary finish();

 private:
  struct state;
  std::unique_ptr<state> state_;
};

}  // namespace kevo
