#include "hdf5/filter/planes.hpp"
#include "hdf5/filter/undo.hpp"

#include <cstring>

namespace feedline::detail {

namespace {

/// Bytes after the last whole element were stored unchanged.
std::size_t undo_shuffle(std::span<const unsigned> values, std::span<const std::byte> stored,
                         std::span<std::byte> out, hdf5_decoder&) {
  const std::size_t size = values[0];
  const std::size_t count = stored.size() / size;
  join_byte_planes(stored.data(), count, size, out.data());
  const auto rest = stored.subspan(count * size);
  if (!rest.empty()) std::memcpy(out.data() + count * size, rest.data(), rest.size());
  return stored.size();
}

/// The library does not set this filter's client data for types of variable length. The filter then
/// fails in writing, and each chunk's mask says that it was left out.
std::size_t fail(std::span<const unsigned>, std::span<const std::byte>, std::span<std::byte>,
                 hdf5_decoder&) {
  throw hdf5_filter_error{"does not say how large an element is, so it cannot be undone"};
}

}  // namespace

hdf5_undo undo_of_shuffle(std::span<const unsigned> values) {
  if (values.empty()) return {.function = fail};
  if (values.size() != 1 || values[0] == 0)
    return {.refusal = "does not say how large an element is"};
  return {.function = values[0] == 1 ? nullptr : undo_shuffle};
}

}  // namespace feedline::detail
