#include "arrays/constant_array.hpp"

#include "arrays/copy_box.hpp"

#include <array>
#include <utility>

namespace feedline::detail {
namespace {

class constant_array final : public array_source {
 public:
  constant_array(array_spec spec, std::vector<std::byte> element)
      : array_source{std::move(spec)}, element_{std::move(element)} {}

 private:
  void do_read(std::span<const array_box> boxes) const override {
    const std::array<std::ptrdiff_t, max_rank> repeated{};
    for (const array_box& box : boxes)
      copy_box({.count = box.count,
                .from = element_.data(),
                .from_stride = {repeated.data(), box.count.size()},
                .to = box.out,
                .to_stride = box.stride,
                .element_bytes = element_.size()});
  }

  const std::vector<std::byte> element_;
};

}  // namespace

array_ptr make_constant_array(array_spec spec, std::vector<std::byte> element) {
  spec.chunk.clear();
  return std::make_shared<const constant_array>(std::move(spec), std::move(element));
}

}  // namespace feedline::detail
