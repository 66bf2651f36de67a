#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>

namespace feedline::detail {

/// A dataset whose samples come while a loader reads it. It is asked for a batch and gives what it
/// has. A sample is gone only when its batch was handed out: until then the next pass gets it.
class live_source {
 public:
  /// Identifies an epoch pass, and keeps it, so that no other has its address.
  using pass_ptr = std::shared_ptr<const void>;

  struct taken {
    std::uint64_t samples = 0;
    bool is_end = false;  ///< no sample follows, in this pass or a later one
  };

  live_source() = default;
  live_source(const live_source&) = delete;
  live_source& operator=(const live_source&) = delete;
  virtual ~live_source() = default;

  /// Begins to read it. @throws usage_error if another loader does.
  virtual void attach() const = 0;
  /// Ends reading: what was not handed out waits again.
  virtual void detach() const noexcept = 0;

  /// Begins a pass, unless it was begun before, and waits until a batch of it should be read. Then
  /// the same thread calls `take`.
  /// @param most The most samples that the batch may have.
  /// @param is_wanted Asked while it waits, at least each 20 ms; if false, the wait ends.
  virtual void await(const pass_ptr& pass, std::uint64_t most,
                     const std::function<bool()>& is_wanted) const = 0;
  /// Writes the samples that wait, at most `most`; none if another pass was begun last.
  /// @param out Room for `most` samples of each field.
  virtual taken take(const pass_ptr& pass, std::uint64_t most,
                     std::span<const std::span<std::byte>> out) const = 0;
  /// The oldest batch of this pass that has samples was handed out. Any thread.
  virtual void handed_out(const pass_ptr& pass) const noexcept = 0;
  /// Makes `await` ask `is_wanted` now. Any thread.
  virtual void wake() const noexcept = 0;
};

/// Reads a live source for as long as this object lives, or until `end`.
class live_reading {
 public:
  /// @param of Null: there is none. @throws usage_error
  explicit live_reading(const live_source* of) : of_{of} {
    if (of_ != nullptr) of_->attach();
  }
  live_reading(const live_reading&) = delete;
  live_reading& operator=(const live_reading&) = delete;
  ~live_reading() { end(); }

  [[nodiscard]] const live_source* source() const noexcept { return of_; }
  void end() noexcept {
    if (const live_source* const ended = std::exchange(of_, nullptr)) ended->detach();
  }

 private:
  const live_source* of_;
};

}  // namespace feedline::detail
