#include <feedline/arrays/memory_array.hpp>
#include <feedline/error.hpp>

#include "arrays/box_list.hpp"
#include "arrays/copy_box.hpp"
#include "rows/row_storage.hpp"

#include <array>
#include <utility>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

class memory_array final : public array_source {
 public:
  memory_array(array_spec spec, std::span<const std::byte> bytes, std::shared_ptr<const void> owner)
      : array_source{std::move(spec)},
        strides_{detail::dense_strides(this->spec().shape, size_bytes(this->spec().type))},
        bytes_{bytes},
        owner_{std::move(owner)} {
    std::size_t wanted = size_bytes(this->spec().type);
    for (const std::uint64_t extent : this->spec().shape) wanted *= extent;
    if (bytes.size() != wanted)
      throw usage_error{"memory array " + to_string(this->spec()) + ": takes " +
                        std::to_string(wanted) + " bytes, but is given " +
                        std::to_string(bytes.size())};
  }

 private:
  void do_read(std::span<const array_box> boxes) const override {
    std::array<std::ptrdiff_t, detail::max_rank> from_stride{};
    for (const array_box& box : boxes) {
      std::ptrdiff_t first = 0;
      for (std::size_t d = 0; d < strides_.size(); ++d) {
        first += static_cast<std::ptrdiff_t>(box.begin[d]) * strides_[d];
        from_stride[d] = static_cast<std::ptrdiff_t>(box.step[d]) * strides_[d];
      }
      detail::copy_box({.count = box.count,
                        .from = bytes_.data() + first,
                        .from_stride = {from_stride.data(), strides_.size()},
                        .to = box.out,
                        .to_stride = box.stride,
                        .element_bytes = size_bytes(spec().type)});
    }
  }

  const std::vector<std::ptrdiff_t> strides_;
  std::span<const std::byte> bytes_;
  std::shared_ptr<const void> owner_;
};

}  // namespace

array_ptr make_memory_array(array_spec spec, std::span<const std::byte> bytes,
                            std::shared_ptr<const void> owner) {
  spec.chunk.clear();
  return std::make_shared<const memory_array>(std::move(spec), bytes, std::move(owner));
}

array_ptr load_array(const array_ptr& array) {
  if (!array) throw usage_error{"load_array: there is no array"};
  std::size_t bytes = size_bytes(array->spec().type);
  for (const std::uint64_t extent : array->spec().shape) bytes *= extent;
  const detail::row_storage storage{bytes};
  array->read_all(storage.bytes());
  return make_memory_array(array->spec(), storage.bytes(), storage.owner());
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
