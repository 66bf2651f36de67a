#pragma once

#include <feedline/dataset/decoder.hpp>
#include <feedline/dataset/read_request.hpp>
#include <feedline/dataset/record_decoder.hpp>
#include <feedline/ragged/decode.hpp>

#include "ragged/coded_values.hpp"
#include "ragged/padding.hpp"
#include "ragged/record_row.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace feedline::detail {

/// The fields that a dataset makes of records, and where they go.
class record_columns {
 public:
  /// @param who Begins messages: "decode". @param of The records, if lengths must be found.
  /// @throws as `decode`.
  record_columns(std::string_view who, record_decoder_ptr by, std::vector<described_field> all,
                 const decode_options& options, const coded_values& of);
  /// The one field of a decoder. @param as The field that it makes, with its name.
  record_columns(decoder_ptr by, field as);

  [[nodiscard]] std::vector<field> fields() const;
  [[nodiscard]] bool varies_by_epoch() const { return by_->varies_by_epoch(); }
  /// Sizes of batches, if decoders of fields give them; null: none does.
  [[nodiscard]] batch_sizes_ptr sizes() const;
  /// The decoder, if it is one of one field.
  [[nodiscard]] const decoder_ptr& one_field() const noexcept { return one_field_; }

  /// The column of a field of the dataset whose coded values devices may decode. Empty: the field
  /// has none. @param place Index into `fields()`.
  [[nodiscard]] std::optional<std::size_t> coded_column(std::size_t place) const;
  [[nodiscard]] const record_decoder_ptr& decodes_by() const noexcept { return by_; }

  /// Some of the fields, in another order. @param places Indices into `fields()`.
  [[nodiscard]] record_columns select(std::span<const std::size_t> places) const;

  [[nodiscard]] std::unique_ptr<record_row> make_row() const;
  /// Decodes a record to the row of a request. @param row Made by `make_row`.
  /// @param out Destinations of the fields, in order. @param place The sample's index in them.
  void decode(std::span<const std::byte> stored, std::span<const std::span<std::byte>> out,
              std::size_t place, const sample_context& context, record_row& row) const;

 private:
  /// A field of a record.
  struct column {
    record_row::room room;
    std::optional<padding> fill;  ///< ragged
  };
  /// A field of the dataset.
  struct target {
    field spec;
    std::size_t column = 0;
    bool is_length = false;
    std::size_t bytes = 0;
  };

  [[nodiscard]] std::vector<std::uint64_t> lengths_of(std::string_view who,
                                                      std::span<const std::size_t> chosen,
                                                      const decode_options& options,
                                                      const coded_values& of) const;

  record_decoder_ptr by_;
  decoder_ptr one_field_;
  described_fields all_;
  std::vector<column> columns_;
  std::vector<target> targets_;
};

/// The result of `by.describe` for the first value. @throws as it does, with the value's location.
template <class Decoder>
[[nodiscard]] auto describe_first(const coded_values& of, const Decoder& by) {
  std::vector<std::byte> memory;
  const auto first = of.read(0, [&](std::size_t bytes) { return room_in(memory, bytes); });
  decltype(by.describe(first)) described;
  try {
    described = by.describe(first);
  } catch (const dataset_error& fault) {
    of.refuse(fault, 0);
  }
  return described;
}

/// The fields that a decoder describes.
/// @throws usage_error if two have one name, or a sample or element has no bytes.
[[nodiscard]] std::vector<field> checked_specs(std::string_view who,
                                               const std::vector<described_field>& all);

/// Decodes every record once, on all cores, for the number of elements of ragged fields.
/// @param use Is given the numbers of several samples, sample after sample: one for each field.
/// Called by one thread at a time, for samples in any order.
void count_elements(
    const coded_values& of, const record_decoder& by, const described_fields& all,
    std::span<const std::size_t> fields,
    const std::function<void(std::uint64_t first, std::span<const std::uint64_t>)>& use);

/// A dataset of values or records, which readers decode, and devices if they can replace the
/// decoder of one field.
[[nodiscard]] dataset_ptr make_decoded_dataset(coded_values_ptr of, record_columns columns);

/// Same as `decode` and `decode_ragged`, of records that are stored anywhere; at least one.
[[nodiscard]] dataset_ptr make_record_dataset(std::string_view who, coded_values_ptr of,
                                              record_decoder_ptr by, const decode_options& options);
[[nodiscard]] ragged_dataset_ptr make_ragged_field(coded_values_ptr of, record_decoder_ptr by,
                                                   const std::string& name);

}  // namespace feedline::detail
