#include "io/read_forecast.hpp"

#include <utility>

namespace feedline::detail {
namespace {

thread_local constinit range_recorder* recorder = nullptr;
constinit std::atomic<forecast_listener*> listening{nullptr};

}  // namespace

range_recorder* range_recorder::of_this_thread() noexcept {
  return recorder;
}

range_recorder::scope::scope(range_recorder& takes) noexcept
    : before_{std::exchange(recorder, &takes)} {}

range_recorder::scope::~scope() {
  recorder = before_;
}

forecast_listener* forecast_listener::of_process() noexcept {
  return listening.load(std::memory_order_acquire);
}

void forecast_listener::set(forecast_listener* listener) noexcept {
  listening.store(listener, std::memory_order_release);
}

}  // namespace feedline::detail
