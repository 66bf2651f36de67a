#pragma once

#include "detail/host_device.hpp"

#include <cstddef>
#include <cstdint>

namespace feedline::detail {

/// Memory that a warp shares: the bytes of a stream that it reads next.
template <class Warp>
struct byte_stage {
  static constexpr std::uint32_t words = 4 * Warp::lanes;

  std::uint32_t word[words];
};

/// Bytes that are read one by one, from the first to the last. They pass through shared memory,
/// many at a time, because a GPU's other memory has ten times the latency.
///
/// Reads whole words of 4 bytes, only those that contain the bytes. After the last byte, other
/// bytes are returned.
template <class Warp>
class staged_bytes {
 public:
  FEEDLINE_HOST_DEVICE staged_bytes(Warp& warp, byte_stage<Warp>& stage, const std::byte* from,
                                    std::uint32_t bytes)
      : warp_{warp},
        stage_{stage},
        lead_{static_cast<std::uint32_t>(reinterpret_cast<std::uintptr_t>(from) % 4)},
        words_{reinterpret_cast<const std::uint32_t*>(from - lead_)},
        count_{(lead_ + bytes + 3) / 4} {}

  /// Makes byte `at` ready, and as many bytes from it on as there are lanes. @param at Never
  /// decreases.
  FEEDLINE_HOST_DEVICE void need(std::uint32_t at) {
    using std::uint32_t;
    const uint32_t end = lead_ + at + Warp::lanes;
    if (end <= end_) return;
    const uint32_t first = (lead_ + at) / 4;
    warp_.sync();  // other threads may still read the old bytes
    warp_.each([&](uint32_t lane) {
      for (uint32_t i = lane; i < byte_stage<Warp>::words; i += Warp::lanes)
        stage_.word[i] = first + i < count_ ? words_[first + i] : 0;
    });
    begin_ = 4 * first;
    end_ = begin_ + static_cast<uint32_t>(sizeof stage_.word);
  }
  [[nodiscard]] FEEDLINE_HOST_DEVICE std::uint32_t operator[](std::uint32_t at) const {
    return reinterpret_cast<const std::uint8_t*>(stage_.word)[lead_ + at - begin_];
  }

 private:
  Warp& warp_;
  byte_stage<Warp>& stage_;
  std::uint32_t lead_;  ///< bytes before the first byte in its word: offsets count from there
  const std::uint32_t* words_;
  std::uint32_t count_;
  std::uint32_t begin_ = 0;  ///< begin of the bytes that are ready
  std::uint32_t end_ = 0;
};

}  // namespace feedline::detail
