#pragma once

#include <feedline/export.hpp>

#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

/// Root of all exceptions that feedline throws. `what()` says what failed, where, the message of
/// the component that failed, and what to do.
class error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The caller asked for something invalid. Thrown before any thread starts, or by the call itself.
class usage_error : public error {
 public:
  using error::error;
};

/// A thread cannot be started. `what()` names the thread, the number of threads wanted, and the
/// remedy. Threads that were started before it have ended.
class thread_error : public error {
 public:
  using error::error;
};

/// Location of a fault in a dataset. Every member may be unknown (empty).
struct dataset_location {
  std::string path;                          ///< file; empty for memory
  std::string field;                         ///< field name, or the dataset's name within the file
  std::optional<std::uint64_t> sample = {};  ///< index of the sample in the dataset
  std::optional<std::uint64_t> offset = {};  ///< byte offset in the file
};

/// A dataset cannot be opened, or one of its samples cannot be read.
///
/// `what()` is "PATH: field 'F', sample N, byte N: MESSAGE", with the parts that are known.
class dataset_error : public error {
 public:
  dataset_error(dataset_location where, std::string_view message);

  [[nodiscard]] const dataset_location& where() const noexcept { return where_; }
  /// The MESSAGE part of `what()`, without the location.
  [[nodiscard]] const std::string& message() const noexcept { return message_; }
  [[nodiscard]] const std::string& path() const noexcept { return where_.path; }
  [[nodiscard]] const std::string& field() const noexcept { return where_.field; }
  [[nodiscard]] std::optional<std::uint64_t> sample() const noexcept { return where_.sample; }
  [[nodiscard]] std::optional<std::uint64_t> offset() const noexcept { return where_.offset; }

 private:
  dataset_location where_;
  std::string message_;
};

/// The HDF5 library reported an error. `what()` contains its innermost message.
class hdf5_error : public dataset_error {
 public:
  using dataset_error::dataset_error;
};

/// A device call failed.
class device_error : public error {
 public:
  using error::error;
};

/// A CUDA runtime call failed. `what()` names the call, its location in the code, and CUDA's own
/// message.
class cuda_error : public device_error {
 public:
  cuda_error(int code, const std::string& message) : device_error{message}, code_{code} {}

  /// The `cudaError_t` as an integer.
  [[nodiscard]] int code() const noexcept { return code_; }

 private:
  int code_;
};

/// Kind of memory that a device allocates.
enum class memory_kind : std::uint8_t {
  staging,  ///< host memory the device can copy from asynchronously (pinned)
  device,   ///< memory the consumer's kernels read
};

/// "staging" or "device".
[[nodiscard]] std::string_view to_string(memory_kind kind) noexcept;

/// An allocation failed. Nothing was allocated.
class out_of_memory : public device_error {
 public:
  out_of_memory(std::size_t bytes, memory_kind kind, const std::string& message)
      : device_error{message}, bytes_{bytes}, kind_{kind} {}

  /// Number of bytes requested.
  [[nodiscard]] std::size_t bytes() const noexcept { return bytes_; }
  [[nodiscard]] memory_kind kind() const noexcept { return kind_; }

 private:
  std::size_t bytes_;
  memory_kind kind_;
};

/// Stages that can fail while an epoch runs. `results` is the stage of `result_ring`.
enum class stage : std::uint8_t { reader, staging, transfer, batch, results };

/// "reader", "staging", "transfer", "batch" or "results".
[[nodiscard]] std::string_view to_string(stage stage) noexcept;

/// Location in the pipeline at which an epoch failed.
struct stage_location {
  feedline::stage stage = feedline::stage::reader;
  std::uint64_t epoch = 0;
  /// Slot's number within the epoch, counted from the batch that `seek` went to, if any. For a
  /// result, its number.
  std::uint64_t ticket = 0;
  /// The first batch of the epoch that cannot be delivered. For a result, the batch in its tag.
  std::uint64_t batch = 0;
  std::optional<std::uint64_t> sample = {};  ///< index in the dataset, if the cause knows it
  std::string path;                          ///< file, if the cause knows it
};

/// An epoch cannot continue. Thrown by the consumer's step that would have delivered the failing
/// batch, and by every later step until `loader::seek`. All batches before the failing one were
/// delivered. An error in an abandoned part of an epoch is never reported.
class stage_error : public error {
 public:
  /// @param cause The original exception. `what()` quotes its message; `cause()` returns it.
  stage_error(stage_location where, std::exception_ptr cause);

  [[nodiscard]] const stage_location& where() const noexcept { return where_; }

  /// The exception that stopped the stage; never null.
  [[nodiscard]] const std::exception_ptr& cause() const noexcept { return cause_; }

 private:
  stage_location where_;
  std::exception_ptr cause_;
};

}  // namespace FEEDLINE_ABI
}  // namespace feedline
