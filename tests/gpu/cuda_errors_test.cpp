/// Samples that cannot be read, on a real GPU: the same batches as the host's.

#include <feedline/cuda/device.hpp>
#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "gpu/gpu_recorder.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/datasets/bad_samples.hpp"
#include "support/devices/device_contract.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t sample_count = 1009;
constexpr std::uint64_t epochs = 3;

sample_set some_bad() {
  sample_set bad;
  for (std::uint64_t i = 0; i < sample_count; i += 1 + i % 17) bad.insert(i);
  return bad;
}

/// Takes all batches of all epochs.
template <class Recorder>
std::vector<seen_batch> batches_of(loader& loader, Recorder& record, stream_ref stream) {
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    for (batch& batch : loader.epoch(epoch, stream)) record(batch);
  }
  return record.seen();
}

}  // namespace

TEST_CASE("cuda: if samples cannot be read batches are the host's, wherever rows are",
          "[loader][gpu]") {
  FEEDLINE_NEEDS_GPU();
  const log_capture unheard;
  const auto action = GENERATE(error_action::skip, error_action::substitute);
  const int readers = GENERATE(0, 1, 8);
  const std::size_t piece_samples = GENERATE(0, 7, 47);
  const auto where = GENERATE(placement::stream, placement::resident, placement::cached);
  const bool converts = GENERATE(false, true);
  CAPTURE(static_cast<int>(action), readers, piece_samples, to_string(where), converts);
  const auto data = make_bad_rows(sample_count, some_bad(), 300);
  loader_options options{.batch_size = 48,
                         .readers = no_readers,
                         .errors = {.action = action, .substitute = 2, .max_share = 1}};
  loader reference{data, shuffle{.seed = 9}, make_host_device(), options};
  recorder record;
  const auto expected = batches_of(reference, record, {});

  options.readers = readers;
  options.expert.piece_bytes = piece_samples * 309;
  options.placement = where;
  if (where == placement::cached) options.memory.cache = 400U * 309;
  if (converts) options.transforms.push_back({.field = "note"});
  const gpu_stream stream;
  loader on_gpu{data, shuffle{.seed = 9}, make_cuda_device(0), options};
  gpu_recorder record_gpu{stream.get()};
  CHECK(batches_of(on_gpu, record_gpu, stream.ref()) == expected);
  CHECK(all_intact(expected));
  CHECK(on_gpu.failures().count == reference.failures().count);
}
