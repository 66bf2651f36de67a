#include <feedline/dataset/decoder.hpp>
#include <feedline/error.hpp>

#include "detail/byte_order.hpp"
#include "formats/npy/header.hpp"
#include "io/byte_source.hpp"

#include <cstring>

namespace feedline {
namespace {

/// A sample's array: its whole shape is the value's.
detail::npy_header read_header(std::span<const std::byte> stored) {
  const detail::file_field nameless;
  detail::memory_source source{stored};
  detail::npy_header header = detail::read_npy_header(source, nameless);
  detail::require_npy_size(header, stored.size(), nameless);
  if (header.is_fortran && header.extents.size() > 1)
    throw dataset_error{{}, "an array in Fortran order; save it with numpy.ascontiguousarray"};
  return header;
}

class npy_decoder final : public decoder {
 public:
  field describe(std::span<const std::byte> first) const override {
    const detail::npy_header header = read_header(first);
    return {{}, header.type, header.extents};
  }

  void decode(std::span<const std::byte> stored, const field& as,
              std::span<std::byte> out) const override {
    const detail::npy_header header = read_header(stored);
    if (header.type != as.type || header.extents != as.shape)
      throw dataset_error{{},
                          "holds " + header.describe() + ", but the first sample is " +
                              to_string(field{as.name, as.type, as.shape}) +
                              "; arrays of a field have one type and shape"};
    std::memcpy(out.data(), stored.data() + header.header_bytes, out.size());
    if (header.is_swapped) detail::reverse_elements(out, size_bytes(header.type));
  }
};

}  // namespace

decoder_ptr decode_npy() {
  return std::make_shared<const npy_decoder>();
}

}  // namespace feedline
