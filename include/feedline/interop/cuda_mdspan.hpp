#pragma once

/// Needs CCCL, which comes with the CUDA toolkit: nvcc finds it by itself, other compilers need the
/// toolkit's `include/cccl` on their path.

#include <feedline/export.hpp>
#include <feedline/interop/mdspan.hpp>

#include <cuda/std/array>
#include <cuda/std/mdspan>

#include <algorithm>
#include <cstddef>
#include <type_traits>

namespace FEEDLINE_EXPORT feedline {

/// One field of a batch as an mdspan for device code: dense, row-major, the samples first.
///
///     auto images = feedline::to_cuda_mdspan<const float, 4, int>(batch["image"]);
///     normalize<<<blocks, threads, 0, stream>>>(images);    // images(n, c, y, x)
///
/// Called on the host; passed to kernels by value. Valid while the batch lives: its data may be
/// used by work on the batch's stream.
/// @tparam T The field's type; without const, for who writes, as `tensor_view::mutable_data`.
/// @tparam Rank The field's dimensions and the samples'.
/// @tparam Index That extents are of; 32 bits make faster kernels.
/// @throws usage_error if the field has another type or rank, or more elements than `Index` counts.
template <class T, std::size_t Rank, class Index = std::size_t>
requires element<T>
[[nodiscard]] auto to_cuda_mdspan(const tensor_view& view) {
  using extents = cuda::std::dextents<Index, Rank>;
  T* const data = view.mutable_data<std::remove_const_t<T>>();
  const auto shape = detail::extents_of<Rank, Index>(view);
  cuda::std::array<Index, Rank> counts{};
  std::copy(shape.begin(), shape.end(), counts.begin());
  return cuda::std::mdspan<T, extents>{data, extents{counts}};
}

}  // namespace feedline
