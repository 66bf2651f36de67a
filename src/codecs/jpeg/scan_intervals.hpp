#pragma once

#include "codecs/jpeg/frame.hpp"
#include "codecs/jpeg/scan.hpp"
#include "codecs/jpeg/scan_tables.hpp"
#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

/// Decodes a scan with restart markers by all lanes of a team, as `jpeg_scan_segments` does for
/// scans without. Nothing is carried across a marker, so each lane decodes the intervals that begin
/// in its share of the bytes, like a serial reader.
template <class Team>
class jpeg_scan_intervals {
 public:
  /// @param scan Its tables must be built.
  FEEDLINE_HOST_DEVICE jpeg_scan_intervals(Team& team, const jpeg_scan& scan,
                                           const jpeg_coefficient_writer& coefficients)
      : team_{team}, scan_{scan}, coefficients_{coefficients} {}

  /// Whether the file has exactly the restart markers that it must have. If not, a serial reader
  /// must decide: the scan may be damaged, or bytes after it may look like markers.
  FEEDLINE_HOST_DEVICE bool are_found() {
    team_.each([&](std::uint32_t lane) {
      counts_[lane] = 0;
      for_markers(lane, [&](std::uint32_t) { ++counts_[lane]; });
    });
    return team_.sum(counts_) + 1 == intervals();
  }

  /// Whether the scan is complete, with the result of a serial reader. @pre `are_found` returned
  /// true.
  FEEDLINE_HOST_DEVICE bool are_whole() {
    const per_lane<std::uint32_t> before = team_.sum_before(counts_);
    per_lane<bool> is_broken;
    per_lane<std::uint32_t> discards;
    per_lane<std::uint32_t> sought;
    team_.each([&](std::uint32_t lane) {
      jpeg_scan_reader reader{scan_, coefficients_};
      is_broken[lane] = false;
      discards[lane] = none;
      sought[lane] = none;
      std::uint32_t number = before[lane];
      const auto read = [&](std::uint32_t at) {
        if (!reader.is_interval_whole(number, at)) is_broken[lane] = true;
        if (reader.has_discarded() && discards[lane] == none) discards[lane] = number;
        if (reader.has_sought_marker()) sought[lane] = none - 1 - number;
      };
      if (lane == 0) read(scan_.frame.scan);
      for_markers(lane, [&](std::uint32_t marker) {
        ++number;
        read(marker + 2);
      });
    });
    if (team_.any(is_broken)) return false;
    // A serial reader finds the scan damaged if it looks for a marker after it has discarded bytes.
    const std::uint32_t first_discards = team_.least(discards);
    const std::uint32_t last_sought = team_.least(sought);
    return first_discards == none || last_sought == none || none - 1 - last_sought < first_discards;
  }

 private:
  template <class T>
  using per_lane = typename Team::template per_lane<T>;

  static constexpr std::uint32_t none = 0xFFFFFFFF;

  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t intervals() const {
    return (scan_.frame.mcus() + scan_.frame.restart_interval - 1U) / scan_.frame.restart_interval;
  }
  /// Calls f(offset) for each restart marker that begins in a lane's share.
  template <class Function>
  FEEDLINE_HOST_DEVICE void for_markers(std::uint32_t lane, Function f) const {
    const std::uint64_t count = scan_.bytes - 1 - scan_.frame.scan;
    const auto end =
        scan_.frame.scan + static_cast<std::uint32_t>(count * (lane + 1) / Team::lanes);
    for (auto at = scan_.frame.scan + static_cast<std::uint32_t>(count * lane / Team::lanes);
         at < end; ++at)
      if (scan_.file[at] == 0xFF && (scan_.file[at + 1] & 0xF8U) == 0xD0) f(at);
  }

  Team& team_;
  jpeg_scan scan_;
  jpeg_coefficient_writer coefficients_;
  per_lane<std::uint32_t> counts_;  ///< number of markers in each share
};

/// Reads any scan, with the result of a serial reader: a scan with restart markers by all lanes,
/// any other by one.
/// @return Whether it is complete.
template <class Team>
FEEDLINE_HOST_DEVICE bool is_jpeg_scan_whole(Team& team, const jpeg_scan& scan,
                                             const jpeg_coefficient_writer& coefficients) {
  build_tables(team, scan);
  if (scan.frame.restart_interval != 0) {
    jpeg_scan_intervals intervals{team, scan, coefficients};
    if (intervals.are_found()) return intervals.are_whole();
  }
  return team.once([&] { return jpeg_scan_reader{scan, coefficients}.is_whole(); });
}

}  // namespace feedline::detail
