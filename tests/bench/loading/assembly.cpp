/// Cost of one assembly on the GPU, alone: back to back on one stream, with no reader and no copy.
///
///     feedline_bench_assembly [--shape mnist64]
///
/// For each shape, slots of about 8 MiB (at least a batch), of an image and a label of a byte,
/// out of rows at random positions:
/// - "device": cached in device memory; "arrived": in the copy destination; "host": cached in
///   mapped host memory;
/// - as they are, or with images, HWC bytes, normalized to floats: HWC or CHW, flipped at random,
///   with a random crop of seven eighths of each side.
///
/// GB/s is of what is delivered. "to copy" is the stream's time relative to that of a copy in
/// device memory that reads and writes as many bytes, by the rate of copies of 256 MiB. The host's
/// time is that of the call; the stream's, of its share of a long run, between two events. Slots
/// and four copy destinations are used in turn, as in a loader.

#include <feedline/backend/assembly.hpp>
#include <feedline/cuda/device.hpp>

#include "bench/support/bare/mapped_copy.hpp"
#include "bench/support/gpu_stream.hpp"
#include "bench/support/machine.hpp"
#include "bench/support/measure.hpp"
#include "bench/support/program.hpp"
#include "bench/support/results.hpp"
#include "bench/support/shapes.hpp"
#include "cuda/check.hpp"
#include "device/owned.hpp"
#include "support/command_line.hpp"
#include "support/devices/destination_builder.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <random>
#include <span>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

constexpr std::size_t target_slot_bytes = std::size_t{8} << 20;
constexpr std::size_t places = 4;

enum class rows_in { device, arrived, host };

std::size_t in_lines(std::size_t bytes) {
  return (bytes + 255) / 256 * 256;
}

/// Random bytes for each row of a field.
std::vector<std::byte> random_rows(std::uint64_t rows, std::size_t row_bytes) {
  std::vector<std::byte> bytes(rows * row_bytes);
  std::mt19937_64 random{1};
  for (std::size_t i = 0; i + sizeof(std::uint64_t) <= bytes.size(); i += sizeof(std::uint64_t)) {
    const std::uint64_t bits = random();
    std::memcpy(bytes.data() + i, &bits, sizeof bits);
  }
  return bytes;
}

detail::device_memory on_device(const device_ptr& device, std::span<const std::byte> bytes) {
  detail::device_memory memory{device, memory_kind::device, bytes.size()};
  FEEDLINE_CUDA_CHECK(
      cudaMemcpy(memory.data(), bytes.data(), bytes.size(), cudaMemcpyHostToDevice));
  return memory;
}

/// One shape's rows, in host memory that is mapped while this lives.
struct shape_rows {
  shape_rows(device_ptr on, const shape& of)
      : device{std::move(on)},
        shape{of},
        image_bytes{sample_bytes(of) - 1},
        images{random_rows(of.samples, image_bytes)},
        labels{random_rows(of.samples, 1)},
        mapped_images{device, images},
        mapped_labels{device, labels} {}

  device_ptr device;
  bench::shape shape;
  std::size_t image_bytes;
  std::vector<std::byte> images;
  std::vector<std::byte> labels;
  mapped_copy mapped_images;
  mapped_copy mapped_labels;
};

/// A conversion of images.
struct conversion_kind {
  const char* name;
  element_type to = element_type::u8;  ///< u8: they stay as they are
  bool to_channels_last = false;
  bool flips = false;
  bool crops = false;
};

constexpr std::array kinds{
    conversion_kind{"as they are"},
    conversion_kind{"f32, chw", element_type::f32},
    conversion_kind{"f16, hwc", element_type::f16, true},
    conversion_kind{"f16, hwc, flip", element_type::f16, true, true},
    conversion_kind{"f16, hwc, flip, crop", element_type::f16, true, true, true},
    conversion_kind{"f16, chw", element_type::f16, false},
    conversion_kind{"f16, chw, flip", element_type::f16, false, true},
    conversion_kind{"f16, chw, flip, crop", element_type::f16, false, true, true},
    conversion_kind{"bf16, hwc", element_type::bf16, true},
    conversion_kind{"bf16, hwc, flip, crop", element_type::bf16, true, true, true},
    conversion_kind{"bf16, chw", element_type::bf16, false},
    conversion_kind{"bf16, chw, flip, crop", element_type::bf16, false, true, true}};

field_conversion conversion_of(const shape& shape, const conversion_kind& kind) {
  field_conversion conversion;
  if (kind.to == element_type::u8) return conversion;
  conversion.what = field_conversion::operation::convert;
  conversion.to = kind.to;
  conversion.channels_last = true;
  conversion.to_channels_last = kind.to_channels_last;
  conversion.per_channel = true;
  const bool is_cifar = shape.row.size() == 3 && shape.row[0] == 3;
  conversion.height = static_cast<std::uint32_t>(is_cifar ? shape.row[1] : shape.row[0]);
  conversion.width = static_cast<std::uint32_t>(is_cifar ? shape.row[2] : shape.row[1]);
  conversion.channels = shape.row.size() == 3 ? 3 : 1;
  conversion.to_height = kind.crops ? conversion.height / 8 * 7 : conversion.height;
  conversion.to_width = kind.crops ? conversion.width / 8 * 7 : conversion.width;
  conversion.random_window = kind.crops;
  conversion.flip_below = kind.flips ? std::uint64_t{1} << 31 : 0;
  std::fill(std::begin(conversion.scale), std::end(conversion.scale), 1.0F / 255.0F);
  std::fill(std::begin(conversion.offset), std::end(conversion.offset), -0.5F);
  return conversion;
}

/// The work on four slots, ready to be issued.
class slots {
 public:
  slots(const shape_rows& rows, rows_in where, const conversion_kind& kind)
      : rows_{rows},
        format_{.row_bytes = {rows.image_bytes, 1},
                .batch_size = rows.shape.batch_size,
                .varies = kind.flips || kind.crops} {
    const field_conversion conversion = conversion_of(rows.shape, kind);
    const bool converts = conversion.what == field_conversion::operation::convert;
    const std::size_t elements =
        converts ? std::size_t{conversion.to_height} * conversion.to_width * conversion.channels
                 : rows.image_bytes;
    const std::size_t to_bytes = elements * size_bytes(kind.to);
    const std::size_t labels_at = in_lines(to_bytes * format_.batch_size);
    batch_bytes_ = labels_at + in_lines(format_.batch_size);
    const std::size_t from_bytes = rows.image_bytes * format_.batch_size;
    const std::size_t batches = std::max<std::size_t>(target_slot_bytes / from_bytes, 1);
    samples_ = batches * format_.batch_size;
    format_.run_samples = std::clamp<std::uint64_t>((std::size_t{256} << 10) / rows.image_bytes, 1,
                                                    format_.batch_size);
    format_.runs_per_batch = (format_.batch_size + format_.run_samples - 1) / format_.run_samples;
    delivered_bytes_ = samples_ * (to_bytes + 1);
    read_bytes_ = samples_ * (elements + 1);
    place_rows(where);
    field_assembly& image = fields_[0];
    image.row_bytes = rows.image_bytes;
    image.to_row_bytes = to_bytes;
    image.conversion = conversion;
    field_assembly& label = fields_[1];
    label.row_bytes = 1;
    label.to_row_bytes = 1;
    label.to_offset = labels_at;
    for (std::size_t i = 0; i < places; ++i) make_place(where == rows_in::arrived, i);
  }
  slots(const slots&) = delete;
  slots& operator=(const slots&) = delete;

  [[nodiscard]] std::size_t delivered_bytes() const { return delivered_bytes_; }
  [[nodiscard]] std::size_t read_bytes() const { return read_bytes_; }
  void issue(std::size_t number, const gpu_stream& stream) const {
    rows_.device->assemble(works_[number % places], stream_ref{stream.get()});
  }

 private:
  void place_rows(rows_in where) {
    fields_[0].cached = rows_.mapped_images.data();
    fields_[1].cached = rows_.mapped_labels.data();
    for (field_assembly& field : fields_) field.cached_on_host = where == rows_in::host;
    if (where == rows_in::host) return;
    on_device_.push_back(on_device(rows_.device, rows_.images));
    on_device_.push_back(on_device(rows_.device, rows_.labels));
    for (std::size_t i = 0; i < fields_.size(); ++i) fields_[i].cached = on_device_[i].data();
  }

  void make_place(bool arrive, std::size_t number) {
    std::mt19937_64 random{number};
    std::vector<test::sample_source> sources(samples_);
    for (auto& each : sources) {
      each.arrives = arrive;
      each.row = random() % rows_.shape.samples;
      each.random_bits = static_cast<std::uint32_t>(random());
    }
    const std::array all{std::span{rows_.images}, std::span{rows_.labels}};
    const auto image =
        test::build_copy_destination(format_, sources, [&](std::size_t field, std::uint64_t row) {
          const std::size_t bytes = format_.row_bytes[field];
          return all[field].subspan(row * bytes, bytes);
        });
    copy_destinations_.push_back(on_device(rows_.device, image.bytes));
    const std::size_t batches = samples_ / format_.batch_size;
    slots_.emplace_back(rows_.device, memory_kind::device, batches * batch_bytes_);
    assembly work;
    image.describe(work, format_);
    work.slot = slots_.back().data();
    work.batch_bytes = batch_bytes_;
    work.samples = samples_;
    work.copy_destination = copy_destinations_.back().data();
    work.fields = fields_;
    works_.push_back(work);
  }

  const shape_rows& rows_;
  test::destination_format format_;
  std::size_t batch_bytes_ = 0;
  std::uint64_t samples_ = 0;
  std::size_t delivered_bytes_ = 0;
  std::size_t read_bytes_ = 0;
  std::vector<detail::device_memory> on_device_;
  std::vector<detail::device_memory> copy_destinations_;
  std::vector<detail::device_memory> slots_;
  std::array<field_assembly, 2> fields_;
  std::vector<assembly> works_;
};

/// An event that notes the time.
class time_mark {
 public:
  time_mark() { FEEDLINE_CUDA_CHECK(cudaEventCreate(&event_)); }
  time_mark(const time_mark&) = delete;
  time_mark& operator=(const time_mark&) = delete;
  ~time_mark() { FEEDLINE_CUDA_LOG(cudaEventDestroy(event_)); }

  void record(const gpu_stream& stream) {
    FEEDLINE_CUDA_CHECK(cudaEventRecord(event_, stream.get()));
  }
  [[nodiscard]] double seconds_to(const time_mark& end) const {
    float milliseconds = 0;
    FEEDLINE_CUDA_CHECK(cudaEventSynchronize(end.event_));
    FEEDLINE_CUDA_CHECK(cudaEventElapsedTime(&milliseconds, event_, end.event_));
    return 1e-3 * static_cast<double>(milliseconds);
  }

 private:
  cudaEvent_t event_ = nullptr;
};

struct call_times {
  double stream_seconds;
  double host_seconds;
};

call_times time_calls(const slots& work, const gpu_stream& stream, std::size_t calls) {
  time_mark begin;
  time_mark end;
  begin.record(stream);
  const auto start = clock_type::now();
  for (std::size_t i = 0; i < calls; ++i) work.issue(i, stream);
  const double issued = seconds_since(start);
  end.record(stream);
  const auto count = static_cast<double>(calls);
  return {begin.seconds_to(end) / count, issued / count};
}

/// Bytes read and written in a second by copies within device memory.
double memory_rate(const device_ptr& device, const gpu_stream& stream) {
  constexpr std::size_t bytes = std::size_t{256} << 20;
  constexpr int copies = 50;
  const detail::device_memory memory{device, memory_kind::device, 2 * bytes};
  const auto copy = [&] {
    FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(memory.data() + bytes, memory.data(), bytes,
                                        cudaMemcpyDeviceToDevice, stream.get()));
  };
  time_mark begin;
  time_mark end;
  copy();
  begin.record(stream);
  for (int i = 0; i < copies; ++i) copy();
  end.record(stream);
  return copies * 2.0 * static_cast<double>(bytes) / begin.seconds_to(end);
}

void measure(const shape_rows& rows, rows_in where, const conversion_kind& kind, double rate,
             const common_options& options, results& found) {
  const gpu_stream stream;
  const slots work{rows, where, kind};
  const double guess = time_calls(work, stream, 64).stream_seconds;
  const auto calls = static_cast<std::size_t>(std::clamp(options.seconds / guess, 16.0, 100'000.0));
  std::vector<double> on_stream;
  for (int i = 0; i < options.runs; ++i)
    on_stream.push_back(time_calls(work, stream, calls).stream_seconds);
  // Few enough that none waits for room in the stream's queue.
  const double on_host = median_of(options.runs, [&] {
    stream.sync();
    return time_calls(work, stream, 200).host_seconds;
  });
  const double seconds = median(on_stream);
  const auto delivered = static_cast<double>(work.delivered_bytes());
  constexpr std::array names{"device", "arrived", "host"};
  std::printf("%-12s %-8s %-22s %9.2f %10.2f %10.1f", rows.shape.name.c_str(),
              names[static_cast<std::size_t>(where)], kind.name, delivered / (1 << 20),
              1e6 * seconds, 1e-9 * delivered / seconds);
  const double moved = delivered + static_cast<double>(work.read_bytes());
  const double to_copy = where == rows_in::host ? 0 : seconds * rate / moved;
  if (to_copy != 0) {
    std::printf(" %8.2f", to_copy);
  } else {
    std::printf(" %8s", "-");
  }
  std::printf(" %9.2f\n", 1e6 * on_host);
  std::fflush(stdout);
  found.add({{"shape", rows.shape.name},
             {"rows_in", names[static_cast<std::size_t>(where)]},
             {"conversion", kind.name},
             {"to_copy", to_copy},
             {"bytes", work.delivered_bytes()},
             {"stream_seconds", seconds},
             {"host_seconds", on_host}});
}

void run(const common_options& options) {
  results found{"assembly", machine_facts()};
  const double rate = memory_rate(make_cuda_device(0), gpu_stream{});
  std::printf("%s\ncopies of 256 MiB in device memory read and write %.0f GB/s\n\n",
              describe_machine().c_str(), 1e-9 * rate);
  std::printf("%-12s %-8s %-22s %9s %10s %10s %8s %9s\n", "shape", "rows in", "images", "slot, MiB",
              "stream, us", "GB/s", "to copy", "host, us");
  for (const shape& shape : main_shapes(options.shape)) {
    const shape_rows rows{make_cuda_device(0), shape};
    for (const conversion_kind& kind : kinds) {
      for (const auto where : {rows_in::device, rows_in::arrived, rows_in::host})
        measure(rows, where, kind, rate, options, found);
    }
  }
  found.write(options.json);
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"The time of one assembly of a slot on the GPU"};
  common_options options;
  options.seconds = 0.1;
  add_common_options(line, options);
  return run_program(line, argc, argv, has_gpu, [&] { run(options); });
}
