// Over 250 lines: one class, whose members one lock guards.

#include <feedline/error.hpp>
#include <feedline/queue/queue_dataset.hpp>

#include "dataset/choose_fields.hpp"
#include "detail/arithmetic.hpp"
#include "queue/live_source.hpp"

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

using time_point = std::chrono::steady_clock::time_point;

/// Rows of one field, reused in a circle.
struct row_circle {
  std::size_t row_bytes;
  std::unique_ptr<std::byte[]> rows;  // NOLINT(modernize-avoid-c-arrays): not zeroed
};

/// Samples are numbered from 0 in the order in which their rows were reserved. Numbers rise:
///
///     handed_out_ <= read_ <= ready_ <= reserved_ <= handed_out_ + capacity
///
/// Rows [handed_out_, read_) are in batches that are on their way, [read_, ready_) wait, and
/// producers write [ready_, reserved_), some of which may be written. A row is reused only after
/// its sample was handed out.
class sample_queue final : public queue_dataset, public live_source {
 public:
  sample_queue(std::vector<field> fields, const queue_options& options)
      : fields_{std::move(fields)}, options_{options} {
    for (const std::size_t bytes : checked_row_bytes("make_queue_dataset", fields_)) {
      const auto all = checked_multiply(bytes, options.capacity);
      if (!all || *all >> 63 != 0)
        throw usage_error{"make_queue_dataset: queue_options::capacity is " +
                          std::to_string(options.capacity) +
                          ", and the samples would take 2^63 bytes or more: lower it"};
      circles_.push_back({bytes, std::make_unique_for_overwrite<std::byte[]>(*all)});
    }
    is_written_.resize(options.capacity);
    put_at_.resize(options.capacity);
  }

  std::uint64_t size() const override { return std::uint64_t{1} << 56; }
  std::vector<field> fields() const override { return fields_; }
  bool varies_by_epoch() const override { return true; }
  read_concurrency concurrency() const override { return read_concurrency::serialized; }

  put_result put(std::span<const std::span<const std::byte>> values,
                 const put_limits& limits) override {
    require_sample(values);
    std::unique_lock lock{mutex_};
    const auto may_go_on = [&] { return is_closed_ || has_room(); };
    if (!may_go_on()) {
      // `max` would overflow in the conversions of a timed wait.
      const bool is_limited = limits.deadline != time_point::max();
      const bool came = is_limited ? room_.wait_until(lock, limits.stop, limits.deadline, may_go_on)
                                   : room_.wait(lock, limits.stop, may_go_on);
      if (!came) return put_result::full;
    }
    if (is_closed_) return put_result::closed;
    const std::uint64_t number = reserved_++;
    const std::size_t row = row_of(number);
    is_written_[row] = 0;
    put_at_[row] = std::chrono::steady_clock::now();
    lock.unlock();
    for (std::size_t i = 0; i < values.size(); ++i)
      std::memcpy(circles_[i].rows.get() + row * circles_[i].row_bytes, values[i].data(),
                  values[i].size());
    lock.lock();
    is_written_[row] = 1;
    if (number != ready_) return put_result::accepted;  // an earlier one is not written yet
    while (ready_ < reserved_ && is_written_[row_of(ready_)] != 0) ++ready_;
    lock.unlock();
    came_.notify_one();
    return put_result::accepted;
  }

  void close() noexcept override {
    {
      const std::scoped_lock lock{mutex_};
      is_closed_ = true;
    }
    came_.notify_all();
    room_.notify_all();
  }

  std::size_t waiting() const noexcept override {
    const std::scoped_lock lock{mutex_};
    return reserved_ - read_;
  }
  std::size_t in_flight() const noexcept override {
    const std::scoped_lock lock{mutex_};
    return read_ - handed_out_;
  }

  void attach() const override {
    const std::scoped_lock lock{mutex_};
    if (is_attached_)
      throw usage_error{"another loader reads this queue: one at a time delivers its samples"};
    is_attached_ = true;
  }
  void detach() const noexcept override {
    const std::scoped_lock lock{mutex_};
    is_attached_ = false;
    begin_pass(nullptr);
  }

  void await(const pass_ptr& pass, std::uint64_t most,
             const std::function<bool()>& is_wanted) const override {
    std::unique_lock lock{mutex_};
    if (!is_wanted()) return;
    if (pass != pass_) begin_pass(pass);
    await_batch(lock, most, is_wanted);
  }

  taken take(const pass_ptr& pass, std::uint64_t most,
             std::span<const std::span<std::byte>> out) const override {
    std::unique_lock lock{mutex_};
    if (pass != pass_) return {};
    const std::uint64_t first = read_;
    const std::uint64_t count = std::min(most, ready_ - first);
    lock.unlock();
    for (std::size_t i = 0; i < circles_.size(); ++i) copy_rows(circles_[i], first, count, out[i]);
    lock.lock();
    read_ = first + count;
    if (count != 0) batch_ends_.push_back(read_);
    return {count, is_closed_ && read_ == reserved_};
  }

  void handed_out(const pass_ptr& pass) const noexcept override {
    {
      const std::scoped_lock lock{mutex_};
      if (pass != pass_ || batch_ends_.empty()) return;
      handed_out_ = batch_ends_.front();
      batch_ends_.pop_front();
    }
    room_.notify_all();
  }

  void wake() const noexcept override {
    { const std::scoped_lock lock{mutex_}; }  // so that it falls into a wait, or before one
    came_.notify_all();
  }

 private:
  void do_read(const read_request& /*request*/) const override {
    throw usage_error{
        "samples of a queue cannot be read by their index: give the queue itself to a loader, and "
        "no dataset that is made of it"};
  }

  void begin_producer() noexcept override {
    const std::scoped_lock lock{mutex_};
    ++producers_;
  }
  void end_producer() noexcept override {
    bool is_last = false;
    {
      const std::scoped_lock lock{mutex_};
      is_last = --producers_ == 0;
    }
    if (is_last) close();
  }

  void require_sample(std::span<const std::span<const std::byte>> values) const {
    if (values.size() != fields_.size())
      throw usage_error{"queue_dataset::put: the sample has " + std::to_string(values.size()) +
                        " values, but the queue has " + std::to_string(fields_.size()) + " fields"};
    for (std::size_t i = 0; i < values.size(); ++i)
      if (values[i].size() != circles_[i].row_bytes)
        throw usage_error{"queue_dataset::put: field '" + fields_[i].name + "' has " +
                          std::to_string(values[i].size()) + " bytes, but " +
                          to_string(fields_[i]) + " takes " +
                          std::to_string(circles_[i].row_bytes)};
  }

  [[nodiscard]] std::size_t row_of(std::uint64_t number) const noexcept {
    return static_cast<std::size_t>(number % options_.capacity);
  }
  [[nodiscard]] bool has_room() const noexcept {
    return reserved_ - handed_out_ < options_.capacity;
  }

  /// Samples that were read and not handed out wait again.
  void begin_pass(pass_ptr pass) const noexcept {
    pass_ = std::move(pass);
    read_ = handed_out_;
    batch_ends_.clear();
  }

  /// Waits until a batch should be delivered, the queue has ended, or it is not wanted.
  void await_batch(std::unique_lock<std::mutex>& lock, std::uint64_t most,
                   const std::function<bool()>& is_wanted) const {
    const auto is_over = [&] { return (is_closed_ && ready_ == reserved_) || !is_wanted(); };
    constexpr std::chrono::milliseconds between_looks{20};
    while (ready_ == read_ && !is_over()) came_.wait_for(lock, between_looks);
    if (ready_ == read_) return;
    const time_point deadline = put_at_[row_of(read_)] + options_.max_delay;
    // A queue that is full gets no more samples before some are handed out.
    const auto may_grow = [&] {
      return ready_ - read_ < most && (has_room() || ready_ < reserved_);
    };
    while (may_grow() && !is_over()) {
      const time_point now = std::chrono::steady_clock::now();
      if (now >= deadline) return;
      came_.wait_until(lock, std::min(deadline, now + between_looks));
    }
  }

  void copy_rows(const row_circle& from, std::uint64_t first, std::uint64_t count,
                 std::span<std::byte> out) const noexcept {
    const std::uint64_t begin = row_of(first);
    const std::uint64_t before_wrap = std::min<std::uint64_t>(count, options_.capacity - begin);
    const auto copy = [&](std::uint64_t row, std::uint64_t rows, std::uint64_t place) {
      if (rows != 0)
        std::memcpy(out.data() + place * from.row_bytes, from.rows.get() + row * from.row_bytes,
                    rows * from.row_bytes);
    };
    copy(begin, before_wrap, 0);
    copy(0, count - before_wrap, before_wrap);
  }

  const std::vector<field> fields_;
  const queue_options options_;
  std::vector<row_circle> circles_;
  mutable std::mutex mutex_;                  ///< guards all that follow
  mutable std::condition_variable came_;      ///< the reader waits for samples
  mutable std::condition_variable_any room_;  ///< producers wait for room
  mutable std::uint64_t handed_out_ = 0;
  mutable std::uint64_t read_ = 0;
  std::uint64_t ready_ = 0;
  std::uint64_t reserved_ = 0;
  std::vector<std::uint8_t> is_written_;  ///< one for each row
  std::vector<time_point> put_at_;
  mutable std::deque<std::uint64_t> batch_ends_;  ///< ends of batches on their way
  mutable pass_ptr pass_;
  mutable bool is_attached_ = false;
  std::size_t producers_ = 0;
  bool is_closed_ = false;
};

}  // namespace
}  // namespace feedline::detail

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {

queue_producer::queue_producer(std::shared_ptr<queue_dataset> of) : of_{std::move(of)} {
  if (!of_) throw usage_error{"queue_producer: the queue is null"};
  of_->begin_producer();
}

queue_producer& queue_producer::operator=(queue_producer&& other) noexcept {
  if (this == &other) return *this;
  end();
  of_ = std::move(other.of_);
  return *this;
}

put_result queue_producer::put(std::span<const std::span<const std::byte>> values,
                               const put_limits& limits) const {
  if (!of_) throw usage_error{"queue_producer: this producer has ended"};
  return of_->put(values, limits);
}

void queue_producer::end() noexcept {
  if (const auto ended = std::exchange(of_, nullptr)) ended->end_producer();
}

std::shared_ptr<queue_dataset> make_queue_dataset(std::vector<field> fields,
                                                  const queue_options& options) {
  if (options.capacity == 0)
    throw usage_error{
        "make_queue_dataset: queue_options::capacity is 0: say how many samples may wait"};
  if (options.max_delay.count() < 0)
    throw usage_error{"make_queue_dataset: queue_options::max_delay is " +
                      std::to_string(options.max_delay.count()) + " us: say 0 or more"};
  constexpr std::chrono::hours longest_delay{24};  // so that no sum overflows
  queue_options within = options;
  within.max_delay = std::min<std::chrono::microseconds>(options.max_delay, longest_delay);
  return std::make_shared<detail::sample_queue>(std::move(fields), within);
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
