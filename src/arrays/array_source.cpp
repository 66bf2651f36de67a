#include <feedline/arrays/array_source.hpp>
#include <feedline/error.hpp>

#include "arrays/box_list.hpp"
#include "arrays/copy_box.hpp"
#include "detail/arithmetic.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

array_spec checked(array_spec spec) {
  const auto refuse = [&](const std::string& why) {
    throw usage_error{"array " + to_string(spec) + ": " + why};
  };
  const std::size_t rank = spec.shape.size();
  if (rank > detail::max_rank)
    refuse("has " + std::to_string(rank) + " dimensions; at most " +
           std::to_string(detail::max_rank) + " are possible");
  if (std::ranges::count(spec.shape, 0U) != 0) refuse("an extent is 0, so it holds nothing");
  if (!spec.dimensions.empty() && spec.dimensions.size() != rank)
    refuse("has " + std::to_string(spec.dimensions.size()) + " names for " + std::to_string(rank) +
           " dimensions");
  if (!spec.coordinates.empty() && spec.coordinates.size() != rank)
    refuse("has coordinates for " + std::to_string(spec.coordinates.size()) + " of " +
           std::to_string(rank) + " dimensions");
  for (std::size_t d = 0; d < spec.dimensions.size(); ++d)
    if (!spec.dimensions[d].empty() &&
        std::count(spec.dimensions.begin(), spec.dimensions.end(), spec.dimensions[d]) > 1)
      refuse("two dimensions are named '" + spec.dimensions[d] +
             "'; give them other names by rename_array");
  if (!spec.chunk.empty() && (spec.chunk.size() != rank || std::ranges::count(spec.chunk, 0U) != 0))
    refuse("its chunks need an extent for each dimension, and none that is 0");
  std::uint64_t bytes = size_bytes(spec.type);
  for (const std::uint64_t extent : spec.shape)
    bytes = detail::checked_multiply(bytes, extent).value_or(~std::uint64_t{0});
  if (bytes > static_cast<std::uint64_t>(std::numeric_limits<std::ptrdiff_t>::max()))
    refuse("it has more bytes than 63 bits can count");
  return spec;
}

}  // namespace

std::string to_string(const array_spec& spec) {
  std::string text = spec.name + ": " + std::string{to_string(spec.type)} + '[';
  for (std::size_t d = 0; d < spec.shape.size(); ++d) {
    if (d != 0) text += ", ";
    if (d < spec.dimensions.size() && !spec.dimensions[d].empty()) text += spec.dimensions[d] + ' ';
    text += std::to_string(spec.shape[d]);
  }
  return text + ']';
}

array_source::array_source(array_spec spec) : spec_{checked(std::move(spec))} {}

void array_source::read_all(std::span<std::byte> out) const {
  std::size_t bytes = size_bytes(spec_.type);
  for (const std::uint64_t extent : spec_.shape) bytes *= extent;
  if (out.size() != bytes)
    throw usage_error{"array " + to_string(spec_) + ": has " + std::to_string(bytes) +
                      " bytes, but is to be read into " + std::to_string(out.size())};
  const std::size_t rank = spec_.shape.size();
  const std::vector<std::uint64_t> begin(rank, 0);
  const std::vector<std::uint64_t> step(rank, 1);
  const auto strides = detail::dense_strides(spec_.shape, size_bytes(spec_.type));
  const array_box all{begin, spec_.shape, step, strides, out.data()};
  do_read({&all, 1});
}

std::string to_string(const array_axis& axis) {
  return axis.name.empty() ? "axis " + std::to_string(axis.number) : "axis '" + axis.name + "'";
}

std::optional<std::size_t> find_axis(const array_spec& spec, const array_axis& axis) {
  const std::size_t rank = spec.shape.size();
  if (!axis.name.empty()) {
    const auto found = std::find(spec.dimensions.begin(), spec.dimensions.end(), axis.name);
    if (found == spec.dimensions.end()) return std::nullopt;
    return static_cast<std::size_t>(found - spec.dimensions.begin());
  }
  const std::int64_t number =
      axis.number < 0 ? axis.number + static_cast<std::int64_t>(rank) : axis.number;
  if (number < 0 || number >= static_cast<std::int64_t>(rank)) return std::nullopt;
  return static_cast<std::size_t>(number);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
