#pragma once

#include <feedline/dataset/made_fields.hpp>

#include "detail/host_device.hpp"

#include <cstdint>

namespace feedline::detail {

/// The values that a field has for the elements of one packed row: the arithmetic of reference and
/// kernel. Whatever the offsets are, only those of the row are loaded.
/// @tparam Load Called with the index of an offset, returns the offset.
template <class Load>
class packed_elements {
 public:
  /// @param documents Number of samples that the row has room for, at least 1: one less than it has
  /// offsets.
  /// @param first The first element that will be asked for.
  FEEDLINE_HOST_DEVICE packed_elements(packed_values values, const Load& load,
                                       std::uint32_t documents, std::uint32_t first)
      : values_{values},
        load_{load},
        documents_{documents},
        end_{load(documents)},
        document_{document_of(static_cast<std::int32_t>(first))},
        begin_{load(document_)},
        next_{load(document_ + 1)} {}

  /// @param element At least the one asked for before.
  FEEDLINE_HOST_DEVICE std::int32_t at(std::uint32_t element) {
    const auto index = static_cast<std::int32_t>(element);
    if (index >= end_) return values_ == packed_values::documents ? -1 : 0;
    while (next_ <= index && document_ + 1 < documents_) {
      begin_ = next_;
      next_ = load_(++document_ + 1);
    }
    switch (values_) {
      case packed_values::positions:
        // Offsets of a row that could not be read are any bits.
        return static_cast<std::int32_t>(element - static_cast<std::uint32_t>(begin_));
      case packed_values::documents:
        return static_cast<std::int32_t>(document_);
      case packed_values::mask:
        return 1;
      case packed_values::followed:
        return index + 1 < next_ ? 1 : 0;
    }
    return 0;
  }

 private:
  /// The last sample that begins at the element or before it.
  FEEDLINE_HOST_DEVICE std::uint32_t document_of(std::int32_t element) const {
    std::uint32_t first = 0;
    std::uint32_t end = documents_;
    while (end - first > 1) {
      const std::uint32_t middle = first + (end - first) / 2;
      if (load_(middle) <= element)
        first = middle;
      else
        end = middle;
    }
    return first;
  }

  packed_values values_;
  Load load_;
  std::uint32_t documents_;
  std::int32_t end_;  ///< elements without padding
  std::uint32_t document_;
  std::int32_t begin_;  ///< the document's first element
  std::int32_t next_;   ///< the element after its last one
};

}  // namespace feedline::detail
