#pragma once

#include "hdf5/library/handle.hpp"
#include "hdf5/library/session.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace feedline::detail {

/// An attribute of an object, open. It counts as absent if it cannot be opened, or has more than
/// 4096 values: the attributes that are read here have few.
class hdf5_attribute {
 public:
  hdf5_attribute(const hdf5_session& hdf5, hid_t object, const char* name);

  /// Number of its values; 0: it is absent.
  [[nodiscard]] std::size_t size() const noexcept { return size_; }
  [[nodiscard]] H5T_class_t kind() const { return H5Tget_class(type_.get()); }
  [[nodiscard]] hid_t id() const noexcept { return id_.get(); }
  [[nodiscard]] hid_t type() const noexcept { return type_.get(); }
  [[nodiscard]] hid_t space() const noexcept { return space_.get(); }

  /// Texts of fixed or varying length; empty if it has none.
  [[nodiscard]] std::vector<std::string> texts() const;
  /// Its only text; "" if it has none, or several.
  [[nodiscard]] std::string text() const;
  /// Integers as 64 bits; empty if it has none. @param memory H5T_NATIVE_INT64 or _UINT64.
  template <class Integer>
  [[nodiscard]] std::vector<Integer> integers(hid_t memory) const {
    if (size_ == 0 || kind() != H5T_INTEGER) return {};
    std::vector<Integer> values(size_);
    if (H5Aread(id_.get(), memory, values.data()) < 0) return {};
    return values;
  }

 private:
  hdf5_handle<H5Aclose> id_;
  hdf5_type_id type_;
  hdf5_space_id space_;
  std::size_t size_ = 0;
};

}  // namespace feedline::detail
