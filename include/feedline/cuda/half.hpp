#pragma once

#include <feedline/dataset/element_type.hpp>
#include <feedline/export.hpp>

// Types of <cuda_fp16.h> and <cuda_bf16.h>, which need not be installed.
struct __half;
struct __nv_bfloat16;

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Makes `tensor_view::data<__half>()` compile.
template <>
struct element_traits<::__half> {
  static constexpr element_type type = element_type::f16;
};

/// Makes `tensor_view::data<__nv_bfloat16>()` compile.
template <>
struct element_traits<::__nv_bfloat16> {
  static constexpr element_type type = element_type::bf16;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
