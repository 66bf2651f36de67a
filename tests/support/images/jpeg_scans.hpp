#pragma once

#include "codecs/jpeg/coefficients.hpp"
#include "codecs/jpeg/frame.hpp"
#include "codecs/jpeg/scan.hpp"
#include "codecs/jpeg/scan_intervals.hpp"
#include "codecs/jpeg/scan_segments.hpp"
#include "support/devices/host_warp.hpp"
#include "support/images/image_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <stdexcept>
#include <vector>

namespace feedline::test {

/// A JPEG file in memory of its own, so that sanitizers see what is read beside it.
struct jpeg_file {
  /// @param shift Offset of its beginning from a multiple of 16 bytes.
  explicit jpeg_file(const byte_vector& file, std::size_t shift = 0)
      : bytes{static_cast<std::uint32_t>(file.size())},
        memory{std::make_unique<std::uint8_t[]>(shift + file.size())},
        data{memory.get() + shift} {
    if (!file.empty()) std::memcpy(memory.get() + shift, file.data(), file.size());
    is_read = detail::read_jpeg_frame(data, bytes, frame);
  }

  /// Number of blocks in its scan.
  [[nodiscard]] std::uint32_t blocks() const { return frame.mcus() * frame.blocks(); }

  std::uint32_t bytes;
  std::unique_ptr<std::uint8_t[]> memory;
  const std::uint8_t* data;
  detail::jpeg_frame frame{};
  bool is_read;  ///< whether its header is one that devices take
};

/// Result of reading a scan.
struct jpeg_scan_result {
  std::vector<std::int16_t> blocks;  ///< coefficients, as the scan has them
  bool is_whole = false;
  detail::jpeg_verdict verdict = detail::jpeg_verdict::unsure;  ///< verdict on its segments
  int rounds = 0;  ///< in which lanes decoded once more
};

namespace jpeg_scans {

/// Memory that scans are read to. Its old contents may not matter.
template <class T>
std::unique_ptr<T> make_dirty() {
  auto made = std::make_unique<T>();
  std::memset(static_cast<void*>(made.get()), 0xCD, sizeof(T));
  return made;
}

template <std::uint32_t Lanes>
void read(const detail::jpeg_scan& scan, const detail::jpeg_coefficient_writer& writer,
          std::size_t room, bool last_first, jpeg_scan_result& found) {
  const auto tables = make_dirty<detail::jpeg_segment_tables>();
  std::vector<std::uint32_t> words(room / 4, 0xCDCDCDCD);
  host_warp<Lanes> team;
  team.last_first = last_first;
  detail::jpeg_scan_segments segments{
      team, scan, writer, *tables, {words.data(), words.size() * 4}};
  found.verdict = segments.read();
  found.rounds = team.rounds;
  found.is_whole = found.verdict == detail::jpeg_verdict::unsure
                       ? detail::is_jpeg_scan_whole(team, scan, writer)
                       : found.verdict == detail::jpeg_verdict::whole;
}

}  // namespace jpeg_scans

/// @tparam Lanes 0: one reader reads the scan.
/// @param file  Its header is read.
/// @param count Number of blocks that may be written.
/// @param room  Bytes for the copy of the scan; what does not fit is read by one.
/// @throws std::logic_error if what is found depends on the order of lanes.
template <std::uint32_t Lanes>
jpeg_scan_result read_jpeg_scan(const jpeg_file& file, std::uint32_t count, std::size_t room) {
  const auto tables = jpeg_scans::make_dirty<detail::jpeg_scan_tables>();
  const detail::jpeg_scan scan{file.data, file.bytes, file.frame, *tables};
  const auto read = [&](bool last_first) {
    jpeg_scan_result found{
        std::vector<std::int16_t>(std::size_t{file.blocks()} * detail::jpeg_block_samples)};
    const detail::jpeg_coefficient_writer writer{found.blocks.data(), count};
    if constexpr (Lanes == 0) {
      host_warp<4> team;
      detail::build_tables(team, scan);
      found.is_whole = detail::jpeg_scan_reader{scan, writer}.is_whole();
    } else {
      jpeg_scans::read<Lanes>(scan, writer, room, last_first, found);
    }
    return found;
  };
  jpeg_scan_result found = read(true);
  if constexpr (Lanes != 0) {
    const jpeg_scan_result other = read(false);
    if (found.is_whole != other.is_whole || found.verdict != other.verdict ||
        found.blocks != other.blocks)
      throw std::logic_error{"lanes in another order find something else"};
  }
  return found;
}

/// The same, with room for all.
template <std::uint32_t Lanes>
jpeg_scan_result read_jpeg_scan(const jpeg_file& file) {
  return read_jpeg_scan<Lanes>(file, file.blocks(), file.bytes + 20);
}

/// The coefficients of blocks as an inverse transform takes them: row after row, and multiplied.
inline std::vector<std::int16_t> jpeg_coefficients(const jpeg_file& file,
                                                   const std::vector<std::int16_t>& blocks) {
  detail::jpeg_factors factors;
  detail::build(factors, file.data, file.frame);
  std::vector<std::int16_t> found(blocks.size());
  for (std::uint32_t block = 0; block < file.blocks(); ++block) {
    const std::size_t begin = std::size_t{block} * detail::jpeg_block_samples;
    const auto& factors_of = factors.of[file.frame.component(block % file.frame.blocks())];
    for (std::uint32_t k = 0; k < detail::jpeg_block_samples; ++k) {
      const auto place = static_cast<std::size_t>(detail::jpeg_places(k) & 255U);
      found[begin + place % 8 * 8 + place / 8] =
          detail::jpeg_product(blocks[begin + k], factors_of[k]);
    }
  }
  return found;
}

}  // namespace feedline::test
