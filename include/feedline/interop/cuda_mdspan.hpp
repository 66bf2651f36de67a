#pragma once

/// Needs CCCL, which comes with the CUDA toolkit. nvcc finds it by itself; other compilers need the
/// toolkit's `include/cccl` in their include path.

#include <feedline/export.hpp>
#include <feedline/interop/mdspan.hpp>

#include <cuda/std/mdspan>

#include <cstddef>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// One field of a batch as an mdspan for device code: dense, row-major, samples first.
///
///     auto images = feedline::to_cuda_mdspan<const float, 4, int>(batch["image"]);
///     normalize<<<blocks, threads, 0, stream>>>(images);    // images(n, c, y, x)
///
/// Call it on the host, and pass the result to kernels by value. Valid while the batch lives; work
/// on the batch's stream may use the data.
/// @tparam T The field's type; without const for writing, like `tensor_view::mutable_data`.
/// @tparam Rank Number of the field's dimensions plus one for the samples.
/// @tparam Index Type of the extents; 32 bits make faster kernels.
/// @throws usage_error if the field has another type or rank, or more elements than `Index` can
/// count.
template <class T, std::size_t Rank, class Index = std::size_t>
requires element<T>
[[nodiscard]] auto to_cuda_mdspan(const tensor_view& view) {
  return detail::mdspan_of<cuda::std::mdspan<T, cuda::std::dextents<Index, Rank>>>(
      view, std::make_index_sequence<Rank>{});
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
