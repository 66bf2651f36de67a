#pragma once

#include <feedline/dataset/batch_sizes.hpp>
#include <feedline/dataset/encoded_blocks.hpp>
#include <feedline/dataset/field.hpp>
#include <feedline/dataset/read_context.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Decodes a stored value of any length to a field's value of fixed size: a JPEG to pixels, digits
/// to an integer. Derive from it for a coding of your own.
///
/// Threads: any number at once. A decoder owns any working memory that its threads need.
class decoder {
 public:
  decoder() = default;
  decoder(const decoder&) = delete;
  decoder& operator=(const decoder&) = delete;
  virtual ~decoder() = default;

  /// Type and shape of every value. The name is left empty.
  /// @param first The first sample's value as stored, for decoders that learn from it.
  /// @throws dataset_error if it cannot be decoded. The reader adds the location.
  [[nodiscard]] virtual field describe(std::span<const std::byte> first) const = 0;

  /// Decodes a value.
  /// @param as      The result of `describe`.
  /// @param out     `sample_bytes(as, context.size)` bytes; every one must be written.
  /// @param context The sample that the value is decoded for, with its random numbers. A
  /// decoder that uses it, such as for a random crop, returns true from `varies_by_epoch`.
  /// Outside of a loader: `{}`, which has no epoch.
  /// @throws dataset_error like `describe`.
  virtual void decode(std::span<const std::byte> stored, const field& as, std::span<std::byte> out,
                      const sample_context& context) const = 0;

  /// Same as `dataset::varies_by_epoch`.
  [[nodiscard]] virtual bool varies_by_epoch() const { return false; }

  /// Same as `dataset::sizes`, where the size of a batch does not depend on its samples.
  [[nodiscard]] virtual batch_sizes_ptr sizes() const { return nullptr; }

  /// Encoding of the values, for devices that decode them instead of this decoder; same as
  /// `encoded_blocks::steps`. Empty: readers decode all values.
  [[nodiscard]] virtual std::span<const block_step> steps() const noexcept { return {}; }
  /// Describes a stored value to such a device: its size, and an image's height and width, and the
  /// window that its row is made from. Empty: the device cannot decode this value, so `decode` is
  /// called.
  /// @param stored May be damaged; this function need not detect it.
  /// @param context Same as for `decode`.
  [[nodiscard]] virtual std::optional<encoded_blocks::stored_block> for_device(
      std::span<const std::byte> stored, const sample_context& context) const {
    (void)stored;
    (void)context;
    return std::nullopt;
  }
  /// For reports: why `for_device` is empty for a stored value, such as "a progressive JPEG".
  /// Empty: it is not, or the reason is not known.
  [[nodiscard]] virtual std::string left_to_readers(std::span<const std::byte> stored) const {
    (void)stored;
    return {};
  }
  /// Decodes a value as such a device does. This is the reference for devices.
  /// @param described Result of `for_device`. By default only its bytes count, so a decoder whose
  /// values vary by epoch overrides this.
  /// @throws dataset_error like `describe`.
  virtual void decode_described(std::span<const std::byte> stored,
                                const encoded_blocks::stored_block& described, const field& as,
                                std::span<std::byte> out) const {
    (void)described;
    decode(stored, as, out, {});
  }
};

using decoder_ptr = std::shared_ptr<const decoder>;

/// Decodes values that are stored unencoded, in the machine's byte order. @param shape Empty: a
/// scalar.
/// @throws usage_error if a value would have no bytes.
[[nodiscard]] decoder_ptr decode_raw(element_type type, std::vector<std::uint64_t> shape = {});

/// Decodes integers written as decimal digits, such as the `.cls` of WebDataset. White space around
/// them is ignored. @param type An integer type. @throws usage_error if it is not.
[[nodiscard]] decoder_ptr decode_decimal(element_type type = element_type::i32);

/// Decodes arrays stored as `.npy` files, all of the type and shape of the first.
[[nodiscard]] decoder_ptr decode_npy();

}  // namespace FEEDLINE_ABI
}  // namespace feedline
