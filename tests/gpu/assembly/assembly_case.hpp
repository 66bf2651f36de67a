#pragma once

#include <feedline/backend/assembly.hpp>

#include "support/devices/destination_builder.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <random>
#include <span>
#include <string>
#include <vector>

namespace feedline::test {

/// Where a case's samples come from.
enum class rows_from : std::uint8_t { cached, copy_destination, both };

/// One field of a case: its conversion, its rows, and where it lies in a batch.
struct case_field {
  field_conversion conversion;
  std::size_t row_bytes = 0;
  std::size_t to_row_bytes = 0;
  std::size_t to_offset = 0;
  std::vector<std::byte> cached;    ///< all the cached rows
  std::vector<std::byte> arriving;  ///< rows that may arrive
};

/// The shape of a slot and what is to become of it.
struct case_options {
  std::uint64_t batch_size = 1;
  std::uint64_t samples = 1;
  std::uint64_t run_samples = 1;
  rows_from from = rows_from::both;
  bool keeps = false;
  std::optional<pair_mixing> mixing = {};
};

/// A whole assembly in host memory: laid out once, and described for wherever its parts are copied.
class assembly_case {
 public:
  /// Rows that are kept, and as many that may arrive.
  static constexpr std::uint64_t rows = 37;
  /// Cached rows that only `keeps` writes lie after those that samples read.
  static constexpr std::uint64_t device_row_cache = 2 * rows;

  /// Fills `fields`' rows at random, and assigns sources.
  assembly_case(const case_options& options, std::vector<case_field> fields,
                std::mt19937_64& random);

  [[nodiscard]] std::size_t slot_bytes() const noexcept { return slot_bytes_; }
  [[nodiscard]] const std::vector<std::byte>& copy_destination() const noexcept {
    return copy_destination_.bytes;
  }
  [[nodiscard]] std::vector<case_field>& fields() noexcept { return fields_; }

  /// The work's fields for copies of the cached rows. @param keep Null for those that are not to be
  /// written.
  [[nodiscard]] field_assembly field(std::size_t place, const std::byte* cached,
                                     std::byte* keep) const;
  /// The work for copies of the slot and the copy destination.
  [[nodiscard]] assembly work(std::byte* slot, const std::byte* copy_destination,
                              std::span<const field_assembly> fields) const;

  /// Result of the reference: the slot, then the cached rows of each field. Bytes that are not
  /// written are `untouched`.
  [[nodiscard]] std::vector<std::vector<std::byte>> reference() const;
  static constexpr std::byte untouched{0xEE};

 private:
  std::vector<case_field> fields_;
  case_options options_;
  destination_format format_;
  destination_image copy_destination_;
  std::size_t batch_bytes_ = 0;
  std::size_t slot_bytes_ = 0;
};

/// A field that is copied.
[[nodiscard]] case_field copied(std::size_t row_bytes);
/// A field of one integer that becomes `classes` elements.
[[nodiscard]] case_field one_hot(element_type from, element_type to, std::uint32_t classes);
/// A field that is converted: a conversion at random, of all layouts, crops and flips.
[[nodiscard]] case_field converted(element_type from, element_type to, std::mt19937_64& random);
/// Any of the three, at random.
[[nodiscard]] case_field any_field(std::mt19937_64& random);

[[nodiscard]] std::string describe(const case_field& field);

}  // namespace feedline::test
