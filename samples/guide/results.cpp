// The code that docs/guide/results.md shows.

// [includes]
#include <feedline/feedline.hpp>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <future>
#include <ios>
#include <optional>
#include <stdexcept>
#include <string>
// [/includes]

#include "training.hpp"

void train(feedline::loader& loader, const feedline::device_ptr& gpu, float* loss,
           cudaStream_t cuda_stream) {
  // [losses]
  feedline::result_ring results{gpu, {.slot_bytes = sizeof(float), .slots = 16}};
  const feedline::stream_ref stream{cuda_stream};

  for (feedline::batch& batch : loader.epoch(0, stream)) {
    train_step(batch["image"].data<std::uint8_t>(), batch["label"].data<std::uint8_t>(),
               batch.size(), cuda_stream);  // writes its loss to `loss`, on the GPU
    (void)results.try_push(loss, sizeof(float), stream, {.batch = batch.index()});
    while (const auto arrived = results.try_next()) {
      std::printf("batch %llu: loss %f\n", static_cast<unsigned long long>(arrived->tag().batch),
                  static_cast<double>(arrived->values<float>()[0]));
    }
  }
  // [/losses]
}

// [writer]
void write_npy(feedline::result_ring& results, std::uint64_t samples, std::uint64_t width,
               const std::string& path) {
  std::string header = "{'descr': '<f4', 'fortran_order': False, 'shape': (" +
                       std::to_string(samples) + ", " + std::to_string(width) + "), }";
  header.resize((header.size() + 11 + 63) / 64 * 64 - 11, ' ');  // the data begin at 64 bytes
  header += '\n';
  const std::string length{static_cast<char>(header.size() % 256),
                           static_cast<char>(header.size() / 256)};
  std::ofstream file{path, std::ios::binary};
  file << "\x93NUMPY\x01" << '\0' << length << header;

  while (const auto result = results.next()) {
    const auto bytes = result->bytes();
    file.write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  if (!file.flush()) throw std::runtime_error{"cannot write " + path};
}
// [/writer]

void embed_all(feedline::loader& loader, const feedline::device_ptr& gpu, std::uint64_t samples,
               std::uint64_t batch_size, std::uint64_t width, float* const (&out)[2],
               cudaStream_t cuda_stream) {
  // [embeddings]
  const std::uint64_t row_bytes = width * sizeof(float);
  feedline::result_ring results{gpu, {.slot_bytes = batch_size * row_bytes}};
  auto writer = std::async(std::launch::async, [&] {
    try {
      write_npy(results, samples, width, "embeddings.npy");
    } catch (...) {
      results.stop();  // the loop below must not wait for room that never comes
      throw;
    }
  });
  try {
    const feedline::stream_ref stream{cuda_stream};
    std::optional<feedline::source_lease> copying[2];  // one for each of two buffers on the GPU
    for (feedline::batch& batch : loader.epoch(0, stream)) {
      const std::uint64_t turn = batch.index() % 2;
      copying[turn].reset();  // the stream waits for the copy of two batches ago
      embed(batch["image"].data<std::uint8_t>(), out[turn], batch.size(), cuda_stream);
      copying[turn] = results.push(out[turn], batch.size() * row_bytes, stream);
      if (!copying[turn]) break;  // stopped
    }
    results.finish();
  } catch (...) {
    results.stop();  // the writer must not wait for results that are never pushed
    throw;
  }
  writer.get();  // throws what the writer threw
  // [/embeddings]
}
