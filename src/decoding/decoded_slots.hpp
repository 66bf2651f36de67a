#pragma once

#include <feedline/backend/device.hpp>

#include "batch/device_slot.hpp"
#include "decoding/block_reader.hpp"
#include "detail/failure.hpp"
#include "reader/sample_source.hpp"
#include "staging/slot_layout.hpp"

#include <cstdint>
#include <functional>

namespace feedline::detail {

/// The consumer's part if the device decodes blocks. It waits until a slot's blocks are decoded,
/// and makes a missing one the slot's failure. Threads: the consumer's.
class decoded_slots {
 public:
  /// Borrows all for its life. @param rows Layout of the dataset's rows.
  decoded_slots(feedline::device& device, sample_source& source, const block_reader& reader,
                const slot_layout& rows)
      : device_{device}, source_{source}, reader_{reader}, rows_{rows} {}

  /// Whether the device reports which sample of a slot misses its block.
  [[nodiscard]] static bool is_checked(const slot_content& content) noexcept;
  /// Waits until a checked slot's blocks are decoded. False once given up.
  /// @throws device_error
  [[nodiscard]] bool await(const device_slot& taken, const std::function<bool()>& given_up) const;
  /// Drops the batches from the first with a missing block on; that becomes the slot's failure.
  /// @param content Decoded.
  void drop_missing(slot_content& content) const;

 private:
  /// Why a sample of a slot misses its block. Reading it on the CPU may fail and say why, as if the
  /// CPU had decoded it; or reading its block has thrown; otherwise the device is to blame.
  [[nodiscard]] failure failure_of(const slot_work& work, std::uint64_t bad) const;

  feedline::device& device_;
  sample_source& source_;
  const block_reader& reader_;
  const slot_layout& rows_;
};

}  // namespace feedline::detail
