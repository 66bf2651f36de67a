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

/// Bytes that are looked at one by one, from the first to the last. They come through shared
/// memory, many at a time: a GPU's other memory takes ten times as long to answer.
///
/// Reads whole words of 4 bytes, those that the bytes lie in. Behind the last come others.
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

  /// Has a byte ready, and as many from it on as there are lanes. @param at Never goes back.
  FEEDLINE_HOST_DEVICE void need(std::uint32_t at) {
    using std::uint32_t;
    const uint32_t end = lead_ + at + Warp::lanes;
    if (end <= end_) return;
    const uint32_t first = (lead_ + at) / 4;
    warp_.sync();  // others may still read what was here
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
  std::uint32_t lead_;  ///< bytes before the first in its word: places count from there
  const std::uint32_t* words_;
  std::uint32_t count_;
  std::uint32_t begin_ = 0;  ///< of what is ready
  std::uint32_t end_ = 0;
};

}  // namespace feedline::detail
