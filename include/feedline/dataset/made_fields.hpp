#pragma once

#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Values for each element of a row that is packed from several samples. They follow from the
/// offsets of the samples: ascending i32, one more than a row has room for samples. The first one
/// is 0, the last one is the number of elements without padding, and a sample without elements has
/// the offset of the next sample.
enum class packed_values : std::uint8_t {
  positions,  ///< i32: index within the sample; 0 for padding
  documents,  ///< i32: index of the sample in the row; -1 for padding
  mask,       ///< u8: 1; 0 for padding
  followed,   ///< u8: 1 if another element of the same sample follows, else 0
};

/// A field that follows from another field of the same sample, so that a device can make it.
struct made_field {
  std::size_t place = 0;    ///< index of the field, which has one extent
  std::size_t offsets = 0;  ///< index of the field with the samples' offsets
  packed_values values = packed_values::positions;

  friend bool operator==(const made_field&, const made_field&) = default;
};

/// A dataset with such fields also derives from this class. If a device makes some of them
/// (`loader_plan::made_on_device`), or `select` leaves some out, `dataset::read` gets no bytes for
/// these in `read_request::out`, and must not write them. A dataset that is made of others tells
/// theirs: `subset`, `zip`, `select` and `concatenate` do.
class has_made_fields {
 public:
  has_made_fields() = default;
  has_made_fields(const has_made_fields&) = delete;
  has_made_fields& operator=(const has_made_fields&) = delete;
  virtual ~has_made_fields() = default;

  /// Constant for the dataset's life; empty: there are none. Called by the thread that creates a
  /// loader, which throws usage_error if a field's type or shape does not fit.
  [[nodiscard]] virtual std::vector<made_field> made_fields() const = 0;

  /// For `loader_plan::made_note`: which fields of the datasets that this one is made of a device
  /// could make, and why it cannot in this one. Empty: there are none. Called by the same thread.
  [[nodiscard]] virtual std::string made_note() const { return {}; }
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
