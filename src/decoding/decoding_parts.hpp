#pragma once

#include <feedline/index.hpp>

#include "decoding/block_reader.hpp"
#include "decoding/block_schedule.hpp"
#include "decoding/decoded_slots.hpp"
#include "decoding/order_of_blocks.hpp"

#include <cstddef>
#include <memory>
#include <optional>

namespace feedline::detail {

/// The parts of a loader whose device decodes blocks, besides its slot writer (`block_row_writer`)
/// and its slot transfer (`decoded_transfer`).
struct decoding_parts {
  /// Borrows the device, the source, the layout and the sizer for its life.
  /// @param table_at Offset of the table of loads in a staging slot.
  /// @param has_readers Readers have threads of their own.
  /// @param rows Layout of the dataset's rows.
  /// @param sizer Null where all batches have one size.
  decoding_parts(const std::shared_ptr<const block_plan>& plan, std::size_t table_at,
                 bool has_readers, device& device, sample_source& source, const slot_layout& rows,
                 batch_sizer* sizer)
      : reader{plan, table_at, source.seed()},
        feed{plan, table_at, reader, has_readers, sizer},
        slots{device, source, reader, rows},
        order{plan, rows.batch_size()} {}

  block_reader reader;
  block_schedule feed;    ///< gives readers' slots their blocks
  decoded_slots slots;    ///< the consumer's check that a slot's blocks were decoded
  order_of_blocks order;  ///< blocks that are hinted
  /// A slot that was taken, but whose blocks may not be decoded yet. The consumer's.
  std::optional<slot_index> undecoded = {};
};

}  // namespace feedline::detail
