#include "bench/support/bare/decoder_alone.hpp"

#include <feedline/cuda/device.hpp>

#include "bench/support/measure.hpp"

#include <algorithm>
#include <cstring>

namespace feedline::bench {

decoder_alone::decoder_alone(const encoded_chunks& chunks, std::uint32_t count)
    : device_{make_cuda_device(0)}, decoded_bytes_{count * chunks.chunk_bytes} {
  std::vector<block_load> loads;
  std::vector<std::byte> destination;
  std::size_t most = 0;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto& stored = chunks.stored[i % chunks.stored.size()];
    loads.push_back({.place = i,
                     .bytes = static_cast<std::uint32_t>(stored.size()),
                     .at = static_cast<std::uint32_t>(destination.size() / 16)});
    destination.insert(destination.end(), stored.begin(), stored.end());
    destination.resize((destination.size() + 255) / 256 * 256);
    most = std::max(most, stored.size());
  }
  const std::size_t loads_at = destination.size();
  const auto* const table = reinterpret_cast<const std::byte*>(loads.data());
  destination.insert(destination.end(), table, table + loads.size() * sizeof(block_load));
  staged_ = detail::device_memory{device_, memory_kind::staging, destination.size()};
  std::memcpy(staged_.data(), destination.data(), destination.size());
  destination_ = detail::device_memory{device_, memory_kind::device, destination.size()};
  FEEDLINE_CUDA_CHECK(cudaMemcpyAsync(destination_.data(), staged_.data(), destination.size(),
                                      cudaMemcpyHostToDevice, stream_.get()));
  store_ = detail::device_memory{device_, memory_kind::device, decoded_bytes_};
  states_ = detail::device_memory{device_, memory_kind::device, count * sizeof(std::uint32_t)};
  decoder_ = device_->capabilities().decodes->make(
      {.fields = {{.blocks = store_.data(),
                   .block_bytes = chunks.chunk_bytes,
                   .steps = chunks.steps,
                   .max_stored_bytes = most}},
       .states = reinterpret_cast<std::uint32_t*>(states_.data()),
       .places = count,
       .rows = chunks.rows,
       .max_loads = count,
       .reference = nullptr});
  work_ = {.copy_destination = destination_.data(),
           .staged = staged_.data(),
           .loads_at = loads_at,
           .loads = count};
  run(1);
}

double decoder_alone::rate(double seconds) {
  const auto turns = static_cast<int>(std::clamp(seconds / run(1), 2.0, 1e4));
  return static_cast<double>(decoded_bytes_) * turns / run(turns);
}

double decoder_alone::run(int turns) {
  const auto start = clock_type::now();
  for (int i = 0; i < turns; ++i) decoder_->decode(work_, stream_ref{stream_.get()});
  stream_.sync();
  return seconds_since(start);
}

}  // namespace feedline::bench
