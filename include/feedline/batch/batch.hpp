#pragma once

#include <feedline/batch/tensor_view.hpp>
#include <feedline/device/device_id.hpp>
#include <feedline/device/stream_ref.hpp>
#include <feedline/export.hpp>
#include <feedline/index.hpp>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace feedline::detail {
class device_ring;
struct batch_format;
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A lease on one batch's memory: the consumer reads it on its stream, and may write it; when the
/// batch is destroyed, that memory is recycled once the work issued on the stream so far is done.
/// The host waits for nothing at either end.
///
/// Move-only: two owners of one lease cannot be. May outlive the epoch and the loader; the last one
/// to do so frees the loader's memory, and waits for the device then, a second at most: what is
/// still used after it is freed as the next loader is made or goes away. A slot (`loader_plan`) is
/// filled again when no batch in it is held: who holds batches in every slot cannot take another
/// one.
///
/// The stream may be destroyed once all batches that were taken on it have ended. If one of them
/// ended while the stream was captured, it must live until the loader's next batch was taken, or
/// the loader is gone, after the capture.
///
/// Threads: one at a time; any thread may destroy it. The work that uses the batch must be issued
/// before it is destroyed. In a child of fork a batch may be destroyed, which does nothing there.
///
/// To share it, or to use it on other streams too, move it into a `std::shared_ptr<const batch>`
/// and see `stream_use`; `to_dlpack` hands it to other libraries.
///
/// A batch that was moved from may be destroyed and assigned to. Its size, index and epoch are 0;
/// all else throws usage_error. Views are taken of a batch that has a name: of a temporary, whose
/// memory is recycled at once, they do not compile.
class batch {
 public:
  batch(batch&& other) noexcept;
  batch& operator=(batch&& other) noexcept;
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;
  ~batch();

  /// One field. @throws usage_error if there is none of that name, naming those there are.
  [[nodiscard]] tensor_view operator[](std::string_view field) const&;
  tensor_view operator[](std::string_view field) const&& = delete;
  /// One field by its place in the dataset's `fields()`. @throws usage_error past the last.
  [[nodiscard]] tensor_view field_at(std::size_t place) const&;
  tensor_view field_at(std::size_t place) const&& = delete;
  /// How many fields.
  [[nodiscard]] std::size_t field_count() const;

  /// Samples in the batch: the batch size, or fewer in an epoch's last batch.
  [[nodiscard]] std::uint64_t size() const noexcept { return samples_; }
  /// Number of the batch within its epoch, from 0; with a `shard`, of the global batch.
  [[nodiscard]] std::uint64_t index() const noexcept { return index_; }
  [[nodiscard]] std::uint64_t epoch() const noexcept { return epoch_; }
  /// Which samples of the dataset these are, in the batch's order, also where one stands in the
  /// place of another (`error_policy`). Computed from the sampler, at its cost.
  [[nodiscard]] std::vector<sample_index> samples() const;
  /// How many of the batch's samples, its last ones, are the epoch's first ones again, so that the
  /// batch has as many as it must (`partial_batch`): an evaluation counts the `size() - repeats()`
  /// before them. 0 in all batches of an epoch but the last. Where samples were left out
  /// (`error_action::skip`), repeats are any that came before in the epoch.
  [[nodiscard]] std::uint64_t repeats() const;
  /// The stream the batch was taken on.
  [[nodiscard]] stream_ref stream() const;
  /// Whose memory it lies in.
  [[nodiscard]] device_id device() const;

 private:
  friend class detail::device_ring;
  friend class stream_use;
  batch(std::shared_ptr<detail::device_ring> ring, slot_index slot, const std::byte* data,
        std::uint64_t epoch, std::uint64_t index, std::uint64_t samples) noexcept;
  void release() noexcept;
  [[nodiscard]] const detail::batch_format& format() const;

  std::shared_ptr<detail::device_ring> ring_;
  slot_index slot_{};
  const std::byte* data_ = nullptr;
  std::uint64_t epoch_ = 0;
  std::uint64_t index_ = 0;
  std::uint64_t samples_ = 0;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
