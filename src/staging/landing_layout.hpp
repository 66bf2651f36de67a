#pragma once

#include <feedline/device/assembly.hpp>

#include "staging/request_layout.hpp"
#include "staging/slot_layout.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace feedline::detail {

/// Where things lie in a staging slot that is assembled on the device, and so in the landing buffer
/// into which it is copied: `assembly` has the format.
///
///     | sources | random bits | directory | chunk | chunk | … as many as are needed
///
/// Chunks are claimed in the order in which runs are read. So what must be copied is a prefix, and
/// a slot whose rows are all kept on the device is its tables alone.
class landing_layout {
 public:
  static constexpr std::size_t alignment = 16;

  /// @param rows     As the dataset has them; its batches and their number.
  /// @param runs     How slots are cut.
  /// @param varies   Some program draws.
  /// @param arrives  Rows may have to be copied: there is room for all of a slot's.
  /// @param keeps    Rows that arrive may be kept.
  landing_layout(const slot_layout& rows, const request_layout& runs, bool varies, bool arrives,
                 bool keeps);

  [[nodiscard]] std::size_t sources_at() const noexcept { return 0; }
  [[nodiscard]] std::size_t random_bits_at() const noexcept { return random_bits_at_; }
  [[nodiscard]] std::size_t directory_at() const noexcept { return directory_at_; }
  /// Where the first chunk lies: a slot with none ends here.
  [[nodiscard]] std::size_t chunks_at() const noexcept { return chunks_at_; }
  [[nodiscard]] bool varies() const noexcept { return varies_; }
  [[nodiscard]] bool keeps() const noexcept { return keeps_; }

  /// One run's entry in the directory.
  [[nodiscard]] std::size_t entry_words() const noexcept { return 2 + row_bytes_.size(); }
  [[nodiscard]] std::size_t entry_at(std::uint64_t run) const noexcept {
    return directory_at_ + run * entry_words() * sizeof(std::uint32_t);
  }

  /// Of a chunk's keep numbers.
  [[nodiscard]] std::size_t keep_bytes(std::uint64_t rows) const noexcept;
  /// Of one field in a chunk.
  [[nodiscard]] std::size_t field_bytes(std::size_t place, std::uint64_t rows) const noexcept;
  /// Of a chunk.
  [[nodiscard]] std::size_t chunk_bytes(std::uint64_t rows) const noexcept;
  [[nodiscard]] std::size_t row_bytes(std::size_t place) const noexcept {
    return row_bytes_[place];
  }
  [[nodiscard]] std::size_t fields() const noexcept { return row_bytes_.size(); }

  /// Of a slot all of whose rows arrive.
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return slot_bytes_; }

 private:
  std::vector<std::size_t> row_bytes_;
  bool varies_;
  bool keeps_;
  std::size_t random_bits_at_ = 0;
  std::size_t directory_at_ = 0;
  std::size_t chunks_at_ = 0;
  std::size_t slot_bytes_ = 0;
};

}  // namespace feedline::detail
