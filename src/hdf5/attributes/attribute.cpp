#include "hdf5/attributes/attribute.hpp"

#include <cstring>

namespace feedline::detail {

hdf5_attribute::hdf5_attribute(const hdf5_session& /*hdf5*/, hid_t object, const char* name) {
  constexpr hssize_t most = 4096;
  if (H5Aexists(object, name) <= 0) return;
  id_ = hdf5_handle<H5Aclose>{H5Aopen(object, name, H5P_DEFAULT)};
  if (!id_) return;
  type_ = hdf5_type_id{H5Aget_type(id_.get())};
  space_ = hdf5_space_id{H5Aget_space(id_.get())};
  const hssize_t count = H5Sget_simple_extent_npoints(space_.get());
  if (type_ && count > 0 && count <= most) size_ = static_cast<std::size_t>(count);
}

std::vector<std::string> hdf5_attribute::texts() const {
  if (size_ == 0 || kind() != H5T_STRING) return {};
  std::vector<std::string> texts;
  if (H5Tis_variable_str(type_.get()) > 0) {
    std::vector<char*> each(size_, nullptr);
    if (H5Aread(id_.get(), type_.get(), each.data()) < 0) return {};
    for (const char* const text : each) texts.emplace_back(text == nullptr ? "" : text);
    H5Dvlen_reclaim(type_.get(), space_.get(), H5P_DEFAULT, each.data());
    return texts;
  }
  const std::size_t bytes = H5Tget_size(type_.get());
  if (bytes == 0 || bytes > 4096) return {};
  std::vector<char> all(bytes * size_);
  if (H5Aread(id_.get(), type_.get(), all.data()) < 0) return {};
  for (std::size_t i = 0; i < size_; ++i) {
    const char* const text = all.data() + i * bytes;
    texts.emplace_back(text, ::strnlen(text, bytes));
  }
  return texts;
}

std::string hdf5_attribute::text() const {
  const auto all = texts();
  return all.size() == 1 ? all.front() : "";
}

}  // namespace feedline::detail
