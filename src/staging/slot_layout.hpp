#pragma once

#include <feedline/backend/assembly.hpp>
#include <feedline/dataset/field.hpp>

#include "detail/arithmetic.hpp"
#include "staging/request_layout.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {

/// Bytes of one sample's value of each field, in batches of any size.
class row_sizes {
 public:
  /// Fields whose size is the same in every batch.
  row_sizes(std::vector<std::size_t> bytes)  // NOLINT(google-explicit-constructor)
      : bytes_{std::move(bytes)}, pixel_bytes_(bytes_.size(), 0) {}
  /// @param absent For each field, whether it has no rows, so 0 bytes. Empty: all have some.
  explicit row_sizes(const std::vector<field>& fields, const std::vector<bool>& absent = {});

  /// @param size Height and width of images in the batch; empty: the largest.
  [[nodiscard]] std::size_t of(std::size_t place,
                               const std::optional<image_size>& size = {}) const noexcept {
    const bool differs = size && pixel_bytes_[place] != 0;
    return differs ? pixel_bytes_[place] * size->pixels() : bytes_[place];
  }
  [[nodiscard]] const std::vector<std::size_t>& largest() const noexcept { return bytes_; }

 private:
  std::vector<std::size_t> bytes_;
  std::vector<std::size_t> pixel_bytes_;  ///< 0: the field's size is the same in every batch
};

/// Offsets in a slot, staging or device: batch after batch, in each batch field after field, each
/// at a multiple of 256 bytes. So the batches of a slot, or its first few, are one copy.
///
/// There is room for the largest images. The rows of a batch of smaller ones are dense, from the
/// field's offset on.
///
///     slot:  | batch 0                    | batch 1                    | …
///     batch: | field 0: rows … pad | field 1: rows … pad |
class slot_layout {
 public:
  static constexpr std::size_t alignment = 256;

  /// @param batch_size       Samples in a batch, at least 1.
  /// @param batches_per_slot At least 1.
  /// @param left_out         For each field, whether its rows are elsewhere (`host_rows`). Empty if
  ///                         none are; never all.
  /// @param absent           For each field, whether it has no rows in this form: the device makes
  ///                         them. Empty if all have rows; never all.
  /// @throws usage_error if a slot's bytes do not fit in 62 bits.
  slot_layout(std::vector<field> fields, std::uint64_t batch_size, std::uint64_t batches_per_slot,
              std::vector<bool> left_out = {}, const std::vector<bool>& absent = {});

  [[nodiscard]] std::span<const field> fields() const noexcept { return fields_; }
  [[nodiscard]] std::uint64_t batch_size() const noexcept { return batch_size_; }
  [[nodiscard]] std::uint64_t batches_per_slot() const noexcept { return batches_per_slot_; }

  /// Distance from one batch of a slot to the next.
  [[nodiscard]] std::size_t batch_bytes() const noexcept { return batch_bytes_; }
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return batch_bytes_ * batches_per_slot_; }
  /// Bytes of a slot of this many batches. @throws usage_error as the constructor.
  [[nodiscard]] std::size_t slot_bytes(std::uint64_t batches) const;
  /// Changes the batches per slot. @throws usage_error as the constructor.
  void set_batches_per_slot(std::uint64_t batches);

  /// Whether the rows of a field are elsewhere.
  [[nodiscard]] bool leaves_out(std::size_t place) const noexcept {
    return !left_out_.empty() && left_out_[place];
  }
  [[nodiscard]] const std::vector<bool>& left_out() const noexcept { return left_out_; }
  /// Offset of a field in a batch.
  [[nodiscard]] std::size_t field_offset(std::size_t place) const noexcept {
    return offsets_[place];
  }
  /// Bytes of one sample's value of a field, and of each field.
  /// @param size Same as for `row_sizes`.
  [[nodiscard]] std::size_t row_bytes(std::size_t place,
                                      const std::optional<image_size>& size = {}) const noexcept {
    return rows_.of(place, size);
  }
  [[nodiscard]] const std::vector<std::size_t>& row_bytes() const noexcept {
    return rows_.largest();
  }
  [[nodiscard]] const row_sizes& rows() const noexcept { return rows_; }
  /// Bytes of one sample's values of all fields, also of those that are left out.
  [[nodiscard]] std::size_t sample_bytes() const noexcept { return sample_bytes_; }

  /// Bytes from the slot's start to the end of its last sample when it holds `samples`: the
  /// part that must be copied. 0 for none.
  [[nodiscard]] std::size_t used_bytes(std::uint64_t samples) const noexcept;

 private:
  std::vector<field> fields_;
  row_sizes rows_;
  std::vector<bool> left_out_;
  std::size_t last_ = 0;  ///< index of the last field that is not left out
  std::vector<std::size_t> offsets_;
  std::uint64_t batch_size_;
  std::uint64_t batches_per_slot_;
  std::size_t sample_bytes_ = 0;
  std::size_t batch_bytes_ = 0;
};

/// Offsets in a staging slot that is assembled on the device, and so in the device buffer that it
/// is copied to, except for blocks that the device decodes. `assembly` defines the format.
///
///     | sources | random bits | directory | chunk | chunk | … as many as are needed
///
/// After everything else, the device buffer may have room for rows that the device fetches itself.
///
/// Chunks are claimed in the order in which runs are read. So the part to copy is a prefix, and a
/// slot whose rows are all kept on the device is only its tables.
class destination_layout {
 public:
  static constexpr std::size_t alignment = 16;
  static constexpr std::size_t word = sizeof(std::uint32_t);

  /// @param rows     Row size of each field of the dataset.
  /// @param samples  Samples that a slot has table entries for.
  /// @param runs     How slots are cut.
  /// @param varies   Some conversion draws random numbers.
  /// @param more_runs Number of runs beyond `runs` that a slot may have.
  /// @param arriving Samples whose rows may have to be copied; there is room for this many.
  /// @param keeps    Rows that arrive may be kept.
  /// @param loads_bytes Room for blocks that the device decodes, with their table, from `chunks_at`
  /// on.
  /// @param passes For each field, whether its rows pass only through the device buffer, from
  ///               mapped memory to a conversion; empty: no field's do.
  destination_layout(row_sizes rows, std::uint64_t samples, const request_layout& runs, bool varies,
                     std::uint64_t arriving, bool keeps, std::uint64_t more_runs = 0,
                     std::size_t loads_bytes = 0, const std::vector<bool>& passes = {});

  [[nodiscard]] std::size_t sources_at() const noexcept { return 0; }
  [[nodiscard]] std::size_t random_bits_at() const noexcept { return random_bits_at_; }
  [[nodiscard]] std::size_t directory_at() const noexcept { return directory_at_; }
  /// Offset of the first chunk: a slot without chunks ends here.
  [[nodiscard]] std::size_t chunks_at() const noexcept { return chunks_at_; }
  [[nodiscard]] bool varies() const noexcept { return varies_; }
  [[nodiscard]] bool keeps() const noexcept { return keeps_; }

  /// One run's entry in the directory.
  [[nodiscard]] std::size_t entry_words() const noexcept { return 2 + fields(); }
  [[nodiscard]] std::size_t entry_at(std::uint64_t run) const noexcept {
    return directory_at_ + run * entry_words() * word;
  }

  /// Bytes of a chunk's keep numbers.
  [[nodiscard]] std::size_t keep_bytes(std::uint64_t rows) const noexcept {
    return keeps_ ? round_up(rows * word, alignment) : 0;
  }
  /// Bytes of one field in a chunk. @param size Same as for `row_sizes`.
  [[nodiscard]] std::size_t field_bytes(std::size_t place, std::uint64_t rows,
                                        const std::optional<image_size>& size = {}) const noexcept {
    return round_up(rows * rows_.of(place, size), alignment);
  }
  /// Bytes of a chunk.
  [[nodiscard]] std::size_t chunk_bytes(std::uint64_t rows,
                                        const std::optional<image_size>& size = {}) const noexcept;
  [[nodiscard]] std::size_t row_bytes(std::size_t place,
                                      const std::optional<image_size>& size = {}) const noexcept {
    return rows_.of(place, size);
  }
  [[nodiscard]] std::size_t fields() const noexcept { return rows_.largest().size(); }
  /// Offset where a field's rows pass through; 0 if they do not.
  [[nodiscard]] std::size_t passes_at(std::size_t place) const noexcept {
    return passes_at_[place];
  }

  /// Bytes of a slot all of whose rows arrive.
  [[nodiscard]] std::size_t slot_bytes() const noexcept { return slot_bytes_; }
  /// Bytes of the device buffer that a slot is copied to: blocks go elsewhere.
  [[nodiscard]] std::size_t destination_bytes() const noexcept { return destination_bytes_; }

 private:
  row_sizes rows_;
  std::vector<std::size_t> passes_at_;
  bool varies_;
  bool keeps_;
  std::size_t random_bits_at_ = 0;
  std::size_t directory_at_ = 0;
  std::size_t chunks_at_ = 0;
  std::size_t destination_bytes_ = 0;
  std::size_t slot_bytes_ = 0;
};

}  // namespace feedline::detail
