#include "hdf5/rows/library_array.hpp"

#include "arrays/box_list.hpp"
#include "arrays/copy_box.hpp"

#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

class library_array final : public array_source {
 public:
  library_array(array_spec spec, hdf5_library_column column)
      : array_source{std::move(spec)}, column_{std::move(column)} {}

 private:
  void do_read(std::span<const array_box> boxes) const override {
    const std::size_t own = column_->extents().size();  // the other dimensions are an element's
    const std::size_t rank = spec().shape.size();
    const std::size_t bytes = size_bytes(spec().type);
    std::vector<std::byte> values;
    for (const array_box& box : boxes) {
      std::vector<std::uint64_t> read(spec().shape);
      std::size_t size = bytes;
      for (std::size_t d = 0; d < own; ++d) read[d] = box.count[d];
      for (const std::uint64_t extent : read) size *= extent;
      values.resize(size);
      {
        const hdf5_session hdf5;
        column_->read_box(hdf5, box.begin.first(own), box.count.first(own), box.step.first(own),
                          values);
      }
      auto strides = dense_strides(read, bytes);
      const std::byte* from = values.data();
      for (std::size_t d = own; d < rank; ++d) {
        from += static_cast<std::ptrdiff_t>(box.begin[d]) * strides[d];
        strides[d] *= static_cast<std::ptrdiff_t>(box.step[d]);
      }
      copy_box({.count = box.count,
                .from = from,
                .from_stride = strides,
                .to = box.out,
                .to_stride = box.stride,
                .element_bytes = bytes});
    }
  }

  const hdf5_library_column column_;
};

}  // namespace

array_ptr make_library_array(array_spec spec, hdf5_library_column column) {
  return std::make_shared<const library_array>(std::move(spec), std::move(column));
}

}  // namespace feedline::detail
