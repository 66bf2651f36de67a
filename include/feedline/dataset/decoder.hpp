#pragma once

#include <feedline/dataset/encoded_blocks.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/dataset/read_context.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Turns a value as it is stored, of any length, into a field's value, of fixed size: a JPEG into
/// pixels, digits into an integer. Derive from it for a coding of your own.
///
/// Threads: any number at once; what a thread needs to work with is the decoder's to keep.
class decoder {
 public:
  decoder() = default;
  decoder(const decoder&) = delete;
  decoder& operator=(const decoder&) = delete;
  virtual ~decoder() = default;

  /// Type and shape of every value; the name is left empty.
  /// @param first The first sample's value as stored, for decoders that learn from it.
  /// @throws dataset_error if it cannot be decoded; its place is added by who reads it.
  [[nodiscard]] virtual field describe(std::span<const std::byte> first) const = 0;

  /// @param as  What `describe` gave.
  /// @param out `sample_bytes(as)` bytes; every one must be written.
  /// @throws dataset_error as above.
  virtual void decode(std::span<const std::byte> stored, const field& as,
                      std::span<std::byte> out) const = 0;

  /// As `decode`, by decoders that want to know what for: a crop at random is decoded alone. What
  /// readers call. A decoder that overrides it has `varies_by_epoch` say so.
  virtual void decode_for(std::span<const std::byte> stored, const field& as,
                          std::span<std::byte> out, const sample_context& context) const {
    (void)context;
    decode(stored, as, out);
  }

  /// As `dataset::varies_by_epoch`.
  [[nodiscard]] virtual bool varies_by_epoch() const { return false; }

  /// How values were coded, for devices that decode them in this decoder's place: as
  /// `encoded_blocks::steps`. Empty: readers decode all values.
  [[nodiscard]] virtual std::span<const block_step> steps() const noexcept { return {}; }
  /// What such devices are told of a value that they are given as it is stored: its size, and an
  /// image's height and width. Nothing: they do not take it, so `decode` is called.
  /// @param stored May be damaged; that need not be found here.
  [[nodiscard]] virtual std::optional<encoded_blocks::stored_block> for_device(
      std::span<const std::byte> stored) const {
    (void)stored;
    return std::nullopt;
  }
};

using decoder_ptr = std::shared_ptr<const decoder>;

/// Values that are stored as they are, in the machine's byte order. @param shape Empty: a scalar.
/// @throws usage_error if a value would take no bytes.
[[nodiscard]] decoder_ptr decode_raw(element_type type, std::vector<std::uint64_t> shape = {});

/// Integers written as decimal digits, such as the `.cls` of WebDataset; white space around them is
/// passed over. @param type One of integers. @throws usage_error if it is not.
[[nodiscard]] decoder_ptr decode_decimal(element_type type = element_type::i32);

/// Arrays stored as `.npy` files, all of the type and shape of the first.
[[nodiscard]] decoder_ptr decode_npy();

}  // namespace FEEDLINE_ABI
}  // namespace feedline
