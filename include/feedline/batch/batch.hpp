#pragma once

#include <feedline/batch/tensor_view.hpp>
#include <feedline/detail/lease.hpp>
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

inline namespace FEEDLINE_ABI {

/// A batch in its slot.
struct leased_batch {
  slot_index slot{};
  const std::byte* data = nullptr;
  std::byte* host = nullptr;  ///< rows that the host keeps
  std::uint64_t epoch = 0;
  std::uint64_t index = 0;
  std::uint64_t samples = 0;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// A lease on one batch's memory. The consumer reads the batch on its stream, and may write it.
/// When the batch is destroyed, its memory is recycled as soon as the work issued on the stream so
/// far is done. The host waits for nothing, neither when a batch is taken nor when it is destroyed.
///
/// Move-only, because a lease has a single owner. A batch may outlive the epoch and the loader. If
/// batches outlive the loader, the last one to be destroyed frees the loader's memory. It waits up
/// to one second for the device; memory still in use then is freed when the next loader is created
/// or destroyed. A slot (`loader_plan`) is filled again when no batch in it is held. If every slot
/// has a live batch, `next()` waits, then throws. Or the next batch gets memory of its own, freed
/// after its end (`expert_options::on_held`).
///
/// The stream may be destroyed once all batches that were taken on it have ended. If a batch ended
/// while the stream was captured, the stream must live until the capture has ended and either the
/// loader's next batch was taken or the loader was destroyed.
///
/// Threads: one at a time; any thread may destroy the batch. Issue all work that uses the batch
/// before it is destroyed. In a child of fork a batch may be destroyed, which does nothing there.
///
/// To share a batch, or to use it on other streams too, move it into a `std::shared_ptr<const
/// batch>` and see `stream_use`. `to_dlpack` hands it to other libraries.
///
/// A batch that was moved from may be destroyed and assigned to. Its size, index and epoch are 0;
/// everything else throws usage_error. Views of a temporary batch do not compile, because its
/// memory is recycled at once.
class batch {
 public:
  batch(batch&& other) noexcept;
  batch& operator=(batch&& other) noexcept;
  batch(const batch&) = delete;
  batch& operator=(const batch&) = delete;
  ~batch();

  /// One field by name: on the device, or on the host if it is kept there alone
  /// (`loader_options::keep_on_host`).
  /// @throws usage_error if there is no such field, naming the existing ones.
  [[nodiscard]] tensor_view operator[](std::string_view field) const&;
  tensor_view operator[](std::string_view field) const&& = delete;
  /// One field by its index in the dataset's `fields()`. @throws usage_error past the last.
  [[nodiscard]] tensor_view field_at(std::size_t place) const&;
  tensor_view field_at(std::size_t place) const&& = delete;
  /// The host's view of a field that the host keeps (`loader_options::keep_on_host`), whether it is
  /// on the device too or not. Read it before the batch is destroyed, because another batch's rows
  /// are then written there, whatever work was issued on a stream. The rows are complete as soon as
  /// the batch was taken, and no stream has to be waited for.
  /// @throws usage_error if the host does not keep the field, naming those that it keeps.
  [[nodiscard]] tensor_view on_host(std::string_view field) const&;
  tensor_view on_host(std::string_view field) const&& = delete;
  /// Number of fields.
  [[nodiscard]] std::size_t field_count() const;

  /// Samples in the batch: the batch size, or fewer in an epoch's last batch.
  [[nodiscard]] std::uint64_t size() const noexcept { return lease_->samples; }
  /// Number of the batch within its epoch, from 0; with a `shard`, number of the global batch.
  [[nodiscard]] std::uint64_t index() const noexcept { return lease_->index; }
  [[nodiscard]] std::uint64_t epoch() const noexcept { return lease_->epoch; }
  /// The batch's samples as indices in the dataset, in the batch's order. A replacement sample
  /// (`error_policy`) has its own index. Computed from the sampler, at its cost.
  [[nodiscard]] std::vector<sample_index> samples() const;
  /// Number of samples at the batch's end that repeat the epoch's first ones to give the batch its
  /// required size (`partial_batch`). An evaluation counts the first `size() - repeats()` samples.
  /// 0 in every batch but the epoch's last. If samples were left out (`error_action::skip`),
  /// repeats may be any samples that came earlier in the epoch.
  [[nodiscard]] std::uint64_t repeats() const;
  /// The stream the batch was taken on.
  [[nodiscard]] stream_ref stream() const;
  /// The device whose memory holds the batch.
  [[nodiscard]] device_id device() const;

 private:
  friend class detail::device_ring;
  friend class stream_use;
  using lease_type = detail::lease<detail::device_ring, detail::leased_batch>;
  batch(std::shared_ptr<detail::device_ring> ring, const detail::leased_batch& place) noexcept;
  [[nodiscard]] const detail::batch_format& format() const;
  [[nodiscard]] std::size_t place_of(std::string_view field) const;
  [[nodiscard]] tensor_view host_view(std::size_t place) const;

  lease_type lease_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
