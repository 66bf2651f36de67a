#pragma once

#include <feedline/dataset/field.hpp>
#include <feedline/error.hpp>
#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// One field of one batch: borrowed memory with a type and a shape. The elements are dense,
/// row-major and 256-byte aligned, in the memory of the batch's device, or of the host if the host
/// keeps the field (`is_on_host`). Valid while the batch lives.
///
/// The memory belongs to the consumer while it holds the batch. The consumer may write it on the
/// batch's stream (`mutable_data`). A later batch overwrites it after the lease has ended.
class tensor_view {
 public:
  /// @param spec    Must outlive the view.
  /// @param samples The batch dimension.
  /// @param on_host Whether it is a field that the host keeps.
  /// @param size    Height and width of images, for a field whose size differs from batch to batch.
  tensor_view(const field& spec, std::uint64_t samples, std::size_t bytes, const std::byte* data,
              const std::optional<image_size>& size = {}, bool on_host = false) noexcept
      : spec_{&spec},
        samples_{samples},
        bytes_{bytes},
        data_{data},
        size_{size},
        on_host_{on_host} {}

  [[nodiscard]] const std::string& name() const noexcept { return spec_->name; }
  [[nodiscard]] element_type type() const noexcept { return spec_->type; }

  /// Whether this is the host's memory because of `loader_options::keep_on_host`. false for other
  /// fields, also on the host device.
  [[nodiscard]] bool is_on_host() const noexcept { return on_host_; }

  /// The batch dimension first: {64, 28, 28}; {64} for a scalar field. The height and width of a
  /// field with `field::by_batch` are those of this batch.
  [[nodiscard]] std::vector<std::uint64_t> shape() const;

  /// The first dimension: number of samples in the batch.
  [[nodiscard]] std::uint64_t samples() const noexcept { return samples_; }

  /// All bytes. On a device other than the host this is a device address.
  [[nodiscard]] std::span<const std::byte> bytes() const noexcept { return {data_, bytes_}; }

  /// The first element.
  /// @throws usage_error if T is not the field's type, naming both types.
  template <element T>
  [[nodiscard]] const T* data() const {
    expect(element_type_of<T>());
    return reinterpret_cast<const T*>(data_);
  }

  /// Same as `data`, for the batch's consumer to write to. @throws usage_error like `data`.
  template <element T>
  [[nodiscard]] T* mutable_data() const {
    return const_cast<T*>(data<T>());  // the memory of batches is not constant
  }
  /// All bytes, for the batch's consumer to write to.
  [[nodiscard]] std::span<std::byte> mutable_bytes() const noexcept {
    return {const_cast<std::byte*>(data_), bytes_};
  }

  /// All elements, for a consumer on the host. @throws usage_error like `data`.
  template <element T>
  [[nodiscard]] std::span<const T> values() const {
    return {data<T>(), bytes_ / sizeof(T)};
  }

 private:
  void expect(element_type wanted) const {
    if (wanted != spec_->type) [[unlikely]]
      throw_type_mismatch(wanted);
  }
  [[noreturn]] void throw_type_mismatch(element_type wanted) const;

  const field* spec_;
  std::uint64_t samples_;
  std::size_t bytes_;
  const std::byte* data_;
  std::optional<image_size> size_;
  bool on_host_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
