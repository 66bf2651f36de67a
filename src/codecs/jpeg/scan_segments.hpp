#pragma once

#include "codecs/jpeg/coefficients.hpp"
#include "codecs/jpeg/frame.hpp"
#include "codecs/jpeg/marker.hpp"
#include "codecs/jpeg/scan_bits.hpp"
#include "codecs/jpeg/scan_copy.hpp"
#include "codecs/jpeg/scan_end.hpp"
#include "codecs/jpeg/scan_segment.hpp"
#include "codecs/jpeg/scan_tables.hpp"
#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

/// Memory to which a scan's bytes are copied.
struct jpeg_scan_room {
  std::uint32_t* words;
  std::uint64_t bytes;
};

/// Result of decoding a scan.
enum class jpeg_verdict : std::uint8_t { broken, whole, unsure };

/// Decodes a scan by all lanes of a team, with the coefficients that `is_jpeg_scan_whole` would
/// write.
///
/// A scan without restart markers is one chain of codes, but a decoder that begins anywhere is soon
/// in step with it: the codes synchronize themselves. So the bits are cut into segments, which are
/// decoded at once, each first from a guess, and again from where the one before it ended, until no
/// end changes any more (Weissenberger and Schmidt, "Massively Parallel Huffman Decoding on GPUs",
/// 2018). Coefficients are written once the ends are known, and with them the number of blocks
/// before each segment.
///
/// The result is `unsure` if it depends on how far a reader has read ahead: if whole bytes are left
/// after the last block, if bits near the end are no code, or if a marker turns out to be data.
/// Scans with restart markers are not tried, nor scans that are too short for this many lanes, or
/// too long for the room. A serial reader must read all these.
///
/// @tparam Team Has `lanes`, at least four; `per_lane<T>`, where `[lane]` is a lane's value; and
///   each(f)          calls f(lane) for each lane
///   once(f)          the bool f(), called by one lane
///   any(per_lane<bool>), least(per_lane<uint32>), sum(per_lane<uint32>)
///   sum_before(per_lane<uint32>)  for each lane, the sum over the lanes before it
///   before(per_lane<uint64>)      the value of the lane before; the first gets its own
/// On a GPU each thread of the team calls it, and all see the tables.
template <class Team>
class jpeg_scan_segments {
 public:
  /// @param tables Working memory, like that of the scan.
  FEEDLINE_HOST_DEVICE jpeg_scan_segments(Team& team, const jpeg_scan& scan,
                                          const jpeg_coefficient_writer& coefficients,
                                          jpeg_segment_tables& tables, const jpeg_scan_room& room)
      : team_{team}, scan_{scan}, coefficients_{coefficients}, tables_{tables}, room_{room} {}

  FEEDLINE_HOST_DEVICE jpeg_verdict read() {
    if (scan_.bytes == scan_.frame.scan) return jpeg_verdict::broken;  // cut at its beginning
    if (scan_.frame.restart_interval != 0) return jpeg_verdict::unsure;
    jpeg_scan_copy copy{team_, scan_};
    if (copy.bytes() < Team::lanes * min_segment || copy.room() > room_.bytes)
      return jpeg_verdict::unsure;
    bits_ = copy.copy_to(room_.words);
    build_tables(team_, scan_);
    build_segment_tables();
    decode();
    write();
    sum_differences();
    return judge(copy.marker());
  }

 private:
  template <class T>
  using per_lane = typename Team::template per_lane<T>;

  static constexpr std::uint32_t min_segment = 8;  ///< bytes
  static constexpr std::uint32_t none = 0xFFFFFFFF;

  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint64_t pack(const jpeg_scan_point& point) {
    return std::uint64_t{point.passed} << 48U | std::uint64_t{point.unit} << 32U | point.position;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE static jpeg_scan_point unpack(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed), static_cast<std::uint16_t>(packed >> 32U),
            static_cast<std::uint16_t>(packed >> 48U)};
  }

  FEEDLINE_HOST_DEVICE void build_segment_tables() {
    team_.each([&](std::uint32_t lane) {
      for (std::uint32_t table = 0; table < 4; ++table)
        if (scan_.frame.huffman[table] != 0)
          for (std::uint32_t entry = lane; entry < 1U << tables_.bits(table < 2);
               entry += Team::lanes)
            tables_.build(scan_.tables, table, entry);
    });
  }

  /// Decodes all segments, until each begins where the one before it ended.
  FEEDLINE_HOST_DEVICE void decode() {
    per_lane<bool> is_new;
    per_lane<std::uint64_t> ends;
    team_.each([&](std::uint32_t lane) {
      froms_[lane] = pack({.position = bits_.begin_of(lane)});
      is_new[lane] = true;
    });
    do {
      team_.each([&](std::uint32_t lane) {
        if (!is_new[lane]) return;
        const jpeg_segment_end found = jpeg_segment_reader{scan_, tables_, bits_}.walk(
            unpack(froms_[lane]), bits_.begin_of(lane + 1));
        ends[lane] = pack(found.point);
        blocks_[lane] = found.blocks;
      });
      const per_lane<std::uint64_t> before = team_.before(ends);
      team_.each([&](std::uint32_t lane) {
        is_new[lane] = lane != 0 && froms_[lane] != before[lane];
        if (is_new[lane]) froms_[lane] = before[lane];
      });
    } while (team_.any(is_new));
  }

  /// Writes the coefficients of all segments, with the first ones of blocks as differences.
  FEEDLINE_HOST_DEVICE void write() {
    const std::uint32_t all = scan_.frame.mcus() * scan_.frame.blocks();
    const per_lane<std::uint32_t> blocks = team_.sum_before(blocks_);
    per_lane<std::uint32_t> ends;
    per_lane<bool> is_unknown;
    team_.each([&](std::uint32_t lane) {
      const jpeg_segment_end from{unpack(froms_[lane]), blocks[lane]};
      jpeg_segment_reader reader{scan_, tables_, bits_};
      const jpeg_segment_end end = reader.write(from, bits_.begin_of(lane + 1), coefficients_);
      ends[lane] = end.blocks == all ? end.point.position : none;
      const std::uint32_t near = 8 * (max_jpeg_block_bytes * scan_.frame.blocks() + 16);
      is_unknown[lane] = reader.last_unknown() != 0 && reader.last_unknown() + near > bits_.count;
    });
    end_ = team_.least(ends);
    is_unknown_ = team_.any(is_unknown);
  }

  /// Turns differences into first coefficients. Each lane handles some consecutive MCUs.
  FEEDLINE_HOST_DEVICE void sum_differences() {
    const std::uint32_t blocks = scan_.frame.blocks();
    const auto for_blocks = [&](std::uint32_t lane, const auto& function) {
      const auto mcus = [&](std::uint32_t end) {
        return static_cast<std::uint32_t>(std::uint64_t{scan_.frame.mcus()} * end / Team::lanes);
      };
      for (std::uint32_t mcu = mcus(lane); mcu < mcus(lane + 1); ++mcu)
        for (std::uint32_t unit = 0; unit < blocks; ++unit)
          function(mcu * blocks + unit, scan_.frame.component(unit));
    };
    per_lane<std::uint32_t> sums[3];
    team_.each([&](std::uint32_t lane) {
      for (per_lane<std::uint32_t>& each : sums) each[lane] = 0;
      for_blocks(lane, [&](std::uint32_t block, std::uint32_t component) {
        const auto difference = static_cast<std::uint32_t>(coefficients_.first(block));
        for (std::uint32_t i = 0; i < 3; ++i) sums[i][lane] += i == component ? difference : 0;
      });
    });
    for (per_lane<std::uint32_t>& each : sums) each = team_.sum_before(each);
    team_.each([&](std::uint32_t lane) {
      for_blocks(lane, [&](std::uint32_t block, std::uint32_t component) {
        const auto difference = static_cast<std::uint32_t>(coefficients_.first(block));
        std::uint32_t sum = 0;
        for (std::uint32_t i = 0; i < 3; ++i) {
          sums[i][lane] += i == component ? difference : 0;
          if (i == component) sum = sums[i][lane];
        }
        coefficients_.write(block, 0, static_cast<std::int32_t>(sum));
      });
    });
  }

  /// Whether the scan is complete, and the file ends properly after it.
  [[nodiscard]] FEEDLINE_HOST_DEVICE jpeg_verdict judge(std::uint32_t marker_at) const {
    std::uint32_t at = marker_at;
    const std::uint32_t marker = next_jpeg_marker(scan_.file, scan_.bytes, at);
    const bool is_data = marker == 0 && at > marker_at;  // a stuffed zero after fill bytes
    if (is_data && at < scan_.bytes) return jpeg_verdict::unsure;
    if (end_ == none) return jpeg_verdict::broken;
    const std::uint32_t left = bits_.count - end_;
    if (left >= 8 || is_unknown_) return jpeg_verdict::unsure;
    return is_jpeg_end(scan_.file, scan_.bytes, at, marker) ? jpeg_verdict::whole
                                                            : jpeg_verdict::broken;
  }

  Team& team_;
  const jpeg_scan& scan_;
  jpeg_coefficient_writer coefficients_;
  jpeg_segment_tables& tables_;
  jpeg_scan_room room_;
  jpeg_scan_bits bits_;
  per_lane<std::uint64_t> froms_;  ///< points where segments begin, packed
  per_lane<std::uint32_t> blocks_;
  std::uint32_t end_ = none;  ///< end of the scan's last block
  bool is_unknown_ = false;   ///< whether bits near the end are no code
};

}  // namespace feedline::detail
