#pragma once

#include <feedline/dataset/chunking.hpp>
#include <feedline/dataset/decoder.hpp>
#include <feedline/dataset/encoded_blocks.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/error.hpp>
#include <feedline/index.hpp>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

namespace feedline::detail {

/// A coded value or record for each sample, however they are stored: in files of their own, as
/// parts of files, as members of a shard, as runs of an array.
///
/// Threads: any number, at once.
class coded_values {
 public:
  /// Returns memory for a number of bytes.
  using room = std::function<std::span<std::byte>(std::size_t)>;

  coded_values() = default;
  coded_values(const coded_values&) = delete;
  coded_values& operator=(const coded_values&) = delete;
  virtual ~coded_values() = default;

  [[nodiscard]] virtual std::uint64_t size() const = 0;
  /// Stored size of a value, if known before it is read; 0: unknown. May ask the system.
  [[nodiscard]] virtual std::uint64_t stored_bytes(std::uint64_t sample) const = 0;
  /// Reads a whole value. @param memory Is asked once.
  /// @throws dataset_error that says where the value is.
  virtual std::span<const std::byte> read(std::uint64_t sample, const room& memory) const = 0;
  /// The same for a value whose stored size is known.
  /// @param out Has room for `bytes` bytes, at least; may be used if the value still has this size.
  virtual std::span<const std::byte> read_expected(std::uint64_t sample, std::span<std::byte> out,
                                                   std::size_t bytes, const room& memory) const {
    (void)out;
    (void)bytes;
    return read(sample, memory);
  }
  /// Throws the error of a decoder again, with the location of the value. A field that the error
  /// names is kept.
  [[noreturn]] virtual void refuse(const dataset_error& fault, std::uint64_t sample) const = 0;

  /// Same as the functions of `dataset`.
  [[nodiscard]] virtual bool wants_prefetch() const noexcept { return false; }
  virtual void prefetch(std::span<const sample_index> samples) const noexcept { (void)samples; }
  [[nodiscard]] virtual bool hints_ranges() const noexcept { return false; }
  [[nodiscard]] virtual chunking chunks() const { return {}; }
  [[nodiscard]] virtual unsigned reads_in_processes() const { return 0; }
  [[nodiscard]] virtual batch_sizes_ptr sizes() const { return nullptr; }
};

using coded_values_ptr = std::shared_ptr<const coded_values>;

/// Room for a value in memory that grows to the largest value, and stays.
[[nodiscard]] inline std::span<std::byte> room_in(std::vector<std::byte>& memory,
                                                  std::size_t bytes) {
  if (memory.size() < bytes) memory.resize(bytes);
  return std::span{memory}.first(bytes);
}

/// Values as they are stored, for devices that decode: a block is a value. Values that devices
/// cannot decode are decoded here and returned as rows. Asks for the size of every value, and keeps
/// 4 bytes for each. Null: devices decode no values of this decoder.
[[nodiscard]] std::shared_ptr<const encoded_blocks> make_value_blocks(coded_values_ptr of,
                                                                      decoder_ptr by,
                                                                      field decoded);

}  // namespace feedline::detail
