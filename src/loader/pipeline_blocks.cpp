#include <feedline/deadline_error.hpp>
#include <feedline/error.hpp>

#include "detail/doorbell.hpp"
#include "detail/threads.hpp"
#include "loader/pipeline.hpp"
#include "reader/run_failure.hpp"

#include <chrono>
#include <cstddef>
#include <exception>
#include <span>
#include <utility>
#include <vector>

// What the consumer does where the device decodes blocks.

namespace feedline::detail {

bool pipeline::verify(slot_index slot, const take_limits& limits) {
  device_slot& taken = (*ring_)[slot];
  slot_content& content = taken.content;
  if (taken.first_bad == nullptr || content.samples == 0 || content.run != cursor_.run())
    return true;
  try {
    const in_activity waiting{&consumer_, activity::starved};
    const auto began = std::chrono::steady_clock::now();
    const auto decoded = [&] { return device_->is_done(taken.ready.get()); };
    const auto given_up = [&] {
      return limits.over() || limits.stop.stop_requested() || stopped_.load();
    };
    if (!spin_until(decoded, pauses_between_polls))
      poll_until([&] { return given_up() || decoded(); });
    if (!decoded()) {
      decoding_ = slot;
      if (limits.stop.stop_requested() || stopped_.load()) return false;
      miss_deadline(began);
    }
  } catch (const deadline_error&) {
    throw;
  } catch (...) {
    fail(failure{content.at(stage::transfer), std::current_exception()});
  }
  if (*taken.first_bad >= content.samples) return true;
  const std::uint64_t bad = *taken.first_bad;
  content.failure = failure_of(content, bad);
  content.batches = bad / plan_.batch_size;
  content.samples = content.batches * plan_.batch_size;
  return true;
}

failure pipeline::failure_of(const slot_work& work, std::uint64_t bad) {
  try {
    const position at{work.first.value + bad};
    sample_index sample{};
    source_.indices(work.run->epoch, at, {&sample, 1});
    std::vector<std::byte> row(sample_bytes_);
    std::vector<std::span<std::byte>> out;
    std::size_t begin = 0;
    for (const std::size_t bytes : row_bytes_) {
      out.push_back(std::span{row}.subspan(begin, bytes));
      begin += bytes;
    }
    std::vector<unreadable_sample> none;
    source_.read(*work.run, {&sample, 1}, at, out, none);
    throw dataset_error{{.path = {}, .field = {}, .sample = sample.value, .offset = {}},
                        device_->capabilities().name +
                            " misses the sample's block, which was not read or did not decode "
                            "there, but the CPU reads it: set loader_options::decode_on to cpu"};
  } catch (...) {
    slot_failure why = current_failure(work, bad, plan_.batch_size);
    return {std::move(why.where), why.cause};
  }
}

}  // namespace feedline::detail
