#pragma once

#include <feedline/device/block_decoder.hpp>
#include <feedline/device/device.hpp>

#include "device/owned.hpp"
#include "staging/block_plan.hpp"
#include "transfer/block_arrivals.hpp"

#include <cstddef>
#include <memory>

namespace feedline::detail {

/// Decodes groups of blocks, one after the other. It has a buffer where a group arrives, a stream,
/// and a decoder. Threads: the transfer's.
class decoding_lane {
 public:
  /// @param store The store for the decoder. @param table_at Same as for `block_arrivals`.
  /// @throws out_of_memory, device_error.
  decoding_lane(const device_ptr& device, const block_plan& plan, const block_store& store,
                std::size_t table_at);

  [[nodiscard]] block_arrivals& arrivals() noexcept { return arrivals_; }
  [[nodiscard]] stream_ref stream() const noexcept { return on_.get(); }
  [[nodiscard]] block_decoder& decoder() noexcept { return *decoder_; }
  /// Issues the decoding of the blocks that arrived, after the work already on the stream. Blocks
  /// if the decoder does. @throws device_error
  void decode() { decoder_->decode(arrivals_.content(), on_.get()); }

  /// Never frees its memory: work may still use it.
  void leak_memory() noexcept;

 private:
  block_arrivals arrivals_;
  detail::stream on_;
  std::unique_ptr<block_decoder> decoder_;
};

}  // namespace feedline::detail
