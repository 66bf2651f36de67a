#pragma once

#include <feedline/dataset/element_type.hpp>
#include <feedline/export.hpp>

// Those of <cuda_fp16.h> and <cuda_bf16.h>, which need not be there.
struct __half;
struct __nv_bfloat16;

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Lets `tensor_view::data<__half>()` be said.
template <>
struct element_traits<::__half> {
  static constexpr element_type type = element_type::f16;
};

/// Lets `tensor_view::data<__nv_bfloat16>()` be said.
template <>
struct element_traits<::__nv_bfloat16> {
  static constexpr element_type type = element_type::bf16;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
