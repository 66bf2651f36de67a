/// Cost of feeding for a busy GPU: steps of matrix products in bf16, of many short kernels, or of a
/// copy within the GPU's memory, alone and beside a loader, for every placement, with and without a
/// conversion.
///
///     feedline_bench_busy
///     feedline_bench_busy --shape cifar256 --placement gather --readers 12
///     feedline_bench_busy --placement stream --products 16 --page busy.html
///
/// Method: a step is issued for each batch, on the consumer's stream: this many products of 4096 x
/// 4096 matrices, 350 kernels that scale 32 MiB of numbers each (as many as a step of ResNet-18
/// has), or a copy of 256 MiB. Three loops over the same number of batches, each until the stream
/// is done, by the clock of the host: the steps alone, the loader with an empty consumer, and both.
/// Nothing can be faster than the longer of the first two: the ratio is the loop's time over that.
/// Medians of the runs, each a round of all three. First, for comparison, the least cost of
/// feeding: instead of a loader, copies as large as its pieces, out of pinned memory that is not
/// filled, into four slots in turn. With `--page` the last loop of products is traced, which costs
/// time, and becomes a page.

#include <feedline/cuda/device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/support/gpu_stream.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/shapes.hpp"
#include "cuda/check.hpp"
#include "device/owned.hpp"
#include "loader/plan/slot_memory.hpp"
#include "support/command_line.hpp"

#include <cublas_v2.h>
#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

struct options : common_options {
  std::vector<std::string> placements{"stream", "gather", "resident"};
  int readers = 8;
  std::vector<int> products{4, 16};  ///< in a step
  std::string page;                  ///< empty: nothing is traced
};

void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS)
    throw std::runtime_error{std::string{"cuBLAS: "} + cublasGetStatusString(status)};
}

/// The work of a consumer's step, in memory of its own.
class work {
 public:
  explicit work(const gpu_stream& stream) : stream_{stream} {
    check(cublasCreate(&blas_));
    check(cublasSetStream(blas_, stream.get()));
    // Not zeros, of which products are faster: every byte 0x3C or 0x3D, so numbers near 0.01.
    FEEDLINE_CUDA_CHECK(cudaMemset(memory_.data(), 0x3C, memory_.bytes()));
    FEEDLINE_CUDA_CHECK(cudaMemset(memory_.data(), 0x3D, matrix_bytes / 2));
  }
  work(const work&) = delete;
  work& operator=(const work&) = delete;
  ~work() { cublasDestroy(blas_); }

  void multiply(int products) {
    const float one = 1;
    const float none = 0;
    std::byte* const at = memory_.data();
    for (int i = 0; i < products; ++i)
      check(cublasGemmEx(blas_, CUBLAS_OP_N, CUBLAS_OP_N, extent, extent, extent, &one, at,
                         CUDA_R_16BF, extent, at + matrix_bytes, CUDA_R_16BF, extent, &none,
                         at + 2 * matrix_bytes, CUDA_R_16BF, extent, CUBLAS_COMPUTE_32F,
                         CUBLAS_GEMM_DEFAULT));
  }
  void scale() {
    constexpr int kernels = 350;
    const float factor = 1;
    auto* const numbers = reinterpret_cast<float*>(memory_.data());
    for (int i = 0; i < kernels; ++i) check(cublasSscal(blas_, 8 << 20, &factor, numbers, 1));
  }
  void copy() {
    FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(memory_.data() + copied_bytes, memory_.data(), copied_bytes,
                                        cudaMemcpyDefault, stream_.get()));
  }

 private:
  static constexpr int extent = 4096;
  static constexpr std::size_t matrix_bytes = std::size_t{2} * extent * extent;
  static constexpr std::size_t copied_bytes = std::size_t{256} << 20;

  const gpu_stream& stream_;
  detail::device_memory memory_{make_cuda_device(0), memory_kind::device, 2 * copied_bytes};
  cublasHandle_t blas_ = nullptr;
};

/// The work issued for a batch.
struct step_kind {
  std::string name;
  std::function<void(work&)> issue;
};

std::vector<step_kind> step_kinds(const options& options) {
  std::vector<step_kind> kinds;
  for (const int products : options.products)
    kinds.push_back({std::to_string(products) + (products == 1 ? " product" : " products"),
                     [products](work& busy) { busy.multiply(products); }});
  kinds.push_back({"350 kernels", [](work& busy) { busy.scale(); }});
  kinds.push_back({"copy", [](work& busy) { busy.copy(); }});
  return kinds;
}

double steps_alone(work& busy, const step_kind& step, std::uint64_t batches,
                   const gpu_stream& stream) {
  const auto start = clock_type::now();
  for (std::uint64_t i = 0; i < batches; ++i) step.issue(busy);
  stream.sync();
  return seconds_since(start);
}

/// @param busy Null: an empty consumer.
double consume(loader& loader, std::uint64_t& epoch, work* busy, const step_kind& step,
               std::uint64_t batches, const gpu_stream& stream) {
  const auto start = clock_type::now();
  for (std::uint64_t taken = 0; taken < batches;) {
    for (batch& batch : loader.epoch(epoch++, stream_ref{stream.get()})) {
      (void)batch;
      if (busy != nullptr) step.issue(*busy);
      ++taken;
    }
  }
  stream.sync();
  return seconds_since(start);
}

/// Batches that are copied out of pinned memory as it is: feeding without readers, and at its best.
class bare_copies {
 public:
  bare_copies(const device_ptr& device, std::size_t batch_bytes)
      : batch_bytes_{batch_bytes},
        pinned_{device, memory_kind::staging, 4 * piece_bytes},
        slots_{device, memory_kind::device, slots * batch_bytes} {
    std::memset(pinned_.data(), 1, pinned_.bytes());
    for (auto* events : {&copied_, &used_})
      for (cudaEvent_t& each : *events)
        FEEDLINE_CUDA_CHECK(cudaEventCreateWithFlags(&each, cudaEventDisableTiming));
  }
  bare_copies(const bare_copies&) = delete;
  bare_copies& operator=(const bare_copies&) = delete;
  ~bare_copies() {
    FEEDLINE_CUDA_LOG(cudaStreamSynchronize(copying_.get()));
    for (auto* events : {&copied_, &used_})
      for (const cudaEvent_t each : *events) FEEDLINE_CUDA_LOG(cudaEventDestroy(each));
  }

  /// Same as `consume`.
  double feed(work* busy, const step_kind& step, std::uint64_t batches, const gpu_stream& stream) {
    const auto start = clock_type::now();
    for (std::uint64_t i = 0; i < batches; ++i) {
      const std::size_t slot = i % slots;
      FEEDLINE_CUDA_CHECK(cudaStreamWaitEvent(copying_.get(), used_[slot]));
      for (std::size_t at = 0; at < batch_bytes_; at += piece_bytes, ++pieces_)
        FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(
            slots_.data() + slot * batch_bytes_ + at, pinned_.data() + pieces_ % 4 * piece_bytes,
            std::min(piece_bytes, batch_bytes_ - at), cudaMemcpyHostToDevice, copying_.get()));
      FEEDLINE_CUDA_CHECK(cudaEventRecord(copied_[slot], copying_.get()));
      FEEDLINE_CUDA_CHECK(cudaStreamWaitEvent(stream.get(), copied_[slot]));
      if (busy != nullptr) step.issue(*busy);
      FEEDLINE_CUDA_CHECK(cudaEventRecord(used_[slot], stream.get()));
    }
    stream.sync();
    return seconds_since(start);
  }

 private:
  static constexpr std::size_t piece_bytes = detail::usual_piece_bytes(placement::stream);
  static constexpr std::size_t slots = 4;

  const std::size_t batch_bytes_;
  std::uint64_t pieces_ = 0;
  detail::device_memory pinned_;
  detail::device_memory slots_;
  gpu_stream copying_;
  std::array<cudaEvent_t, slots> copied_{};
  std::array<cudaEvent_t, slots> used_{};
};

struct way {
  std::string name;
  placement where;
  std::vector<field_transform> transforms;
};

std::vector<way> ways_of(const shape& shape, const options& options) {
  std::vector<way> ways;
  const bool is_image = shape.row.size() == 3;
  const image_layout layout = shape.row.back() == 3 ? image_layout::hwc : image_layout::chw;
  for (const placement where : {placement::stream, placement::gather, placement::resident}) {
    const std::string name{to_string(where)};
    if (std::count(options.placements.begin(), options.placements.end(), name) == 0) continue;
    ways.push_back({name, where, {}});
    if (!is_image) continue;
    field_transform normalized{.field = "image", .to = element_type::f16, .layout = layout};
    normalized.mean = {0.485, 0.456, 0.406};
    normalized.stddev = {0.229, 0.224, 0.225};
    normalized.scale = 1.0 / 255;
    ways.push_back({name + ", f16", where, {normalized}});
    normalized.to_layout = image_layout::chw;
    normalized.flip = 0.5;
    if (layout == image_layout::hwc) ways.push_back({name + ", chw, flip", where, {normalized}});
  }
  return ways;
}

/// A loop over this many batches, in seconds. @param busy Null: an empty consumer.
using feeding_loop = std::function<double(work* busy, const step_kind&, std::uint64_t batches)>;

/// @param an_epoch Batches; a loop has whole epochs.
void measure_step(const std::string& shape, const std::string& way, const step_kind& step,
                  std::uint64_t an_epoch, const feeding_loop& feed, const options& options,
                  work& busy, const gpu_stream& stream, results& found) {
  const double guess = std::max(steps_alone(busy, step, 16, stream) / 16, 1e-4);
  const auto wanted = static_cast<std::uint64_t>(options.seconds / guess);
  const std::uint64_t batches = (wanted / an_epoch + 1) * an_epoch;
  std::vector<double> alone;
  std::vector<double> feeding;
  std::vector<double> both;
  std::vector<double> ratios;
  for (int i = 0; i < options.runs; ++i) {
    alone.push_back(steps_alone(busy, step, batches, stream));
    feeding.push_back(feed(nullptr, step, batches));
    both.push_back(feed(&busy, step, batches));
    ratios.push_back(both.back() / std::max(alone.back(), feeding.back()));
  }
  const double each = 1e6 / static_cast<double>(batches);
  std::printf("%-12s %-20s %-12s %9.1f %9.1f %9.1f %8.3f [%5.3f, %5.3f]\n", shape.c_str(),
              way.c_str(), step.name.c_str(), median(alone) * each, median(feeding) * each,
              median(both) * each, median(ratios), quantile(ratios, 0), quantile(ratios, 1));
  std::fflush(stdout);
  found.add({{"shape", shape},
             {"way", way},
             {"step", step.name},
             {"alone_us", median(alone) * each},
             {"feeding_us", median(feeding) * each},
             {"both_us", median(both) * each},
             {"ratio", median(ratios)}});
}

void run_copies(const shape& shape, const options& options, work& busy, const gpu_stream& stream,
                results& found) {
  bare_copies copies{make_cuda_device(0), shape.batch_size * sample_bytes(shape)};
  const feeding_loop feed = [&](work* with, const step_kind& step, std::uint64_t batches) {
    return copies.feed(with, step, batches, stream);
  };
  for (const step_kind& step : step_kinds(options))
    measure_step(shape.name, "bare copies", step, 1, feed, options, busy, stream, found);
}

void run_way(const shape& shape, const dataset_ptr& data, const way& through,
             const options& options, work& busy, const gpu_stream& stream, results& found) {
  loader loader{
      data,
      shuffle{.seed = 1},
      make_cuda_device(0),
      {.batch_size = shape.batch_size,
       .epochs = UINT64_MAX,
       .readers = through.where == placement::gather ? automatic_readers : options.readers,
       .placement = through.where,
       .transforms = through.transforms,
       .expert = {.trace_events = options.page.empty() ? 0 : std::size_t{10'000}}}};
  const std::uint64_t an_epoch = loader.plan().batches_per_epoch;
  std::uint64_t epoch = 0;
  (void)consume(loader, epoch, nullptr, {}, an_epoch, stream);  // warm up, and fill the cache
  const feeding_loop feed = [&](work* with, const step_kind& step, std::uint64_t batches) {
    return consume(loader, epoch, with, step, batches, stream);
  };
  for (const step_kind& step : step_kinds(options)) {
    measure_step(shape.name, through.name, step, an_epoch, feed, options, busy, stream, found);
    if (!options.page.empty() && step.name.find("product") != std::string::npos)
      write_trace_page(only_epoch(loader.trace(), epoch - 1), options.page,
                       shape.name + ", " + through.name + ", " + step.name);
  }
}

void run(const options& options) {
  results found{"busy", machine_facts()};
  std::printf("%s", describe_machine().c_str());
  std::printf(
      "method:    %d readers; steps alone, loader alone, both; medians of %d rounds; times in "
      "µs a batch; ratio: both to the longer of the two\n\n",
      options.readers, options.runs);
  std::printf("%-12s %-20s %-12s %9s %9s %9s %8s\n", "shape", "rows", "step", "alone", "feeding",
              "both", "ratio");
  const gpu_stream stream;
  work busy{stream};
  for (const shape& shape : shapes_named(options.shape.empty() ? "imagenet256" : options.shape)) {
    const auto data = make_data(shape);
    run_copies(shape, options, busy, stream, found);
    for (const way& through : ways_of(shape, options))
      run_way(shape, data, through, options, busy, stream, found);
  }
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"What feeding costs a busy GPU, for every placement"};
  options options;
  add_common_options(line, options);
  line.add_option("--placement", options.placements, "of stream, gather, resident");
  line.add_option("--readers", options.readers, "reader threads, but for gather");
  line.add_option("--products", options.products, "matrix products in a step");
  line.add_option("--page", options.page, "file for a page of the last loop of products");
  return run_program(line, argc, argv, has_gpu, [&] { run(options); });
}
