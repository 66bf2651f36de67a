#include "reader/filler.hpp"

#include <feedline/error.hpp>

#include <algorithm>
#include <cstddef>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {
namespace {

/// What one reader needs for a run of samples; kept from run to run so that reading allocates
/// nothing.
struct scratch {
  std::vector<sample_index> samples;
  std::vector<std::span<std::byte>> out;
};

scratch& this_threads_scratch() {
  thread_local scratch kept;
  return kept;
}

}  // namespace

filler::filler(const loader_plan& plan, dataset_ptr dataset,
               std::shared_ptr<const batch_format> format, staging_ring& staging)
    : plan_{plan},
      dataset_{std::move(dataset)},
      format_{std::move(format)},
      staging_{staging},
      serialized_{dataset_->concurrency() == read_concurrency::serialized} {}

bool filler::fill(request request) {
  const slot_index index{request.slot};
  staging_slot& slot = staging_[index];
  const std::uint64_t begin = request.number * plan_.request_samples;
  read(slot, begin, std::min(begin + plan_.request_samples, slot.work.samples));
  return staging_.finish_request(index);
}

void filler::read(staging_slot& slot, std::uint64_t begin, std::uint64_t end) {
  while (begin < end) {
    if (stopping_.load(std::memory_order_relaxed) ||
        slot.work.run->abandoned.load(std::memory_order_relaxed))
      return;
    if (slot.failed_before(position{slot.work.first.value + begin})) return;
    const std::uint64_t batch_end = (begin / plan_.batch_size + 1) * plan_.batch_size;
    const std::uint64_t run_end = std::min(end, batch_end);
    try {
      read_within_batch(slot, begin, run_end);
    } catch (...) {
      fail(slot, begin);
      return;
    }
    begin = run_end;
  }
}

void filler::read_within_batch(staging_slot& slot, std::uint64_t begin, std::uint64_t end) {
  const slot_layout& layout = format_->layout;
  const std::uint64_t count = end - begin;
  const std::uint64_t batch = begin / plan_.batch_size;
  const std::uint64_t within = begin - batch * plan_.batch_size;

  scratch& use = this_threads_scratch();
  use.samples.resize(count);
  format_->sampler.indices(format_->dataset_samples, slot.work.run->epoch,
                           position{slot.work.first.value + begin}, use.samples);
  use.out.clear();
  std::byte* const batch_data = slot.data + batch * layout.batch_bytes();
  for (std::size_t place = 0; place < layout.fields().size(); ++place) {
    const std::size_t row = layout.row_bytes(place);
    use.out.emplace_back(batch_data + layout.field_offset(place) + within * row, count * row);
  }

  std::unique_lock<std::mutex> turn;
  if (serialized_) turn = std::unique_lock{turn_};
  dataset_->read(use.samples, use.out);
}

void filler::fail(staging_slot& slot, std::uint64_t begin) noexcept {
  const std::uint64_t batch = begin / plan_.batch_size;
  stage_location where{.stage = stage::reader,
                       .epoch = slot.work.run->epoch,
                       .ticket = slot.work.ticket.value,
                       .batch = slot.work.first_batch + batch,
                       .path = {}};
  const std::exception_ptr cause = std::current_exception();
  try {
    std::rethrow_exception(cause);
  } catch (const dataset_error& failure) {
    where.sample = failure.sample();
    where.path = failure.path();
  } catch (...) {
    // Another exception knows no sample and no path.
  }
  slot.fail({std::move(where), cause, position{slot.work.first.value + begin}, batch});
}

}  // namespace feedline::detail
