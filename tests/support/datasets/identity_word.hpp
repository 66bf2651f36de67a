#pragma once

#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::test {

/// Eight bytes of an identity row, starting at byte 8 × `place`. The mixing is splitmix64's
/// (Steele, Lea, Flood, "Fast splittable pseudorandom number generators", 2014): neighbouring
/// samples and neighbouring words share no pattern, so a row shifted by any number of bytes is a
/// wrong row.
FEEDLINE_HOST_DEVICE inline std::uint64_t identity_word(std::uint64_t sample,
                                                        std::uint64_t place) noexcept {
  std::uint64_t mixed = sample * 0xd1342543de82ef95u + (place + 1) * 0x9e3779b97f4a7c15u;
  mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
  mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
  return mixed ^ (mixed >> 31);
}

}  // namespace feedline::test
