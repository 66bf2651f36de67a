#include "bench/support/bare/by_hand.hpp"

#include <feedline/backend/device.hpp>
#include <feedline/cuda/device.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "device/owned.hpp"

#include <array>
#include <cstdint>
#include <span>
#include <vector>

namespace feedline::bench {
namespace {

/// A pinned batch, its memory on the GPU, and the event after its copy.
struct buffer {
  buffer(const device_ptr& device, std::size_t bytes)
      : pinned{device, memory_kind::staging, bytes},
        on_device{device, memory_kind::device, bytes},
        copied{device} {}
  detail::device_memory pinned;
  detail::device_memory on_device;
  detail::event copied;
};

}  // namespace

delivered feed_by_hand(const shape& shape, const dataset& data, std::size_t buffers,
                       double seconds) {
  const auto device = make_cuda_device(0);
  const detail::stream stream{device};
  const std::uint64_t bytes = sample_bytes(shape) * shape.batch_size;
  std::vector<buffer> ring;
  for (std::size_t i = 0; i < buffers; ++i) ring.emplace_back(device, bytes);
  const std::uint64_t image_bytes = (sample_bytes(shape) - 1) * shape.batch_size;
  const std::uint64_t an_epoch = shape.samples / shape.batch_size;
  std::vector<sample_index> samples(shape.batch_size);
  std::uint64_t count = 0;
  const meter meter;
  for (; meter.seconds() < seconds; ++count) {
    buffer& next = ring[count % buffers];
    device->sync(next.copied.get());
    shuffle{.seed = 1}.indices(shape.samples, count / an_epoch,
                               position{count % an_epoch * shape.batch_size}, samples);
    std::byte* const at = next.pinned.data();
    const std::array<std::span<std::byte>, 2> out{std::span{at, image_bytes},
                                                  std::span{at + image_bytes, shape.batch_size}};
    data.read(samples, out);
    device->copy(next.on_device.data(), at, bytes, stream.get());
    device->record(next.copied.get(), stream.get());
  }
  for (const buffer& each : ring) device->sync(each.copied.get());
  return meter.stop(count, count * bytes);
}

std::string name_by_hand(std::size_t buffers) {
  return buffers == 1 ? "synchronous" : "double buffer";
}

}  // namespace feedline::bench
