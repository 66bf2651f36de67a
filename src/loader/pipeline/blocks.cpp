#include <feedline/deadline_error.hpp>
#include <feedline/error.hpp>

#include "detail/doorbell.hpp"
#include "detail/threads.hpp"
#include "loader/pipeline/pipeline.hpp"
#include "reader/run_failure.hpp"

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <utility>
#include <vector>

// The consumer's part where the device decodes blocks.

namespace feedline::detail {

std::optional<slot_index> pipeline::next_decoded(const take_limits& limits) {
  std::optional<slot_index> slot;
  std::optional<failure> failed;
  {
    const in_activity waiting{&consumer_, activity::starved};
    slot = decoding_ ? std::exchange(decoding_, {}) : next_slot(limits);
    if (!slot) return std::nullopt;
    try {
      if (!await_decoded(*slot, limits)) return std::nullopt;
    } catch (const deadline_error&) {
      throw;
    } catch (...) {
      failed = failure{(*ring_)[*slot].content.at(stage::transfer), std::current_exception()};
    }
  }
  if (failed) fail(std::move(failed));
  drop_undecoded(*slot);
  return slot;
}

bool pipeline::await_decoded(slot_index slot, const take_limits& limits) {
  const device_slot& taken = (*ring_)[slot];
  if (!is_checked(taken)) return true;
  const auto decoded = [&] { return device_->is_done(taken.ready.get()); };
  if (decoded()) return true;
  // The stream would see that it need not wait, although it has long been idle.
  if (exposed_time* const exposed = ring_->exposed()) exposed->host_waits(cursor_.stream());
  const auto began = std::chrono::steady_clock::now();
  const auto given_up = [&] {
    return limits.over() || limits.stop.stop_requested() || stopped_.load();
  };
  if (!spin_until(decoded, pauses_between_polls))
    poll_until([&] { return given_up() || decoded(); });
  if (decoded()) return true;
  decoding_ = slot;
  if (limits.stop.stop_requested() || stopped_.load()) return false;
  miss_deadline(began);
}

bool pipeline::is_checked(const device_slot& taken) const {
  return taken.first_bad != nullptr && taken.content.samples != 0 &&
         taken.content.run == cursor_.run();
}

void pipeline::drop_undecoded(slot_index slot) {
  device_slot& taken = (*ring_)[slot];
  slot_content& content = taken.content;
  if (!is_checked(taken) || *taken.first_bad >= content.samples) return;
  const std::uint64_t bad = *taken.first_bad;
  content.failure = failure_of(content, bad);
  content.batches = bad / plan_.batch_size;
  content.samples = content.batches * plan_.batch_size;
}

failure pipeline::failure_of(const slot_work& work, std::uint64_t bad) {
  try {
    const position at{work.first.value + bad};
    sample_index sample{};
    source_.indices(work.run->epoch, at, {&sample, 1});
    const slot_layout& rows = resolved_.memory.rows();
    std::vector<std::byte> row(rows.sample_bytes());
    std::vector<std::span<std::byte>> out;
    std::size_t begin = 0;
    for (const std::size_t bytes : rows.row_bytes()) {
      out.push_back(std::span{row}.subspan(begin, bytes));
      begin += bytes;
    }
    std::vector<unreadable_sample> none;
    source_.read(*work.run, {&sample, 1}, at, out, none);
    if (const auto why = strategy_.blocks->failure(work.run->epoch, sample))
      std::rethrow_exception(why);
    throw dataset_error{{.path = {}, .field = {}, .sample = sample.value, .offset = {}},
                        device_->capabilities().name +
                            " did not decode the sample's block, but the CPU does: set "
                            "loader_options::decode_on to cpu"};
  } catch (...) {
    slot_failure why = current_failure(work, bad, plan_.batch_size);
    return {std::move(why.where), why.cause};
  }
}

}  // namespace feedline::detail
