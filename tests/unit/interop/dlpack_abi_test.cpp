#include "interop/dlpack_abi.hpp"

#include "support/checks/catch.hpp"

#include <cstddef>

#if __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif

namespace abi = feedline::detail::dlpack;

// Layouts of the specification, for 64-bit machines.
static_assert(sizeof(abi::tensor) == 48);
static_assert(offsetof(abi::tensor, device) == 8 && offsetof(abi::tensor, ndim) == 16);
static_assert(offsetof(abi::tensor, dtype) == 20 && offsetof(abi::tensor, shape) == 24);
static_assert(offsetof(abi::tensor, strides) == 32 && offsetof(abi::tensor, byte_offset) == 40);
static_assert(sizeof(abi::managed_tensor) == 64 && offsetof(abi::managed_tensor, manager) == 48);
static_assert(sizeof(abi::versioned_tensor) == 80);
static_assert(offsetof(abi::versioned_tensor, manager) == 8);
static_assert(offsetof(abi::versioned_tensor, deleter) == 16);
static_assert(offsetof(abi::versioned_tensor, flags) == 24);
static_assert(offsetof(abi::versioned_tensor, tensor) == 32);

TEST_CASE("dlpack: its structures are those of the installed dlpack.h", "[interop][host]") {
#if __has_include(<dlpack/dlpack.h>)
  CHECK(sizeof(abi::tensor) == sizeof(DLTensor));
  CHECK(offsetof(abi::tensor, device) == offsetof(DLTensor, device));
  CHECK(offsetof(abi::tensor, dtype) == offsetof(DLTensor, dtype));
  CHECK(offsetof(abi::tensor, byte_offset) == offsetof(DLTensor, byte_offset));
  CHECK(sizeof(abi::managed_tensor) == sizeof(DLManagedTensor));
  CHECK(offsetof(abi::managed_tensor, deleter) == offsetof(DLManagedTensor, deleter));
  CHECK(static_cast<int>(abi::cpu) == kDLCPU);
  CHECK(static_cast<int>(abi::cuda) == kDLCUDA);
  CHECK(static_cast<int>(abi::cuda_host) == kDLCUDAHost);
  CHECK(static_cast<int>(abi::bfloat) == kDLBfloat);
#else
  FEEDLINE_SKIP("dlpack.h is not installed");
#endif
#ifdef DLPACK_FLAG_BITMASK_READ_ONLY
  CHECK(sizeof(abi::versioned_tensor) == sizeof(DLManagedTensorVersioned));
  CHECK(offsetof(abi::versioned_tensor, tensor) == offsetof(DLManagedTensorVersioned, dl_tensor));
  CHECK(offsetof(abi::versioned_tensor, flags) == offsetof(DLManagedTensorVersioned, flags));
  CHECK(abi::read_only == DLPACK_FLAG_BITMASK_READ_ONLY);
  CHECK(abi::is_copied == DLPACK_FLAG_BITMASK_IS_COPIED);
  CHECK(static_cast<int>(abi::boolean) == kDLBool);
#endif
}
