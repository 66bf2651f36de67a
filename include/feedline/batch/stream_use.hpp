#pragma once

#include <feedline/batch/batch.hpp>
#include <feedline/device/stream_ref.hpp>
#include <feedline/export.hpp>

#include <memory>
#include <thread>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Use of a batch on a stream other than the one it was taken on, shared with its other users.
///
///     auto batch = std::make_shared<const feedline::batch>(std::move(*range.next()));
///     feedline::stream_use use{batch, feedline::stream_ref{side_stream}};
///     log_images((*use)["image"].data<std::uint8_t>(), side_stream);
///
/// When the use begins, `stream` is made to wait for all work issued so far on the batch's own
/// stream, including the batch's arrival. The batch's memory is recycled once all uses and all
/// other holders of the batch are gone, after the work issued on each stream until its use ended.
/// So issue all work that uses the batch before the use ends. The host waits for nothing, and the
/// batch's own stream never waits for `stream`.
///
/// If `stream` is the batch's own stream, the use only holds the batch.
///
/// The stream must live until the use has ended. If the use ends while the stream is captured, the
/// stream must live until the capture has ended and either the loader's next batch was taken or the
/// loader was destroyed.
///
/// Threads: one at a time; any thread may begin and end a use. In a child of fork it may be
/// destroyed, which does nothing there. If the device refuses a call when the use ends, the
/// loader's next step throws stage_error.
class stream_use {
 public:
  /// @throws usage_error if there is no batch, the device cannot use the stream, one of the two
  /// streams is being captured, or in a child of fork; device_error. The batch is unharmed then.
  stream_use(std::shared_ptr<const batch> used, stream_ref stream);
  stream_use(stream_use&& other) noexcept = default;
  stream_use& operator=(stream_use&& other) noexcept;
  stream_use(const stream_use&) = delete;
  stream_use& operator=(const stream_use&) = delete;
  ~stream_use();

  /// The batch. Not available on a use that was moved from.
  [[nodiscard]] const batch& operator*() const noexcept { return *batch_; }
  [[nodiscard]] const batch* operator->() const noexcept { return batch_.get(); }
  /// The stream given to the constructor.
  [[nodiscard]] stream_ref stream() const noexcept { return stream_; }

 private:
  void end() noexcept;

  std::shared_ptr<const batch> batch_;  ///< null once moved from
  stream_ref stream_;
  std::thread::id begun_by_;
  bool is_further_ = false;  ///< not the batch's own stream
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
