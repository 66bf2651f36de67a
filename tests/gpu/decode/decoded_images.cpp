#include "gpu/decode/decoded_images.hpp"

#include <feedline/backend/block_decoder.hpp>
#include <feedline/cuda/device.hpp>
#include <feedline/image/decode.hpp>

#include "cuda/check.hpp"
#include "cuda/decode/decoders.hpp"
#include "gpu/assembly/assembly_on_gpu.hpp"
#include "gpu/gpu_stream.hpp"
#include "support/checks/catch.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace feedline::test {
namespace {

constexpr std::byte untouched{0x5A};

std::size_t bytes_of(const image_row& row) {
  return row.channels * row.value_bytes() * row.height * row.width;
}

}  // namespace

decoded_images decode_on_gpu(const image_row& row, const std::vector<arriving_image>& images) {
  const auto device = make_cuda_device(0);
  const gpu_stream stream;
  byte_vector memory;
  std::vector<block_load> loads;
  std::size_t largest = 1;
  for (const arriving_image& image : images) {
    loads.push_back({.place = static_cast<std::uint32_t>(2 * loads.size() + 1),
                     .bytes = static_cast<std::uint32_t>(image.stored.size()),
                     .at = static_cast<std::uint32_t>(memory.size() / 16),
                     .skipped = image.skipped,
                     .height = image.height,
                     .width = image.width,
                     .window = image.window,
                     .in_row = image.in_row,
                     .format = image.format,
                     .pixel_bits = image.pixel_bits,
                     .orientation = image.orientation});
    memory.insert(memory.end(), image.stored.begin(), image.stored.end());
    memory.resize((memory.size() + 15) / 16 * 16);
    largest = std::max(largest, image.stored.size());
  }
  const std::size_t loads_at = memory.size();
  const auto* const table = reinterpret_cast<const std::byte*>(loads.data());
  memory.insert(memory.end(), table, table + loads.size() * sizeof(block_load));
  const gpu_copy copy_destination{device, memory};

  const std::size_t row_bytes = bytes_of(row);
  const std::size_t places = 2 * images.size() + 1;
  const gpu_copy blocks{device, byte_vector(places * row_bytes, untouched)};
  const gpu_copy states{device, byte_vector(places * sizeof(std::uint32_t))};
  const bool varies =
      std::ranges::any_of(images, [](const auto& each) { return each.in_row != image_in_row{}; });
  const auto decoder =
      detail::make_cuda_block_decoders(0, "cuda:0", 0)
          ->make({.fields = {{.blocks = blocks.data(),
                              .block_bytes = row_bytes,
                              .varies = varies,
                              .steps = {{.filter = block_filter::image, .image = row}},
                              .max_stored_bytes = largest}},
                  .states = reinterpret_cast<std::uint32_t*>(states.data()),
                  .places = static_cast<std::uint32_t>(places),
                  .rows = 1,
                  .max_loads = static_cast<std::uint32_t>(images.size()),
                  .reference = nullptr});
  for (int turn = 0; turn < 2; ++turn)
    decoder->decode({.copy_destination = copy_destination.data(),
                     .staged = memory.data(),
                     .loads_at = loads_at,
                     .loads = static_cast<std::uint32_t>(loads.size())},
                    stream.ref());
  FEEDLINE_CUDA_CHECK(cudaStreamSynchronize(stream.get()));

  const byte_vector all = blocks.read_back();
  std::vector<std::uint32_t> seen(places);
  std::memcpy(seen.data(), states.read_back().data(), places * sizeof seen[0]);
  decoded_images result;
  for (std::size_t place = 0; place < places; ++place) {
    const auto begin = all.begin() + static_cast<std::ptrdiff_t>(place * row_bytes);
    const auto end = begin + static_cast<std::ptrdiff_t>(row_bytes);
    if (place % 2 == 0) {
      CHECK(std::all_of(begin, end, [](std::byte each) { return each == untouched; }));
    } else {
      result.rows.emplace_back(begin, end);
      result.good.push_back(seen[place] == 0);
    }
  }
  return result;
}

byte_vector decode_on_cpu(const image_row& row, const byte_vector& file,
                          const source_window& window, const image_in_row& in_row,
                          std::uint8_t orientation) {
  const image_options options{.height = row.height,
                              .width = row.width,
                              .shorter_side = row.shorter_side,
                              .interpolation = row.interpolation,
                              .layout = row.layout,
                              .channels = row.channels,
                              .type = row.type,
                              .reduced_decoding = false,
                              .fill = {row.fill[0], row.fill[1], row.fill[2]}};
  const auto decoder = row.is_mask ? make_mask_decoder(options) : make_image_decoder(options);
  byte_vector out(bytes_of(row), untouched);
  const encoded_blocks::stored_block described{
      .bytes = file.size(), .window = window, .in_row = in_row, .orientation = orientation};
  decoder->decode_described(file, described, decoder->describe(file), out);
  return out;
}

}  // namespace feedline::test
