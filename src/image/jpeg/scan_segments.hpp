#pragma once

#include "detail/host_device.hpp"
#include "image/jpeg/frame.hpp"
#include "image/jpeg/scan.hpp"
#include "image/jpeg/scan_intervals.hpp"
#include "image/jpeg/scan_segment.hpp"
#include "image/jpeg/scan_tables.hpp"

#include <cstdint>
#include <type_traits>

namespace feedline::detail {

/// Decodes a scan by all lanes of a warp; what it says is that of `is_whole_jpeg_scan`.
///
/// A scan without restart markers is one chain of codes, but who begins to decode it anywhere is
/// soon in step with it: codes synchronize themselves. So its bytes are cut into segments, which
/// are decoded at once, each from a guess, and again from where the one before it ended, until no
/// end changes any more (Weissenberger and Schmidt, "Massively Parallel Huffman Decoding on GPUs",
/// 2018).
///
/// Segments end so far before the first marker that a serial reader has read them its fast way;
/// from there on one lane goes on as that does. Coefficients are written once the ends are known,
/// and with them the blocks before each segment.
///
/// @tparam Warp Has `lanes`; `per_lane<T>`, whose value of a lane is `[lane]`; and
///   each(f)          calls f(lane) for each lane
///   once(f)          the bool f() that one lane has
///   any(per_lane<bool>), least(per_lane<uint32>), sum(per_lane<uint32>)
///   sum_before(per_lane<uint32>)  of the lanes before each
///   before(per_lane<uint64>)      the value of the lane before; of the first its own
///   last(per_lane<uint64>)        of the last lane
/// On a GPU each thread of the warp calls it, and all see the scan's tables.
/// @tparam Coefficients `no_jpeg_coefficients` or `jpeg_coefficient_writer`.
template <class Warp, class Coefficients = no_jpeg_coefficients>
class jpeg_scan_segments {
 public:
  FEEDLINE_HOST_DEVICE jpeg_scan_segments(Warp& warp, const jpeg_scan& scan,
                                          const Coefficients& coefficients = {})
      : warp_{warp}, scan_{scan}, coefficients_{coefficients} {}

  FEEDLINE_HOST_DEVICE bool is_whole() {
    if (scan_.bytes == scan_.frame.scan) return false;  // cut where the scan begins
    jpeg_scan_reader<Coefficients> serial{scan_, coefficients_};
    (void)warp_.once([&] {
      serial.build_tables();
      return true;
    });
    if (scan_.frame.restart_interval != 0) {
      jpeg_scan_intervals intervals{warp_, scan_, coefficients_};
      if (!intervals.are_found()) return warp_.once([&] { return serial.is_whole(); });
      return intervals.are_whole();
    }
    const std::uint32_t kept = most_jpeg_block_bytes * scan_.frame.blocks() + 16;
    const std::uint32_t end = first_marker();
    if (end < scan_.frame.scan + kept + Warp::lanes * min_segment)
      return warp_.once([&] { return serial.is_whole(); });

    cut(end - kept);
    decode();
    if constexpr (Coefficients::takes) write();
    const std::uint32_t blocks = warp_.sum(blocks_);
    const std::uint32_t mcus = blocks / scan_.frame.blocks();
    const std::uint64_t last = warp_.last(ends_);
    const auto last_need = static_cast<std::uint32_t>(warp_.last(last_needs_));
    if (mcus >= scan_.frame.mcus()) return false;  // too many bytes are left
    jpeg_scan_place place = place_of(unpack(last).position, last_need);
    place.block = blocks;
    for (std::uint32_t i = 0; i < 3; ++i)
      place.dc[i] = static_cast<std::int32_t>(warp_.sum(dc_[i]));
    return warp_.once([&] { return serial.is_rest_whole(place, scan_.frame.mcus() - mcus); });
  }

 private:
  template <class T>
  using per_lane = typename Warp::template per_lane<T>;
  using walked_coefficients =
      std::conditional_t<Coefficients::takes, unwritten_jpeg_coefficients, no_jpeg_coefficients>;

  static constexpr std::uint32_t min_segment = 64;  ///< bytes

  [[nodiscard]] FEEDLINE_HOST_DEVICE static std::uint64_t pack(const jpeg_scan_point& point) {
    return std::uint64_t{point.passed} << 48U | std::uint64_t{point.unit} << 32U | point.position;
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE static jpeg_scan_point unpack(std::uint64_t packed) {
    return {static_cast<std::uint32_t>(packed), static_cast<std::uint16_t>(packed >> 32U),
            static_cast<std::uint16_t>(packed >> 48U)};
  }
  /// Where among `count` bytes behind the scan's begin a lane's share begins.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t share(std::uint32_t count,
                                                         std::uint32_t lane) const {
    return scan_.frame.scan + static_cast<std::uint32_t>(std::uint64_t{count} * lane / Warp::lanes);
  }

  /// Where the first byte lies behind which no codes can follow: a marker's, or the file's last.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t first_marker() {
    const std::uint32_t last = scan_.bytes - 1;
    per_lane<std::uint32_t> found;
    warp_.each([&](std::uint32_t lane) {
      std::uint32_t at = share(last - scan_.frame.scan, lane);
      const std::uint32_t end = share(last - scan_.frame.scan, lane + 1);
      while (at < end && (scan_.file[at] != 0xFF || scan_.file[at + 1] == 0)) ++at;
      found[lane] = at < end ? at : last;
    });
    return warp_.least(found);
  }

  /// Cuts the scan's bytes up to one into a segment a lane.
  FEEDLINE_HOST_DEVICE void cut(std::uint32_t limit) {
    per_lane<std::uint32_t> stuffed;
    warp_.each([&](std::uint32_t lane) {
      begins_at_[lane] = begin_of(limit, lane);
      const std::uint32_t end = begin_of(limit, lane + 1);
      std::uint32_t count = 0;
      for (std::uint32_t at = begins_at_[lane]; at < end; ++at)
        count += scan_.file[at] == 0xFF ? 1 : 0;
      stuffed[lane] = count;
    });
    const per_lane<std::uint32_t> before = warp_.sum_before(stuffed);
    warp_.each([&](std::uint32_t lane) {
      begins_[lane] = 8 * (begins_at_[lane] - scan_.frame.scan - before[lane]);
      segment_ends_[lane] =
          8 * (begin_of(limit, lane + 1) - scan_.frame.scan - before[lane] - stuffed[lane]);
    });
    end_ = {begin_of(limit, Warp::lanes), static_cast<std::uint32_t>(warp_.last(segment_ends_))};
  }
  /// A segment begins with no stuffed zero.
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t begin_of(std::uint32_t limit,
                                                            std::uint32_t lane) const {
    const std::uint32_t at = share(limit - scan_.frame.scan, lane);
    return at > scan_.frame.scan && scan_.file[at - 1] == 0xFF ? at + 1 : at;
  }

  template <class Taken>
  FEEDLINE_HOST_DEVICE jpeg_segment_end run(std::uint32_t lane, const jpeg_segment_end& from,
                                            const Taken& coefficients) {
    return jpeg_segment_reader{scan_, coefficients}.run(
        {begins_at_[lane], begins_[lane]}, from, static_cast<std::uint32_t>(segment_ends_[lane]),
        lane + 1 == Warp::lanes);
  }

  /// Decodes all segments, until each began where the one before it ended.
  FEEDLINE_HOST_DEVICE void decode() {
    per_lane<bool> is_new;
    warp_.each([&](std::uint32_t lane) {
      froms_[lane] = pack({.position = begins_[lane]});
      is_new[lane] = true;
    });
    do {
      warp_.each([&](std::uint32_t lane) {
        if (!is_new[lane]) return;
        const jpeg_segment_end found =
            run(lane, {.point = unpack(froms_[lane])}, walked_coefficients{});
        ends_[lane] = pack(found.point);
        blocks_[lane] = found.blocks;
        last_needs_[lane] = found.last_need;
        for (std::uint32_t i = 0; i < 3; ++i)
          dc_[i][lane] = static_cast<std::uint32_t>(found.dc[i]);
      });
      const per_lane<std::uint64_t> before = warp_.before(ends_);
      warp_.each([&](std::uint32_t lane) {
        is_new[lane] = lane != 0 && froms_[lane] != before[lane];
        if (is_new[lane]) froms_[lane] = before[lane];
      });
    } while (warp_.any(is_new));
  }

  /// Writes the coefficients of all segments.
  FEEDLINE_HOST_DEVICE void write() {
    const per_lane<std::uint32_t> blocks = warp_.sum_before(blocks_);
    per_lane<std::uint32_t> dc[3];
    for (std::uint32_t i = 0; i < 3; ++i) dc[i] = warp_.sum_before(dc_[i]);
    warp_.each([&](std::uint32_t lane) {
      jpeg_segment_end from{.point = unpack(froms_[lane]), .blocks = blocks[lane]};
      for (std::uint32_t i = 0; i < 3; ++i) from.dc[i] = static_cast<std::int32_t>(dc[i][lane]);
      (void)run(lane, from, coefficients_);
    });
  }

  /// Where a serial reader is at a position: it reads 48 bits whenever it needs some and has 16 or
  /// fewer.
  [[nodiscard]] FEEDLINE_HOST_DEVICE jpeg_scan_place place_of(std::uint32_t position,
                                                              std::uint32_t last_need) const {
    constexpr std::uint32_t read_at_once = 48;
    const std::uint32_t read = (last_need + 16) / read_at_once * read_at_once + read_at_once;
    jpeg_scan_place place{.at = end_.at};
    for (std::uint32_t at = end_.position; at < read; at += 8) {
      const std::uint32_t byte = scan_.file[place.at++];
      if (byte == 0xFF) ++place.at;
      place.buffer = place.buffer << 8U | byte;
    }
    place.ready = read - position;
    return place;
  }

  Warp& warp_;
  jpeg_scan scan_;
  Coefficients coefficients_;
  per_lane<std::uint32_t> begins_at_;  ///< bytes of segments
  per_lane<std::uint32_t> begins_;     ///< positions of these
  per_lane<std::uint64_t> segment_ends_;
  per_lane<std::uint64_t> froms_;  ///< points, packed
  per_lane<std::uint64_t> ends_;
  per_lane<std::uint32_t> blocks_;
  per_lane<std::uint32_t> dc_[3];  ///< sums of differences
  per_lane<std::uint64_t> last_needs_;
  jpeg_scan_anchor end_;  ///< behind the last segment
};

}  // namespace feedline::detail
