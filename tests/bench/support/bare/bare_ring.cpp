#include "bench/support/bare/bare_ring.hpp"

#include "bench/support/measure.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

namespace feedline::bench {
namespace {

/// Lets waiting threads go and end.
struct ending {
  std::atomic<bool>& stop;
  std::atomic<std::size_t>& open;
  ~ending() {
    stop = true;
    open = SIZE_MAX;
    open.notify_all();
  }
};

}  // namespace

bare_ring::bare_ring(device_ptr device, const cpu_gather& gather, int threads, row_copies copies)
    : device_{std::move(device)},
      gather_{gather},
      threads_{threads},
      copies_{copies},
      requests_{std::max<std::size_t>(ring_bytes / pieces / gather.request_bytes(), 1)},
      piece_bytes_{requests_ * gather.request_bytes()},
      pinned_{device_, memory_kind::staging, pieces * piece_bytes_},
      on_device_{device_, memory_kind::device, pieces * piece_bytes_},
      stream_{device_},
      copied_{detail::event{device_}, detail::event{device_}, detail::event{device_},
              detail::event{device_}} {}

double bare_ring::rate(double seconds) {
  std::atomic<std::size_t> next{0};                       // request
  std::atomic<std::size_t> open{pieces};                  // pieces before it may be written
  std::array<std::atomic<std::size_t>, pieces> filled{};  // requests of a piece
  std::atomic<bool> stop{false};
  const auto gather = [&] {
    for (;;) {
      const std::size_t request = next.fetch_add(1);
      const std::size_t piece = request / requests_;
      for (std::size_t now = open; piece >= now; now = open) open.wait(now);
      if (stop) return;
      gather_.copy_request(request,
                           pinned_.data() + piece % pieces * piece_bytes_ +
                               request % requests_ * gather_.request_bytes(),
                           copies_);
      filled[piece % pieces].fetch_add(1);
    }
  };
  std::vector<std::jthread> threads;
  const ending ends_them{stop, open};
  const auto start = clock_type::now();
  for (int i = 0; i < threads_; ++i) threads.emplace_back(gather);
  std::size_t issued = 0;
  std::size_t done = 0;
  while (seconds_since(start) < seconds) {
    const std::size_t place = issued % pieces;
    if (filled[place] == requests_) {
      filled[place] = 0;
      const std::size_t offset = place * piece_bytes_;
      device_->copy(on_device_.data() + offset, pinned_.data() + offset, piece_bytes_,
                    stream_.get());
      device_->record(copied_[place].get(), stream_.get());
      ++issued;
    }
    if (done < issued && device_->is_done(copied_[done % pieces].get())) {
      open = ++done + pieces;
      open.notify_all();
    }
  }
  const double rate = static_cast<double>(done * piece_bytes_) / seconds_since(start);
  if (issued > 0) device_->sync(copied_[(issued - 1) % pieces].get());
  return rate;
}

}  // namespace feedline::bench
