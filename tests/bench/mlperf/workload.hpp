#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace feedline::bench {

/// The form in which a workload's samples are stored.
enum class sample_form : std::uint8_t {
  npz,       ///< a NumPy archive a sample
  tfrecord,  ///< records tf.train.Example of an image's bytes and their number
  bytes,     ///< a file of noise a sample, which is not decoded
  jpeg,      ///< a grey image a sample
  parquet,   ///< rows of Parquet files
};

/// A column of a workload that is stored as Parquet.
struct parquet_column {
  std::string name;
  std::string type;          ///< "f16", "f32", "f64" or "i8"
  std::uint64_t values = 1;  ///< 1: a number; more: a list of fixed size
  bool is_read = true;       ///< whether the training reads it
};

/// A training of MLPerf Storage, as its files describe it.
struct workload {
  std::string_view model;
  std::string_view accelerator;  ///< the one that is emulated
  sample_form form = sample_form::npz;
  std::uint64_t batch_size = 1;
  double computation_seconds = 0;  ///< time of a step
  double record_bytes = 0;         ///< mean size of a sample as it is stored
  double record_stdev = 0;         ///< 0: all samples have the mean's size
  std::uint64_t samples_per_file = 1;
  /// The training gets a part of this many bytes of each sample, which was read whole. 0: all
  /// bytes.
  double resized_bytes = 0;
  double threshold = 0.9;  ///< least utilisation with which a run counts
  /// Rows of a row group; 0: all rows of a file.
  std::uint64_t row_group = 0;
};

/// All trainings that this program knows. The source of each number is beside it.
[[nodiscard]] std::span<const workload> workloads();

/// Columns of a workload that is stored as Parquet.
[[nodiscard]] std::vector<parquet_column> columns_of(const workload& of);

/// @throws usage_error if there is no such training: it lists those that there are.
[[nodiscard]] const workload& find_workload(std::string_view model, std::string_view accelerator);

/// A workload whose samples and steps are smaller by the same factor, so that an accelerator asks
/// for as many bytes a second. Rows of Parquet files keep their size.
/// @param scale More than 0; 1: as published.
[[nodiscard]] workload scaled(workload of, double scale);

/// Share of time in which an accelerator computes, as MLPerf Storage defines it: the time of
/// computing over the time of the run, both without the first step (Submission_guidelines.md,
/// section 4; `compute_metrics_train` of dlio_benchmark/utils/statscounter.py).
/// @param total Seconds from the start of the run to the end of its last step.
/// @param first_step Seconds from the start of waiting for the first batch to the end of its step.
/// @param steps Number of steps, with the first.
/// @param computation Seconds that a step computes, as published. A sleep that takes longer counts
/// as time of the run.
[[nodiscard]] constexpr double utilisation(double total, double first_step, std::uint64_t steps,
                                           double computation) noexcept {
  if (steps < 2 || total <= first_step) return 0;
  return static_cast<double>(steps - 1) * computation / (total - first_step);
}
static_assert(utilisation(10, 2, 9, 1) == 1.0);
static_assert(utilisation(18, 2, 9, 1) == 0.5);
static_assert(utilisation(1, 1, 1, 1) == 0.0);

}  // namespace feedline::bench
