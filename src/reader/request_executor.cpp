#include "reader/request_executor.hpp"

#include <feedline/error.hpp>

#include <algorithm>
#include <exception>
#include <utility>

namespace feedline::detail {

request_executor::request_executor(std::uint64_t batch_size, slot_writer& reader,
                                   staging_ring& staging, const read_ahead* ahead)
    : batch_size_{batch_size}, reader_{reader}, staging_{staging}, ahead_{ahead} {}

bool request_executor::fill(request request, reader_scratch& use) {
  const slot_index index{request.slot};
  staging_slot& slot = staging_[index];
  const sample_run samples = slot.work.layout.request(request.number, slot.work.samples);
  hint(slot, samples, use);
  read(slot, samples, use);
  // A slot that was not read to its end must not pass for a filled one: the device would follow
  // tables that nobody wrote.
  if (stopping_.load()) return false;
  return staging_.finish_request(index);
}

bool request_executor::is_wanted(const staging_slot& slot) const noexcept {
  return !stopping_.load(std::memory_order_relaxed) &&
         !slot.work.run->abandoned.load(std::memory_order_relaxed);
}

void request_executor::hint(const staging_slot& slot, sample_run samples,
                            reader_scratch& use) const noexcept {
  if (ahead_ == nullptr || !is_wanted(slot)) return;
  const std::uint64_t first = slot.work.first.value;
  ahead_->before_reading(*slot.work.run, position{first + samples.begin},
                         position{first + samples.end}, use);
}

void request_executor::read(staging_slot& slot, sample_run samples, reader_scratch& use) {
  while (samples.begin < samples.end) {
    if (!is_wanted(slot)) return;
    if (slot.failed_before(position{slot.work.first.value + samples.begin})) return;
    const std::uint64_t batch_end = (samples.begin / batch_size_ + 1) * batch_size_;
    const std::uint64_t run_end = std::min(samples.end, batch_end);
    try {
      reader_.read(slot, {samples.begin, run_end}, use);
    } catch (...) {
      fail(slot, samples.begin);
      return;
    }
    samples.begin = run_end;
  }
}

void request_executor::fail(staging_slot& slot, std::uint64_t begin) noexcept {
  const std::uint64_t batch = begin / batch_size_;
  stage_location where = slot.work.at(stage::reader, batch);
  const std::exception_ptr cause = std::current_exception();
  try {
    std::rethrow_exception(cause);
  } catch (const dataset_error& failure) {
    where.sample = failure.sample();
    try {
      where.path = failure.path();
    } catch (...) {
      // No memory for it: the cause has it.
    }
  } catch (...) {
    // Another exception knows no sample and no path.
  }
  slot.fail({{std::move(where), cause}, position{slot.work.first.value + begin}, batch});
}

}  // namespace feedline::detail
