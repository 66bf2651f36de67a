#pragma once

#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace feedline::python {

/// The warning that batches are kept, from the thread that takes a batch without the interpreter's
/// lock to one that has it.
class held_note {
 public:
  void write(const std::string& text) {
    const std::scoped_lock lock{mutex_};
    text_ = text;
  }
  /// Nothing if there is none, or it was taken.
  [[nodiscard]] std::optional<std::string> take() {
    const std::scoped_lock lock{mutex_};
    return std::exchange(text_, std::nullopt);
  }

 private:
  std::mutex mutex_;
  std::optional<std::string> text_;
};

}  // namespace feedline::python
