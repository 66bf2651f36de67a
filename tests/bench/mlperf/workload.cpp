#include "bench/mlperf/workload.hpp"

#include <feedline/error.hpp>

#include <algorithm>
#include <array>
#include <cmath>

namespace feedline::bench {
namespace {

// Batch sizes, computation times, sizes and thresholds are those of the files
// configs/dlio/workload/MODEL_ACCELERATOR.yaml of https://github.com/mlcommons/storage:
//
// - a100, h100: commit caa90c9 (June 2025, version 2.0); v1.0 has the same numbers;
// - unet3d_b200: commit 0d75b41; retinanet_b200: 11460d0; retinanet_mi355: 76f4545; flux_b200:
//   c25079c; flux_mi355 and dlrm_b200: 0b42eb5; dlrm_mi355: 11460d0 (version 3.0).
constexpr std::array all{
    workload{.model = "unet3d",
             .accelerator = "a100",
             .form = sample_form::npz,
             .batch_size = 7,
             .computation_seconds = 0.636,
             .record_bytes = 146'600'628,
             .record_stdev = 68'341'808,
             .resized_bytes = 2'097'152,
             .threshold = 0.90},
    workload{.model = "unet3d",
             .accelerator = "h100",
             .form = sample_form::npz,
             .batch_size = 7,
             .computation_seconds = 0.323,
             .record_bytes = 146'600'628,
             .record_stdev = 68'341'808,
             .resized_bytes = 2'097'152,
             .threshold = 0.90},
    workload{.model = "unet3d",
             .accelerator = "b200",
             .form = sample_form::npz,
             .batch_size = 7,
             .computation_seconds = 0.162,
             .record_bytes = 146'600'628,
             .record_stdev = 68'341'808,
             .resized_bytes = 2'097'152,
             .threshold = 0.90},
    workload{.model = "resnet50",
             .accelerator = "a100",
             .form = sample_form::tfrecord,
             .batch_size = 400,
             .computation_seconds = 0.435,
             .record_bytes = 114'660.07,
             .samples_per_file = 1251,
             .threshold = 0.90},
    workload{.model = "resnet50",
             .accelerator = "h100",
             .form = sample_form::tfrecord,
             .batch_size = 400,
             .computation_seconds = 0.224,
             .record_bytes = 114'660.07,
             .samples_per_file = 1251,
             .threshold = 0.90},
    workload{.model = "cosmoflow",
             .accelerator = "a100",
             .form = sample_form::tfrecord,
             .batch_size = 1,
             .computation_seconds = 0.00551,
             .record_bytes = 2'828'486,
             .record_stdev = 71'311,
             .threshold = 0.70},
    workload{.model = "cosmoflow",
             .accelerator = "h100",
             .form = sample_form::tfrecord,
             .batch_size = 1,
             .computation_seconds = 0.00350,
             .record_bytes = 2'828'486,
             .record_stdev = 71'311,
             .threshold = 0.70},
    workload{.model = "retinanet",
             .accelerator = "b200",
             .form = sample_form::bytes,
             .batch_size = 24,
             .computation_seconds = 0.04755,
             .record_bytes = 322'957,
             .threshold = 0.85},
    workload{.model = "retinanet",
             .accelerator = "mi355",
             .form = sample_form::bytes,
             .batch_size = 32,
             .computation_seconds = 0.0634,
             .record_bytes = 322'957,
             .threshold = 0.85},
    workload{.model = "flux",
             .accelerator = "b200",
             .form = sample_form::parquet,
             .batch_size = 48,
             .computation_seconds = 1.35,
             .record_bytes = 2'164'832,
             .samples_per_file = 288,
             .threshold = 0.90},
    workload{.model = "flux",
             .accelerator = "mi355",
             .form = sample_form::parquet,
             .batch_size = 72,
             .computation_seconds = 2.025,
             .record_bytes = 2'164'832,
             .samples_per_file = 288,
             .threshold = 0.90},
    workload{.model = "dlrm",
             .accelerator = "b200",
             .form = sample_form::parquet,
             .batch_size = 16'384,
             .computation_seconds = 0.000375,
             .record_bytes = 761,
             .samples_per_file = 4'718'592,
             .threshold = 0.70,
             .row_group = 6144},
    workload{.model = "dlrm",
             .accelerator = "mi355",
             .form = sample_form::parquet,
             .batch_size = 16'384,
             .computation_seconds = 0.0005625,
             .record_bytes = 761,
             .samples_per_file = 4'718'592,
             .threshold = 0.70,
             .row_group = 6144},
};

// The columns of dlrm_b200.yaml, feature_000 to feature_199: h is f16, f f32, d f64, b i8. Those in
// upper case are read.
constexpr std::string_view dlrm_columns =
    "hhddfhfbhb"
    "fFdfbhfFFh"
    "DdddhFfhhf"
    "dFdfhhdbbb"
    "hFhFdbdddF"
    "fbbFffbfHF"
    "dhdbfhbFHf"
    "hFhfFDhbfd"
    "bbffhbhbFb"
    "FFHFDdFHbh"
    "hdhfdhhfdf"
    "ddbhhbBDfb"
    "hhbbbhbbfb"
    "hfdhhdhFdd"
    "hFbbdfdFdd"
    "bbbdDFfbFh"
    "FhFhdhdhfB"
    "dhbdbbbbhh"
    "BdddhdBbhF"
    "dbdfdFfddh";
static_assert(dlrm_columns.size() == 200);

}  // namespace

std::span<const workload> workloads() {
  return all;
}

std::vector<parquet_column> columns_of(const workload& of) {
  if (of.model == "flux")
    return {{"t5_encodings", "f32", 524'328},
            {"clip_encodings", "f32", 409},
            {"mean", "f32", 8232},
            {"logvar", "f32", 8232},
            {"timestamp", "f32", 7}};
  std::vector<parquet_column> columns;
  if (of.model != "dlrm") return columns;
  for (const char each : dlrm_columns) {
    std::string number = std::to_string(columns.size());
    number.insert(0, 3 - number.size(), '0');
    const char lower = static_cast<char>(each | 0x20);
    columns.push_back({"feature_" + number,
                       lower == 'h'   ? "f16"
                       : lower == 'f' ? "f32"
                       : lower == 'd' ? "f64"
                                      : "i8",
                       1, each != lower});
  }
  return columns;
}

const workload& find_workload(std::string_view model, std::string_view accelerator) {
  const auto found = std::ranges::find_if(all, [&](const workload& each) {
    return each.model == model && each.accelerator == accelerator;
  });
  if (found != all.end()) return *found;
  std::string known;
  for (const workload& each : all)
    known += (known.empty() ? "" : ", ") + std::string{each.model} + " on " +
             std::string{each.accelerator};
  throw usage_error{"no figures were published for " + std::string{model} + " on " +
                    std::string{accelerator} + "; there are " + known};
}

workload scaled(workload of, double scale) {
  of.computation_seconds *= scale;
  if (of.form == sample_form::parquet) return of;
  of.record_bytes *= scale;
  of.record_stdev *= scale;
  of.resized_bytes *= scale;
  return of;
}

}  // namespace feedline::bench
