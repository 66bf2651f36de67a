#include <feedline/batch/stream_use.hpp>
#include <feedline/error.hpp>
#include <feedline/interop/dlpack.hpp>

#include "interop/dlpack_abi.hpp"

#include <algorithm>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

namespace abi = detail::dlpack;

abi::data_type data_type_of(element_type type) {
  const auto made = [&](std::uint8_t code) {
    return abi::data_type{code, static_cast<std::uint8_t>(8 * size_bytes(type)), 1};
  };
  switch (type) {
    case element_type::u8:
    case element_type::u16:
    case element_type::u32:
    case element_type::u64:
      return made(abi::unsigned_int);
    case element_type::i8:
    case element_type::i16:
    case element_type::i32:
    case element_type::i64:
      return made(abi::signed_int);
    case element_type::f16:
    case element_type::f32:
    case element_type::f64:
      return made(abi::floating);
    case element_type::bf16:
      return made(abi::bfloat);
    case element_type::boolean:
      return made(abi::boolean);
  }
  throw usage_error{"DLPack has no code for the type " + std::string{to_string(type)}};
}

/// The object that one of our tensors points to and owns.
template <class Managed>
class exported {
 public:
  exported(stream_use use, std::string_view field) : use_{std::move(use)} {
    const tensor_view view = (*use_)[field];
    const auto extents = view.shape();
    const std::size_t rank = extents.size();
    extents_.resize(2 * rank);
    std::int64_t stride = 1;
    for (std::size_t i = rank; i-- != 0;) {
      extents_[i] = static_cast<std::int64_t>(extents[i]);
      extents_[rank + i] = stride;
      stride *= extents_[i];
    }
    const auto [type, id] =
        view.is_on_host() ? dlpack_device{abi::cpu, 0} : dlpack_device_of(*use_);
    managed_.tensor = {.data = view.mutable_bytes().data(),
                       .device = {type, id},
                       .ndim = static_cast<std::int32_t>(rank),
                       .dtype = data_type_of(view.type()),
                       .shape = extents_.data(),
                       .strides = extents_.data() + rank,
                       .byte_offset = 0};
    managed_.manager = this;
    managed_.deleter = [](Managed* self) { delete static_cast<exported*>(self->manager); };
  }
  exported(const exported&) = delete;
  exported& operator=(const exported&) = delete;

  [[nodiscard]] Managed& managed() noexcept { return managed_; }

 private:
  stream_use use_;
  std::vector<std::int64_t> extents_;  ///< shape, then strides
  Managed managed_{};
};

template <class Managed>
std::unique_ptr<exported<Managed>> export_field(std::shared_ptr<const batch> of,
                                                std::string_view field,
                                                std::optional<stream_ref> stream) {
  if (!of) throw usage_error{"a DLPack tensor was asked for, but the batch is empty"};
  (void)(*of)[field];  // refused before any stream waits
  (void)dlpack_device_of(*of);
  const stream_ref on = stream ? *stream : of->stream();
  return std::make_unique<exported<Managed>>(stream_use{std::move(of), on}, field);
}

}  // namespace

void dlpack_deleter::operator()(DLManagedTensorVersioned* tensor) const noexcept {
  auto* const self = reinterpret_cast<abi::versioned_tensor*>(tensor);
  if (self != nullptr && self->deleter != nullptr) self->deleter(self);
}

void dlpack_deleter::operator()(DLManagedTensor* tensor) const noexcept {
  auto* const self = reinterpret_cast<abi::managed_tensor*>(tensor);
  if (self != nullptr && self->deleter != nullptr) self->deleter(self);
}

dlpack_tensor to_dlpack(std::shared_ptr<const batch> of, std::string_view field,
                        std::optional<stream_ref> stream) {
  auto made = export_field<abi::versioned_tensor>(std::move(of), field, stream);
  abi::versioned_tensor& managed = made.release()->managed();
  managed.version = {abi::major_version, abi::minor_version};
  return dlpack_tensor{reinterpret_cast<DLManagedTensorVersioned*>(&managed)};
}

unversioned_dlpack_tensor to_unversioned_dlpack(std::shared_ptr<const batch> of,
                                                std::string_view field,
                                                std::optional<stream_ref> stream) {
  auto made = export_field<abi::managed_tensor>(std::move(of), field, stream);
  return unversioned_dlpack_tensor{reinterpret_cast<DLManagedTensor*>(&made.release()->managed())};
}

dlpack_device dlpack_device_of(const batch& of) {
  const device_id id = of.device();
  switch (id.kind) {
    case device_kind::host:
      return {abi::cpu, 0};
    case device_kind::cuda:
      return {abi::cuda, id.ordinal};
    case device_kind::other:
      break;
  }
  throw usage_error{
      "the batch lies in memory of a device that has no DLPack id: set device_capabilities::id in "
      "the device's capabilities()"};
}

std::optional<stream_ref> dlpack_stream(const batch& of, std::optional<std::int64_t> number) {
  if (number == -1) return std::nullopt;
  if (of.device().kind == device_kind::host) {
    if (!number) return std::nullopt;
    throw usage_error{
        "a batch in host memory has no streams, but __dlpack__ was asked for stream " +
        std::to_string(*number) + ": pass stream=None"};
  }
  constexpr std::int64_t legacy = 1;  // CUDA's own handles are 1 and 2, too
  const std::int64_t handle = number.value_or(legacy);
  if (handle <= 0) {
    throw usage_error{
        "__dlpack__ was asked for stream " + std::to_string(handle) +
        (handle == 0 ? ", which may mean two streams" : ", which is not a stream") +
        ": pass 1 for the legacy default stream, 2 for the thread's own, -1 for no order, or the "
        "address of a cudaStream_t"};
  }
  // NOLINTNEXTLINE(performance-no-int-to-ptr): that is how the array API names streams
  return stream_ref::from_raw(reinterpret_cast<void*>(static_cast<std::intptr_t>(handle)));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
