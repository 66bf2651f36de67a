#include "python/loader/core.hpp"

#include <feedline/error.hpp>

#include <unistd.h>

namespace feedline::python {

loader_core::loader_core(loader made, device_ptr device, std::shared_ptr<held_note> note)
    : loader_{std::make_shared<loader>(std::move(made))},
      device_{std::move(device)},
      note_{std::move(note)},
      in_background_{loader_->plan().background},
      process_{::getpid()} {}

std::unique_lock<std::mutex> loader_core::turn() {
  if (::getpid() != process_) return {};
  return std::unique_lock{turn_};
}

std::unique_lock<std::mutex> loader_core::try_turn() {
  return std::unique_lock{turn_, std::try_to_lock};
}

std::shared_ptr<loader> loader_core::held() const {
  if (!loader_) throw usage_error{"the loader is closed"};
  return loader_;
}

void loader_core::close() {
  if (!loader_) return;
  loader_->stop();  // ends a wait of the thread whose turn it is
  auto closed = std::move(loader_);
  unlocked([&] {
    const auto own = turn();
    closed.reset();
  });
}

}  // namespace feedline::python
