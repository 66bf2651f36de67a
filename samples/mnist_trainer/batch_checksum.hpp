#pragma once

#include "network.hpp"

#include <bit>
#include <cstddef>
#include <cstdint>

namespace mnist {

/// One number for all batches of a training run: every bit of every image and label, each hashed
/// with its place in the order and added up. The order shows, though any number of threads may add;
/// batch size, readers, placement and device do not.
class batch_checksum {
 public:
  batch_checksum() = default;
  batch_checksum(const batch_checksum&) = delete;
  batch_checksum& operator=(const batch_checksum&) = delete;
  virtual ~batch_checksum() = default;

  /// On a GPU, only issues work on the compute stream.
  virtual void add(const digits_view& batch) = 0;
  /// Of all batches so far. Blocks until the device has seen the last.
  [[nodiscard]] virtual std::uint64_t value() = 0;
};

/// The finalizer of SplitMix64 (Steele, Lea, Flood 2014).
constexpr std::uint64_t scramble(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

/// Words hashed for one digit: its image, two pixels at a time, and its label.
constexpr std::size_t words_per_digit(std::size_t pixels) {
  return (pixels + 1) / 2 + 1;
}

/// The hash of one word of one digit.
/// @param position The digit's number in the run, from 0.
/// @param word     Less than `words_per_digit`; 0 is the label.
constexpr std::uint64_t word_hash(std::uint64_t position, const float* image, std::size_t pixels,
                                  std::uint8_t label, std::size_t word) {
  std::uint64_t value = label;
  if (word > 0) {
    value = 0;
    const std::size_t first = (word - 1) * 2;
    for (std::size_t i = 0; i < 2 && first + i < pixels; ++i)
      value |= std::uint64_t{std::bit_cast<std::uint32_t>(image[first + i])} << (32 * i);
  }
  const std::uint64_t place = position * words_per_digit(pixels) + word;
  return scramble(value ^ scramble(place + 0x9e3779b97f4a7c15ULL));
}

/// For batches in the host's memory.
class host_batch_checksum final : public batch_checksum {
 public:
  explicit host_batch_checksum(std::size_t pixels) : pixels_{pixels} {}

  void add(const digits_view& batch) override {
    for (std::size_t i = 0; i < batch.count; ++i, ++position_)
      for (std::size_t word = 0; word < words_per_digit(pixels_); ++word)
        sum_ += word_hash(position_, batch.images + i * pixels_, pixels_, batch.labels[i], word);
  }
  [[nodiscard]] std::uint64_t value() override { return sum_; }

 private:
  std::size_t pixels_;
  std::uint64_t position_ = 0;
  std::uint64_t sum_ = 0;
};

}  // namespace mnist
