#pragma once

#include <feedline/dataset/decoder.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/dataset/read_context.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A field that a record decoder makes of each record.
struct described_field {
  field spec;  ///< a ragged field: one element
  /// Each record has any number of elements, also 0.
  bool is_ragged = false;
};

/// Destination of one record's fields: memory of the batch, if possible. It is valid during the
/// call that it is passed to, on the calling thread.
class record_output {
 public:
  record_output() = default;
  record_output(const record_output&) = delete;
  record_output& operator=(const record_output&) = delete;
  virtual ~record_output() = default;

  /// The result of `record_decoder::describe`. A field is named by its index here.
  [[nodiscard]] virtual std::span<const described_field> fields() const noexcept = 0;

  /// Whether the field must be written. A decoder skips the others.
  [[nodiscard]] virtual bool wants(std::size_t field) const noexcept = 0;

  /// Index of the wanted field with this name; empty: there is none, or it is not wanted.
  [[nodiscard]] std::optional<std::size_t> find(std::string_view name) const noexcept {
    for (std::size_t i = 0; i < fields().size(); ++i)
      if (fields()[i].spec.name == name && wants(i)) return i;
    return std::nullopt;
  }

  /// Writes a field whose value the record has unencoded, in the machine's byte order. Does nothing
  /// if the field is not wanted; truncates a ragged one if needed.
  /// @param value A fixed field's value; all elements of a ragged field.
  /// @throws dataset_error if it is not of the field's size, or not of whole elements; like
  /// `ragged`.
  void put(std::size_t field, std::span<const std::byte> value);

  /// Memory for the value of a fixed field: `sample_bytes(spec)` bytes; every one must be written.
  /// @throws usage_error if the field is not wanted, or is ragged.
  virtual std::span<std::byte> fixed(std::size_t field) = 0;

  /// Memory for the elements of a ragged field: a whole number of elements, the first ones of
  /// `count`. It is shorter than `count` elements, even empty, if samples are truncated, or only
  /// their lengths are wanted: write no more than it takes, and every byte of it.
  /// @param count Number of elements in the record; not trusted.
  /// @throws dataset_error if it is more than the dataset's limit, and samples are not truncated;
  /// usage_error if the field is not wanted, or is fixed.
  virtual std::span<std::byte> ragged(std::size_t field, std::uint64_t count) = 0;
};

/// Decodes a stored record of any length to several named fields: a line of JSON, a message, a
/// row of columns. `decode` and `open_tar` make datasets with it. Derive from it for a coding of
/// your own:
///
///     class point_decoder : public feedline::record_decoder {  // x, then any number of bytes
///      public:
///       std::vector<described_field> describe(std::span<const std::byte>) const override {
///         return {{{"x", element_type::f32}}, {{"trail", element_type::u8}, true}};
///       }
///       void decode(std::span<const std::byte> stored, record_output& out,
///                   const sample_context&) const override {
///         if (stored.size() < 4) throw dataset_error{{}, "the record is cut short"};
///         out.put(0, stored.first(4));
///         out.put(1, stored.subspan(4));
///       }
///     };
///
/// A record is decoded once for all its fields. If a wanted field gets no memory from the output,
/// the record has no value of it, and feedline reports that.
///
/// Threads: any number at once. A decoder owns any working memory that its threads need.
class record_decoder {
 public:
  record_decoder() = default;
  record_decoder(const record_decoder&) = delete;
  record_decoder& operator=(const record_decoder&) = delete;
  virtual ~record_decoder() = default;

  /// The fields of every record, at least one, with distinct names.
  /// @param first The first record as stored, for decoders that learn from it.
  /// @throws dataset_error if it cannot be decoded. The reader adds the location.
  [[nodiscard]] virtual std::vector<described_field> describe(
      std::span<const std::byte> first) const = 0;

  /// Writes the wanted fields of a record.
  /// @param context Same as in `decoder::decode`.
  /// @throws dataset_error if it cannot be decoded. It may name the field; the reader adds path,
  /// sample and offset.
  virtual void decode(std::span<const std::byte> stored, record_output& out,
                      const sample_context& context) const = 0;

  /// Same as `dataset::varies_by_epoch`.
  [[nodiscard]] virtual bool varies_by_epoch() const { return false; }

  /// The decoder of a fixed field whose value lies in the record as one coded value, such as a JPEG
  /// file. Devices that can replace this decoder decode the field then (`decoder::steps`), and
  /// `decode` the others. Null, as by default: there is no such decoder.
  /// @param field Index in the result of `describe`.
  [[nodiscard]] virtual decoder_ptr coded_by(std::size_t field) const {
    (void)field;
    return nullptr;
  }
  /// The coded value within a record: a part of `stored`. Called for fields that have `coded_by`.
  /// @throws dataset_error like `decode`.
  [[nodiscard]] virtual std::span<const std::byte> coded_value(std::span<const std::byte> stored,
                                                               std::size_t field) const {
    (void)field;
    return stored;
  }
};

using record_decoder_ptr = std::shared_ptr<const record_decoder>;

}  // namespace FEEDLINE_ABI
}  // namespace feedline
