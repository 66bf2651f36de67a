#pragma once

#include "codecs/inflate/inflate.hpp"
#include "codecs/png/checksum.hpp"
#include "codecs/png/frame.hpp"
#include "codecs/png/rows.hpp"
#include "image/reader.hpp"
#include "support/devices/host_warp.hpp"
#include "support/images/image_bytes.hpp"

#include <zlib.h>

#include <atomic>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace feedline::test {

/// Bytes of exactly this many, at an address that is a multiple of 8: sanitizers see what is
/// touched beside them.
inline std::unique_ptr<std::uint64_t[]> words_for(std::size_t bytes) {
  return std::make_unique<std::uint64_t[]>((bytes + 7) / 8);
}

/// Compares the checksums of chunks as devices do, divided among so many threads, and joins the
/// compressed data. @param frame Result of `read_png_frame` for the file.
inline std::optional<std::vector<std::uint8_t>> png_data_by_parts(const std::uint8_t* file,
                                                                  std::uint32_t bytes,
                                                                  std::uint32_t threads) {
  std::vector<std::uint8_t> data;
  detail::png_chunk chunk{};
  for (std::uint32_t at = detail::png_chunks_at; chunk.name != detail::png_chunk::iend;
       at = chunk.end()) {
    if (!detail::read_png_chunk(file, bytes, at, chunk)) return std::nullopt;
    if (!chunk.is_critical()) continue;
    const std::uint8_t* const from = file + chunk.at;
    std::uint32_t checksum = 0;
    for (std::uint32_t i = 0; i < threads; ++i)
      checksum ^= detail::crc_part(from - 4, chunk.bytes + 4, i, threads);
    if (~checksum != detail::png_number(from + chunk.bytes)) return std::nullopt;
    if (chunk.name == detail::png_chunk::idat) data.insert(data.end(), from, from + chunk.bytes);
  }
  return data;
}

/// The values of a PNG's pixels, row after row, of one channel or three.
struct png_image_values {
  std::uint32_t height = 0;
  std::uint32_t width = 0;
  std::vector<std::uint16_t> values = {};
};

/// Decodes a PNG by the parts that devices decode by. @return Nothing if they refuse it.
/// @tparam Lanes Lanes of the warp that finds literals and undoes filters.
template <std::uint32_t Lanes = 32>
std::optional<png_image_values> png_values_by_parts(std::span<const std::byte> given,
                                                    const detail::png_values& wanted,
                                                    bool last_first = false) {
  const auto copy = std::make_unique<std::uint8_t[]>(given.size());
  if (!given.empty()) std::memcpy(copy.get(), given.data(), given.size());
  const auto bytes = static_cast<std::uint32_t>(given.size());
  detail::png_frame frame;
  if (!detail::read_png_frame(copy.get(), bytes, frame)) return std::nullopt;
  const auto data = png_data_by_parts(copy.get(), bytes, Lanes);
  if (!data) return std::nullopt;

  const auto stream = words_for(data->size());
  std::memcpy(stream.get(), data->data(), data->size());
  const auto* const from = reinterpret_cast<const std::byte*>(stream.get()) + 2;
  const std::size_t room = frame.filtered_bytes();
  const auto rows = words_for(room);
  auto* const filtered = reinterpret_cast<std::uint8_t*>(rows.get());
  const auto tables = std::make_unique<detail::inflate_tables>();
  const auto stream_bytes = static_cast<std::uint32_t>(data->size() - 2);
  const detail::inflated done =
      detail::inflater<detail::team_of_one, host_warp<Lanes>>{
          from, stream_bytes, reinterpret_cast<std::byte*>(rows.get()),
          static_cast<std::uint32_t>(room), *tables}
          .run();
  if (!done.good || stream_bytes - done.bytes < 4) return std::nullopt;
  if (!done.has_surplus &&
      detail::png_number(reinterpret_cast<const std::uint8_t*>(from) + done.bytes) !=
          adler32(1, filtered, static_cast<uInt>(room)))
    return std::nullopt;

  const std::uint32_t row_values = (frame.width + 3) / 4 * 4;
  const std::size_t value_bytes = wanted.is_wide ? 2 : 1;
  const auto planes = words_for(std::size_t{3} * value_bytes * row_values * frame.height);
  auto* const made = reinterpret_cast<std::uint8_t*>(planes.get());
  host_warp<Lanes> warp{.last_first = last_first};
  if (!detail::make_png_rows(warp, frame, detail::png_colours{copy.get(), frame, wanted}, filtered,
                             made, row_values, frame.height))
    return std::nullopt;
  png_image_values image{frame.height, frame.width};
  for (std::uint32_t y = 0; y < frame.height; ++y)
    for (std::uint32_t x = 0; x < frame.width; ++x)
      for (std::uint32_t channel = 0; channel < (wanted.is_grey ? 1 : 3); ++channel) {
        const std::size_t at = (std::size_t{3} * y + channel) * row_values + x;
        std::uint16_t value = made[at];
        if (wanted.is_wide) std::memcpy(&value, made + 2 * at, sizeof value);
        image.values.push_back(value);
      }
  return image;
}

/// The values that readers make of a PNG. @throws detail::image_error if they refuse it.
inline std::vector<std::uint16_t> png_values_by_reader(std::span<const std::byte> file,
                                                       const detail::png_values& wanted) {
  const detail::pixel_format format{.channels = wanted.is_grey ? 1U : 3U,
                                    .value_bytes = wanted.is_wide ? 2U : 1U};
  const auto pixels = wanted.is_index ? detail::png_pixels::indices : detail::png_pixels::colors;
  detail::pixel_image image;
  (void)detail::make_png_reader(pixels, format, std::make_shared<std::atomic<bool>>(true))
      ->read(
          file, [](detail::image_extents) { return detail::resample_window{}; }, image);
  image.convert(format);
  std::vector<std::uint16_t> values;
  for (std::size_t i = 0; i < image.extents().pixels() * format.channels; ++i) {
    std::uint16_t value = image.data()[i];
    if (wanted.is_wide) std::memcpy(&value, image.data() + 2 * i, sizeof value);
    values.push_back(value);
  }
  return values;
}

/// Same as `png_values_by_parts`, to three channels of 8 bits.
template <std::uint32_t Lanes = 32>
std::optional<pixels> decode_png_by_parts(std::span<const std::byte> given,
                                          bool last_first = false) {
  const auto made = png_values_by_parts<Lanes>(given, {}, last_first);
  if (!made) return std::nullopt;
  return pixels{made->height, made->width, 3, {made->values.begin(), made->values.end()}};
}

}  // namespace feedline::test
