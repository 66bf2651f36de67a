#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace feedline::detail {

/// One record of CIFAR's binary version: label bytes, then an image of three planes.
struct cifar_format {
  std::size_t label_bytes = 1;  ///< 1: CIFAR-10; 2: CIFAR-100, coarse and fine

  [[nodiscard]] constexpr std::size_t record_bytes() const noexcept {
    return label_bytes + std::size_t{3} * 32 * 32;
  }

  /// The largest value of each label byte.
  [[nodiscard]] constexpr unsigned largest_label(std::size_t byte) const noexcept {
    return label_bytes == 1 ? 9 : byte == 0 ? 19 : 99;
  }
};

inline constexpr cifar_format cifar10{1};
inline constexpr cifar_format cifar100{2};

/// Whether a file may be of the format, which has no magic number: it is a whole number of records,
/// and the labels that `head` shows are some. So look for all others first.
/// @param head Its first bytes; 2 are enough, more say more.
[[nodiscard]] constexpr bool is_cifar(cifar_format format, std::span<const std::byte> head,
                                      std::uint64_t file_bytes) noexcept {
  if (file_bytes == 0 || file_bytes % format.record_bytes() != 0) return false;
  for (std::size_t at = 0; at < head.size(); at += format.record_bytes())
    for (std::size_t i = 0; i < format.label_bytes && at + i < head.size(); ++i)
      if (std::to_integer<unsigned>(head[at + i]) > format.largest_label(i)) return false;
  return true;
}

}  // namespace feedline::detail
