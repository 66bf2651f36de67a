#include <feedline/cuda/device.hpp>

#include "bench/limits/limits.hpp"
#include "bench/support/bare/gather_kernel.hpp"
#include "bench/support/bare/mapped_copy.hpp"
#include "bench/support/gpu_stream.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/shapes.hpp"
#include "cuda/check.hpp"
#include "device/owned.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <span>
#include <vector>

namespace feedline::bench {
namespace {

constexpr std::size_t slot_bytes = std::size_t{8} << 20;
constexpr std::size_t ring_places = 4;
constexpr std::size_t large_bytes = std::size_t{512} << 20;

/// Random rows' numbers on the GPU, as many as a large gather takes.
class random_samples {
 public:
  random_samples(const device_ptr& device, std::size_t count, std::uint64_t rows)
      : count_{count}, memory_{device, memory_kind::device, count * sizeof(std::uint32_t)} {
    std::vector<std::uint32_t> samples(count);
    std::mt19937_64 random{1};
    for (auto& sample : samples) sample = static_cast<std::uint32_t>(random() % rows);
    FEEDLINE_CUDA_CHECK(cudaMemcpy(memory_.data(), samples.data(), count * sizeof(std::uint32_t),
                                   cudaMemcpyHostToDevice));
  }
  [[nodiscard]] std::size_t count() const { return count_; }
  [[nodiscard]] const std::uint32_t* data() const {
    return reinterpret_cast<const std::uint32_t*>(memory_.data());
  }

 private:
  std::size_t count_;
  detail::device_memory memory_;
};

/// One shape's rows, wherever they lie, and where they go.
struct gathering {
  const void* rows;
  std::size_t row_bytes;
  const random_samples& samples;
  void* out;
  const gpu_stream& stream;

  /// Bytes a second of gathers of this many rows, one launch each, back to back, into four
  /// destinations in turn, as into a ring.
  /// @param burst Launches between two looks at the clock, which cost a wait.
  [[nodiscard]] double rate(std::size_t rows_a_launch, unsigned blocks, std::size_t burst,
                            double seconds) const {
    const std::size_t choices = samples.count() / rows_a_launch;
    const std::size_t places =
        std::min({choices, ring_places, large_bytes / (rows_a_launch * row_bytes)});
    std::size_t launches = 0;
    const auto launch = [&] {
      const std::size_t first = launches % choices * rows_a_launch;
      const std::size_t place = launches % places * rows_a_launch;
      gather_on_gpu(rows, row_bytes, samples.data() + first, rows_a_launch,
                    static_cast<std::byte*>(out) + place * row_bytes, blocks, stream.get());
      ++launches;
    };
    launch();
    stream.sync();
    launches = 0;
    const auto start = clock_type::now();
    do {
      for (std::size_t i = 0; i < burst; ++i) launch();
      stream.sync();
    } while (seconds_since(start) < seconds);
    return static_cast<double>(launches * rows_a_launch * row_bytes) / seconds_since(start);
  }
};

/// @param from Name of the rows' memory.
void measure_host(const shape& shape, const char* from, const gathering& gathering,
                  std::size_t rows_a_slot, const common_options& options, results& found) {
  std::printf("%-12s %9zu %-9s", shape.name.c_str(), gathering.row_bytes, from);
  for (const unsigned blocks : {8U, 16U, 32U, 64U, 128U}) {
    const double rate = median_of(
        options.runs, [&] { return gathering.rate(rows_a_slot, blocks, 64, options.seconds); });
    std::printf(" %8.2f", rate / 1e9);
    std::fflush(stdout);
    found.add({{"limit", "host gather"},
               {"shape", shape.name},
               {"from", from},
               {"row_bytes", gathering.row_bytes},
               {"blocks", blocks},
               {"bytes_per_second", rate}});
  }
  std::printf("\n");
}

/// A launch a slot, and large ones: by as many blocks as there is work for, or fewer that take
/// several turns, whichever is faster.
void measure_resident(const shape& shape, const gathering& gathering, std::size_t rows_a_slot,
                      const common_options& options, results& found) {
  std::printf("%-12s %9zu %-9s", shape.name.c_str(), gathering.row_bytes, "resident");
  for (const bool large : {false, true}) {
    const std::size_t rows = large ? large_bytes / gathering.row_bytes : rows_a_slot;
    double best = 0;
    for (const unsigned blocks : {0U, 132U * 4U, 132U * 2U}) {
      best = std::max(best, median_of(options.runs, [&] {
                        return gathering.rate(rows, blocks, large ? 16 : 2048, options.seconds);
                      }));
    }
    const std::size_t bytes = rows * gathering.row_bytes;
    std::printf("   %4.0f MiB: %7.1f, %7.2f µs", static_cast<double>(bytes) / (1 << 20), best / 1e9,
                1e6 * static_cast<double>(bytes) / best);
    std::fflush(stdout);
    found.add({{"limit", "resident gather"},
               {"shape", shape.name},
               {"row_bytes", gathering.row_bytes},
               {"large", large},
               {"bytes", bytes},
               {"bytes_per_second", best}});
  }
  std::printf("\n");
}

}  // namespace

/// Rows of each shape's own size and number, and as many draws as there are rows: what of them
/// stays in a cache stays there in a loader's gathers too.
void measure_gpu_gather(const common_options& options, results& found) {
  std::printf(
      "\nrandom rows gathered by a kernel, GB/s: out of host memory that was allocated pinned\n"
      "(host) or that is a dataset's (mapped), a launch a slot of 8 MiB, by blocks; out of device\n"
      "memory (resident), with the time a launch\n");
  std::printf("%-12s %9s %-9s %8s %8s %8s %8s %8s\n", "rows of", "row bytes", "from", "8", "16",
              "32", "64", "128");
  const auto device = make_cuda_device(0);
  const gpu_stream stream;
  const detail::device_memory out{device, memory_kind::device, large_bytes};
  for (const shape& shape : row_shapes(options.shape)) {
    const std::size_t row_bytes = sample_bytes(shape) - 1;
    const std::size_t bytes = row_bytes * shape.samples;
    const std::size_t rows_a_slot = std::max<std::size_t>(slot_bytes / row_bytes, 1);
    const random_samples samples{
        device, std::max<std::size_t>(large_bytes / row_bytes, shape.samples), shape.samples};
    const dataset_ptr data = make_data(shape);
    const std::span<const std::byte> rows = data->rows().front();
    const detail::device_memory on_gpu{device, memory_kind::device, bytes};
    {
      const detail::device_memory on_host{device, memory_kind::staging, bytes};
      std::memcpy(on_host.data(), rows.data(), bytes);
      FEEDLINE_CUDA_CHECK(cudaMemcpy(on_gpu.data(), on_host.data(), bytes, cudaMemcpyHostToDevice));
      measure_host(shape, "host", {on_host.data(), row_bytes, samples, out.data(), stream},
                   rows_a_slot, options, found);
    }
    {
      const mapped_copy mapped{device, rows};
      measure_host(shape, "mapped", {mapped.data(), row_bytes, samples, out.data(), stream},
                   rows_a_slot, options, found);
    }
    measure_resident(shape, {on_gpu.data(), row_bytes, samples, out.data(), stream}, rows_a_slot,
                     options, found);
  }
}

}  // namespace feedline::bench
