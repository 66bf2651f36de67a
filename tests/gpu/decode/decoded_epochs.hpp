#pragma once

#include <feedline/cuda/device.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>

#include "gpu/gpu_stream.hpp"

#include <cuda_runtime_api.h>

#include <cstdint>
#include <future>
#include <string>
#include <utility>
#include <vector>

namespace feedline::test {

/// Batches that a loader delivered, and how it ended.
struct delivered_epochs {
  std::vector<std::vector<std::uint8_t>> images;
  std::vector<std::vector<std::uint8_t>> labels;
  decode_on decodes = decode_on::cpu;
  std::string note;   ///< why readers decode
  std::string error;  ///< empty: none
};

inline std::vector<std::uint8_t> on_host(const tensor_view& values) {
  std::vector<std::uint8_t> host(values.bytes().size());
  FEEDLINE_CUDA_CHECK(
      cudaMemcpy(host.data(), values.bytes().data(), host.size(), cudaMemcpyDeviceToHost));
  return host;
}

/// Two epochs of two fields of a dataset. Any thread: it requires nothing.
/// @param options Its `epochs` and `placement` are replaced.
/// @param names Fields that become `images` and `labels`.
inline delivered_epochs take_epochs(const dataset_ptr& data, const sampler& order,
                                    loader_options options, int gpu = 0,
                                    std::pair<const char*, const char*> names = {"image",
                                                                                 "label"}) {
  FEEDLINE_CUDA_CHECK(cudaSetDevice(gpu));
  const gpu_stream stream;
  options.epochs = 2;
  options.placement = placement::stream;
  loader loader{data, order, make_cuda_device(gpu), options};
  delivered_epochs all;
  all.decodes = loader.plan().decode_on;
  all.note = loader.plan().decode_note;
  try {
    for (std::uint64_t epoch = 0; epoch < options.epochs; ++epoch)
      for (const batch& batch : loader.epoch(epoch, stream.ref())) {
        FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream.get()));
        all.images.push_back(on_host(batch[names.first]));
        all.labels.push_back(on_host(batch[names.second]));
      }
  } catch (const stage_error& failure) {
    all.error = failure.what();
  }
  return all;
}

/// Checks that the GPU decoded the same as readers, and ended the same.
inline void check_same(const delivered_epochs& seen, const delivered_epochs& expected) {
  CAPTURE(seen.note);
  CHECK(seen.decodes == decode_on::device);
  CHECK(expected.decodes == decode_on::cpu);
  CHECK(seen.error == expected.error);
  CHECK((seen.labels == expected.labels));
  REQUIRE(seen.images.size() == expected.images.size());
  REQUIRE_FALSE(seen.images.empty());
  for (std::size_t i = 0; i < seen.images.size(); ++i) {
    CAPTURE(i);
    CHECK((seen.images[i] == expected.images[i]));
  }
}

/// Two ranks at once, each on a GPU of its own where there are two, get what readers decode for
/// them.
inline void check_ranks(const dataset_ptr& data, const sampler& order) {
  const auto options = [](int rank, decode_on who) {
    return loader_options{.batch_size = 16,
                          .partial_batch = partial_batch::drop,
                          .shard = {rank, 2},
                          .readers = 2,
                          .decode_on = who};
  };
  std::vector<std::future<delivered_epochs>> ranks;
  for (int rank = 0; rank < 2; ++rank)
    ranks.push_back(std::async(std::launch::async, [&, rank] {
      return take_epochs(data, order, options(rank, decode_on::device), rank % cuda_device_count());
    }));
  for (int rank = 0; rank < 2; ++rank) {
    const delivered_epochs seen = ranks[static_cast<std::size_t>(rank)].get();
    CAPTURE(rank);
    check_same(seen, take_epochs(data, order, options(rank, decode_on::cpu)));
  }
}

}  // namespace feedline::test
