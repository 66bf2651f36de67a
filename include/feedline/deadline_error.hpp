#pragma once

#include <feedline/error.hpp>
#include <feedline/export.hpp>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// The batch that was not there by a deadline, and what it seemed to wait for.
struct awaited_batch {
  std::uint64_t epoch = 0;
  std::uint64_t batch = 0;               ///< number within the epoch
  std::chrono::nanoseconds waited = {};  ///< by the call that gave up
  std::optional<std::uint64_t> sample =
      {};  ///< the first of those that are being read, by the reader that has been at its request
           ///< the longest; empty: no read is under way
  bool all_held = false;  ///< batches are held in every slot: none comes until some are ended
};

/// A batch was not there by the deadline that `epoch_range::next` was given. Nothing is lost: the
/// next call waits for the same batch.
///
/// `what()` names the batch, how long it was waited for, and what each reader is reading, and for
/// how long; or what else holds the batch up.
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
