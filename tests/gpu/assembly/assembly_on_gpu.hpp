#pragma once

#include <feedline/backend/device.hpp>

#include "device/owned.hpp"
#include "gpu/assembly/assembly_case.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <vector>

namespace feedline::test {

/// Memory of cached rows; with `host_passing` they pass through other memory of the device.
enum class kept_in { device, host, host_passing };

/// A copy of host bytes in memory that the GPU reads and writes, between guards.
class gpu_copy {
 public:
  gpu_copy(const device_ptr& device, const std::vector<std::byte>& bytes, std::size_t shift = 0);

  [[nodiscard]] std::byte* data() const { return memory_.data() + before_; }

  /// The bytes now; the guards must be whole.
  [[nodiscard]] std::vector<std::byte> read_back() const;

 private:
  std::size_t size_;
  std::size_t before_;
  detail::device_memory memory_;
};

/// A copy of host bytes in host memory that the GPU reads.
class mapped_copy {
 public:
  mapped_copy(device_ptr device, const std::vector<std::byte>& bytes, std::size_t shift);
  mapped_copy(const mapped_copy&) = delete;
  mapped_copy& operator=(const mapped_copy&) = delete;
  ~mapped_copy() { device_->unmap(span()); }

  [[nodiscard]] const std::byte* data() const { return address_ + shift_; }

  /// Overwrites bytes that must not be read.
  void spoil(std::size_t at, std::size_t bytes) {
    std::fill_n(memory_.get() + shift_ + at, bytes, std::byte{0x99});
  }

 private:
  struct free_pages {
    void operator()(std::byte* memory) const { std::free(memory); }
  };
  [[nodiscard]] std::span<const std::byte> span() const { return {memory_.get(), size_}; }

  device_ptr device_;
  std::size_t size_;  ///< size in whole pages
  std::unique_ptr<std::byte, free_pages> memory_;
  std::size_t shift_;
  const std::byte* address_ = nullptr;
};

/// Runs a case on the GPU and compares the slot, and the cached rows where they may be written,
/// with the reference, bit for bit.
/// @param seed Seed of the rows and their sources.
/// @param shift Offset of the cached rows from a multiple of 256 bytes.
/// @param staged The copy destination's bytes are in host memory too.
/// @param apart  Some of the first and last cached rows in host memory are apart, on the GPU.
void check_on_gpu(const case_options& options, std::vector<case_field> fields, std::uint64_t seed,
                  kept_in where, std::size_t shift = 0, bool staged = false, bool apart = false);

inline constexpr element_type all_types[] = {
    element_type::u8,     element_type::i8,   element_type::u16, element_type::i16,
    element_type::u32,    element_type::i32,  element_type::u64, element_type::i64,
    element_type::f16,    element_type::bf16, element_type::f32, element_type::f64,
    element_type::boolean};
inline constexpr element_type all_whole[] = {
    element_type::u8,  element_type::i8,  element_type::u16,
    element_type::i16, element_type::u32, element_type::i32,
    element_type::u64, element_type::i64, element_type::boolean};
inline constexpr element_type all_targets[] = {element_type::f32, element_type::f16,
                                               element_type::bf16};

}  // namespace feedline::test
