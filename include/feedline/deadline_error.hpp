#pragma once

#include <feedline/error.hpp>
#include <feedline/export.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// The batch that missed a deadline, and the probable cause of the delay.
struct awaited_batch {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;               ///< number within the epoch
  std::chrono::nanoseconds waited = {};  ///< time that the failed call waited
  /// First sample of the read that has been in progress the longest; empty if no read is in
  /// progress.
  std::optional<std::uint64_t> sample = {};
  /// Whether the consumer holds batches in every slot. Then no batch arrives until it ends some.
  bool all_held = false;
};

/// A batch was not ready by the deadline given to `epoch_range::next`. Nothing is lost: the next
/// call waits for the same batch.
///
/// `what()` names the batch and the time waited. It also says what each reader is reading and for
/// how long, or what else delays the batch.
class deadline_error : public error {
 public:
  deadline_error(const awaited_batch& missed, const std::string& message)
      : error{message}, where_{missed} {}

  [[nodiscard]] const awaited_batch& where() const noexcept { return where_; }

 private:
  awaited_batch where_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
