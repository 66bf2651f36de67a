#pragma once

#include <chrono>

namespace mnist {

/// Measures how long the training loop waits for its data: `begin` just before a batch is taken,
/// `end` just after.
///
/// Threads: one, the training loop's.
class wait_meter {
 public:
  using seconds = std::chrono::duration<double>;

  wait_meter() = default;
  wait_meter(const wait_meter&) = delete;
  wait_meter& operator=(const wait_meter&) = delete;
  virtual ~wait_meter() = default;

  virtual void begin() = 0;
  virtual void end() = 0;
  /// The waiting since the last call, in all. Blocks until the device has come to the last `end`.
  [[nodiscard]] virtual seconds take() = 0;
};

/// For a loop that computes on the host: what its own clock says.
class host_wait_meter final : public wait_meter {
 public:
  void begin() override { begun_ = clock::now(); }
  void end() override { waited_ += clock::now() - begun_; }
  [[nodiscard]] seconds take() override {
    const seconds taken = waited_;
    waited_ = {};
    return taken;
  }

 private:
  using clock = std::chrono::steady_clock;
  clock::time_point begun_;
  seconds waited_{};
};

}  // namespace mnist
