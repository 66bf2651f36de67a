#pragma once

#include <feedline/batch/tensor_view.hpp>
#include <feedline/error.hpp>
#include <feedline/export.hpp>

#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>
#include <version>

#ifdef __cpp_lib_mdspan
#include <mdspan>
#endif

namespace FEEDLINE_EXPORT feedline {
namespace detail {

/// The shape of a field of a batch in numbers of type `Index`.
/// @throws usage_error if it has another rank, or more elements than `Index` can count.
template <std::size_t Rank, class Index>
[[nodiscard]] std::array<Index, Rank> extents_of(const tensor_view& view) {
  const auto shape = view.shape();
  if (shape.size() != Rank) {
    throw usage_error{"field '" + view.name() + "' of a batch has " + std::to_string(shape.size()) +
                      " dimensions, the samples' among them, not " + std::to_string(Rank) +
                      ": ask for an mdspan of that rank"};
  }
  const std::size_t elements = view.bytes().size() / size_bytes(view.type());
  if (elements > static_cast<std::make_unsigned_t<Index>>(std::numeric_limits<Index>::max())) {
    throw usage_error{"field '" + view.name() + "' of a batch has " + std::to_string(elements) +
                      " elements, more than the mdspan's index counts: ask for one of std::size_t"};
  }
  std::array<Index, Rank> extents{};
  for (std::size_t i = 0; i < Rank; ++i) extents[i] = static_cast<Index>(shape[i]);
  return extents;
}

/// A view converted to the standard library's mdspan, or CCCL's.
template <class Mdspan, std::size_t... Dimensions>
[[nodiscard]] Mdspan mdspan_of(const tensor_view& view, std::index_sequence<Dimensions...>) {
  using extents = typename Mdspan::extents_type;
  const auto counts = extents_of<sizeof...(Dimensions), typename extents::index_type>(view);
  return Mdspan{view.mutable_data<typename Mdspan::value_type>(), extents{counts[Dimensions]...}};
}

}  // namespace detail
inline namespace FEEDLINE_ABI {

#ifdef __cpp_lib_mdspan

/// One field of a batch as the standard library's mdspan: dense, row-major, samples first.
/// Available if the standard library has mdspan (`__cpp_lib_mdspan`).
///
///     auto images = feedline::to_mdspan<const float, 4>(batch["image"]);
///     float first = images[0, 0, 0, 0];
///
/// Valid while the batch lives. For a batch on a GPU, it is usable only in device code: see
/// `to_cuda_mdspan`.
/// @tparam T The field's type; without const for writing, like `tensor_view::mutable_data`.
/// @tparam Rank Number of the field's dimensions plus one for the samples.
/// @tparam Index Type of the extents.
/// @throws usage_error if the field has another type or rank, or too many elements.
template <class T, std::size_t Rank, class Index = std::size_t>
requires element<T>
[[nodiscard]] auto to_mdspan(const tensor_view& view) {
  return detail::mdspan_of<std::mdspan<T, std::dextents<Index, Rank>>>(
      view, std::make_index_sequence<Rank>{});
}

#endif

}  // namespace FEEDLINE_ABI
}  // namespace feedline
