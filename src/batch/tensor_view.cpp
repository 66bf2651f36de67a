#include <feedline/batch/tensor_view.hpp>

#include <string>

namespace feedline {

std::vector<std::uint64_t> tensor_view::shape() const {
  std::vector<std::uint64_t> extents{samples_};
  extents.insert(extents.end(), spec_->shape.begin(), spec_->shape.end());
  return extents;
}

void tensor_view::throw_type_mismatch(element_type wanted) const {
  throw usage_error{"field '" + spec_->name + "' holds " + std::string{to_string(spec_->type)} +
                    ", not " + std::string{to_string(wanted)} +
                    ": ask for the type it holds, or for bytes()"};
}

}  // namespace feedline
