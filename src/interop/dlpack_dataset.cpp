#include <feedline/error.hpp>
#include <feedline/interop/dlpack_dataset.hpp>

#include "dataset/rows_dataset.hpp"
#include "detail/arithmetic.hpp"
#include "interop/dlpack_abi.hpp"
#include "rows/field_rows.hpp"
#include "rows/gather.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

namespace abi = detail::dlpack;
using detail::checked_multiply;

/// Rows in memory at equal distances.
class spaced_rows final : public detail::field_rows {
 public:
  spaced_rows(detail::row_extent extent, const std::byte* first, std::size_t stride_bytes,
              std::shared_ptr<const void> owner)
      : field_rows{std::move(extent)},
        first_{first},
        stride_bytes_{stride_bytes},
        owner_{std::move(owner)} {}

  void read(std::span<const sample_index> samples, std::byte* out) const override {
    detail::gather_rows({first_, row_bytes(), stride_bytes_}, samples, out);
  }
  std::optional<std::span<const std::byte>> in_memory() const noexcept override {
    if (stride_bytes_ != row_bytes()) return std::nullopt;
    return std::span{first_, size() * row_bytes()};
  }

 private:
  const std::byte* first_;
  std::size_t stride_bytes_;
  std::shared_ptr<const void> owner_;
};

[[noreturn]] void reject(const std::string& name, const std::string& what) {
  throw usage_error{"DLPack dataset: the tensor of field '" + name + "' " + what};
}

std::optional<element_type> element_type_of(abi::data_type type) {
  const auto by_bits = [&](element_type of8, element_type of16, element_type of32,
                           element_type of64) -> std::optional<element_type> {
    switch (type.bits) {
      case 8:
        return of8;
      case 16:
        return of16;
      case 32:
        return of32;
      case 64:
        return of64;
      default:
        return std::nullopt;
    }
  };
  using enum element_type;
  if (type.lanes != 1) return std::nullopt;
  switch (type.code) {
    case abi::signed_int:
      return by_bits(i8, i16, i32, i64);
    case abi::unsigned_int:
      return by_bits(u8, u16, u32, u64);
    case abi::floating:
      return type.bits == 8 ? std::nullopt : by_bits(f16, f16, f32, f64);
    case abi::bfloat:
      return type.bits == 16 ? std::optional{bf16} : std::nullopt;
    case abi::boolean:
      return type.bits == 8 ? std::optional{boolean} : std::nullopt;
    default:
      return std::nullopt;
  }
}

/// "complex, 64 bits"
std::string in_words(abi::data_type type) {
  static constexpr const char* names[] = {"int",    "uint",    "float", "opaque",
                                          "bfloat", "complex", "bool"};
  std::string text =
      type.code < std::size(names) ? names[type.code] : "type code " + std::to_string(type.code);
  text += ", " + std::to_string(type.bits) + " bits";
  if (type.lanes != 1) text += ", " + std::to_string(type.lanes) + " lanes";
  return text;
}

void require_host(const std::string& name, abi::device device) {
  switch (device.type) {
    case abi::cpu:
    case abi::cuda_host:
    case abi::rocm_host:
      return;
    case abi::cuda:
      reject(name, "lies in the memory of cuda:" + std::to_string(device.id) +
                       ": copy it to the host first (tensor.cpu()); placement::resident brings "
                       "rows to the GPU once");
    default:
      reject(name, "lies on a device of DLPack's type " + std::to_string(device.type) +
                       ", not in host memory: copy it to the host first");
  }
}

/// Elements from one sample to the next, if each sample is dense and row-major.
/// @throws usage_error
std::uint64_t sample_stride(const std::string& name, const abi::tensor& tensor,
                            std::uint64_t row_elements) {
  if (tensor.strides == nullptr) return row_elements;
  std::int64_t dense = 1;
  for (std::int32_t i = tensor.ndim - 1; i > 0; --i) {
    // The stride of a dimension with one element has no meaning.
    if (tensor.shape[i] != 1 && tensor.strides[i] != dense) {
      reject(name, "has a stride of " + std::to_string(tensor.strides[i]) + " in dimension " +
                       std::to_string(i) + " where dense rows have " + std::to_string(dense) +
                       ": make it contiguous first (tensor.contiguous(), "
                       "numpy.ascontiguousarray)");
    }
    dense *= tensor.shape[i];
  }
  if (tensor.shape[0] <= 1) return row_elements;
  if (tensor.strides[0] < 0) {
    reject(name, "has a stride of " + std::to_string(tensor.strides[0]) +
                     " from sample to sample: make it contiguous first, or read samples in "
                     "another order (explicit_order)");
  }
  return static_cast<std::uint64_t>(tensor.strides[0]);
}

/// @throws usage_error
field spec_of(const std::string& name, const abi::tensor& tensor) {
  require_host(name, tensor.device);
  const auto type = element_type_of(tensor.dtype);
  if (!type) {
    reject(name, "has elements of a type that feedline does not have (" + in_words(tensor.dtype) +
                     "): use integers or floats of 8 to 64 bits, bfloat16 or bool");
  }
  if (tensor.ndim < 1 || tensor.shape == nullptr) {
    reject(name,
           "has no dimension: the first one counts the samples, so give a single sample the "
           "shape [1, ...]");
  }
  field spec{.name = name, .type = *type};
  for (std::int32_t i = 0; i < tensor.ndim; ++i) {
    if (tensor.shape[i] < 0)
      reject(name, "has a negative extent in dimension " + std::to_string(i));
    if (i > 0) spec.shape.push_back(static_cast<std::uint64_t>(tensor.shape[i]));
  }
  return spec;
}

detail::rows_field rows_of(const std::string& name, const abi::tensor& tensor,
                           std::shared_ptr<const void> owner) {
  field spec = spec_of(name, tensor);
  const std::size_t row_bytes = sample_bytes(spec);
  const std::size_t element_bytes = size_bytes(spec.type);
  const auto rows = static_cast<std::uint64_t>(tensor.shape[0]);
  const auto stride_bytes = checked_multiply<std::size_t>(
      sample_stride(name, tensor, row_bytes / element_bytes), element_bytes);
  if (!stride_bytes || !checked_multiply<std::size_t>(*stride_bytes, rows) ||
      !checked_multiply<std::size_t>(row_bytes, rows))
    reject(name, "is larger than memory can be");
  if (tensor.data == nullptr && rows != 0) reject(name, "has samples, but no data");
  const auto* const first = static_cast<const std::byte*>(tensor.data);
  return {std::move(spec), std::make_shared<const spaced_rows>(
                               detail::row_extent{.rows = rows, .row_bytes = row_bytes},
                               first == nullptr ? first : first + tensor.byte_offset, *stride_bytes,
                               std::move(owner))};
}

detail::rows_field rows_of(const std::string& name, dlpack_tensor tensor) {
  if (!tensor) reject(name, "is null");
  const auto* const self = reinterpret_cast<const abi::versioned_tensor*>(tensor.get());
  if (self->version.major > abi::major_version) {
    reject(name, "is of DLPack " + std::to_string(self->version.major) + "." +
                     std::to_string(self->version.minor) +
                     ", and this feedline knows versions up "
                     "to " +
                     std::to_string(abi::major_version) +
                     ": ask its library for an older one (max_version=(1, 0))");
  }
  return rows_of(name, self->tensor, std::shared_ptr<const void>{std::move(tensor)});
}

detail::rows_field rows_of(const std::string& name, unversioned_dlpack_tensor tensor) {
  if (!tensor) reject(name, "is null");
  const auto* const self = reinterpret_cast<const abi::managed_tensor*>(tensor.get());
  return rows_of(name, self->tensor, std::shared_ptr<const void>{std::move(tensor)});
}

}  // namespace

dataset_ptr make_dlpack_dataset(std::vector<dlpack_field> fields) {
  std::vector<detail::rows_field> made;
  for (dlpack_field& each : fields) {
    made.push_back(std::visit([&](auto& tensor) { return rows_of(each.name, std::move(tensor)); },
                              each.tensor));
    const std::uint64_t samples = made.front().rows->size();
    if (made.back().rows->size() != samples) {
      reject(each.name, "has " + std::to_string(made.back().rows->size()) +
                            " samples (its first dimension), but that of field '" +
                            made.front().spec.name + "' has " + std::to_string(samples) +
                            ": all fields of a dataset have the same number");
    }
  }
  return detail::make_rows_dataset("DLPack dataset", std::move(made));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
