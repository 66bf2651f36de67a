#pragma once

#include "image/jpeg/coefficients.hpp"
#include "image/jpeg/frame.hpp"
#include "image/jpeg/scan.hpp"
#include "image/jpeg/scan_intervals.hpp"
#include "image/jpeg/scan_segments.hpp"
#include "support/devices/host_warp.hpp"
#include "support/files/image_bytes.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <vector>

namespace feedline::test {

/// A JPEG file in memory of its own, so that sanitizers see what is read beside it.
struct jpeg_file {
  explicit jpeg_file(const byte_vector& file)
      : bytes{static_cast<std::uint32_t>(file.size())},
        data{std::make_unique<std::uint8_t[]>(file.size())} {
    if (!file.empty()) std::memcpy(data.get(), file.data(), file.size());
    is_read = detail::read_jpeg_frame(data.get(), bytes, frame);
  }

  /// Of its scan.
  [[nodiscard]] std::uint32_t blocks() const { return frame.mcus() * frame.blocks(); }

  std::uint32_t bytes;
  std::unique_ptr<std::uint8_t[]> data;
  detail::jpeg_frame frame{};
  bool is_read;  ///< whether its header is one that devices take
};

/// What became of a scan.
struct jpeg_scan_result {
  std::vector<std::int16_t> blocks;  ///< coefficients
  bool is_whole = false;
  detail::jpeg_verdict verdict = detail::jpeg_verdict::unsure;  ///< of segments
  int rounds = 0;  ///< in which lanes decoded once more
};

/// @tparam Lanes 0: one reader reads the scan.
/// @param file  Its header is read.
/// @param count Of blocks that may be written.
/// @param room  Bytes for the copy of the scan; what does not fit is read by one.
template <std::uint32_t Lanes>
jpeg_scan_result read_jpeg_scan(const jpeg_file& file, std::uint32_t count, std::size_t room) {
  jpeg_scan_result found{
      std::vector<std::int16_t>(std::size_t{file.blocks()} * detail::jpeg_block_samples)};
  detail::jpeg_factors factors;
  detail::build(factors, file.data.get(), file.frame);
  const detail::jpeg_coefficient_writer writer{factors, found.blocks.data(), count};
  const auto tables = std::make_unique<detail::jpeg_scan_tables>();
  std::memset(tables.get(), 0xCD, sizeof(*tables));
  const detail::jpeg_scan scan{file.data.get(), file.bytes, file.frame, *tables};
  if constexpr (Lanes == 0) {
    host_warp<4> warp;
    detail::build_tables(warp, scan);
    found.is_whole = detail::jpeg_scan_reader{scan, writer}.is_whole();
  } else {
    const auto segment_tables = std::make_unique<detail::jpeg_segment_tables>();
    std::memset(segment_tables.get(), 0xCD, sizeof(*segment_tables));
    const auto words = std::make_unique<std::uint32_t[]>(room / 4);
    std::memset(words.get(), 0xCD, room / 4 * 4);
    host_warp<Lanes> warp;
    warp.last_first = true;
    detail::jpeg_scan_segments segments{
        warp, scan, writer, *segment_tables, {words.get(), room / 4 * 4}};
    found.verdict = segments.read();
    found.rounds = warp.rounds;
    found.is_whole = found.verdict == detail::jpeg_verdict::unsure
                         ? detail::is_jpeg_scan_whole(warp, scan, writer)
                         : found.verdict == detail::jpeg_verdict::whole;
  }
  return found;
}

/// The same, with room for all.
template <std::uint32_t Lanes>
jpeg_scan_result read_jpeg_scan(const jpeg_file& file) {
  return read_jpeg_scan<Lanes>(file, file.blocks(), file.bytes + 20);
}

}  // namespace feedline::test
