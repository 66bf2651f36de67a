#include <feedline/deadline_error.hpp>
#include <feedline/error.hpp>

#include "detail/log.hpp"
#include "detail/saturated.hpp"
#include "detail/threads.hpp"
#include "loader/pipeline/pipeline.hpp"

#include <algorithm>
#include <chrono>
#include <exception>
#include <string>
#include <utility>

// The waits of the user's thread: for the next slot, and for the end of the threads.

namespace feedline::detail {
namespace {

take_limits within(std::chrono::milliseconds time, const take_limits& limits) {
  return {std::min(limits.deadline, deadline_after(time)), limits.stop};
}

}  // namespace

std::optional<slot_index> pipeline::next_slot(const take_limits& limits) {
  if (plan_.background) turns_.refuse_in_turn();
  ring_->users().takes();
  if (const auto slot = ring_->try_take()) {
    consumer_.lap();
    return slot;
  }
  const in_activity waiting{&consumer_, activity::starved};
  if (tuning_ && ring_->in_place()) tuning_->make_room(ring_->count_own(device_state::leased));
  add(waits_, 1);
  if (exposed_time* const exposed = ring_->exposed()) exposed->host_waits(cursor_.stream());
  const auto began = std::chrono::steady_clock::now();
  const std::stop_callback wake{limits.stop, [this]() noexcept { ring_->wake_consumer(); }};
  std::optional<slot_index> slot;
  if (!wait_for_slot(slot, limits)) miss_deadline(began);
  return slot;
}

std::optional<slot_index> pipeline::next_decoded(const take_limits& limits) {
  std::optional<slot_index> slot;
  std::optional<failure> failed;
  {
    const in_activity waiting{&consumer_, activity::starved};
    std::optional<slot_index>& undecoded = strategy_.decoding->undecoded;
    slot = undecoded ? std::exchange(undecoded, {}) : next_slot(limits);
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
  strategy_.decoding->slots.drop_missing((*ring_)[*slot].content);
  return slot;
}

bool pipeline::await_decoded(slot_index slot, const take_limits& limits) {
  const device_slot& taken = (*ring_)[slot];
  if (!decoded_slots::is_checked(taken.content) || device_->is_done(taken.ready.get())) return true;
  // The stream would see that it need not wait, although it has long been idle.
  if (exposed_time* const exposed = ring_->exposed()) exposed->host_waits(cursor_.stream());
  const auto began = std::chrono::steady_clock::now();
  const auto given_up = [&] {
    return limits.over() || limits.stop.stop_requested() || stopped_.load();
  };
  if (strategy_.decoding->slots.await(taken, given_up)) return true;
  strategy_.decoding->undecoded = slot;
  if (limits.stop.stop_requested() || stopped_.load()) return false;
  miss_deadline(began);
}

bool pipeline::wait_for_slot(std::optional<slot_index>& slot, const take_limits& limits) {
  if (!await_room(limits)) return false;
  if (plan_.background) return ring_->take(slot, limits);
  do {  // at least one request, so that repeated calls make progress
    if (limits.stop.stop_requested()) return true;
    const bool more = advance();
    if (!more) close();
    slot = ring_->try_take();
    if (slot || !more) return true;
  } while (!limits.over());
  return false;
}

bool pipeline::await_room(const take_limits& limits) {
  std::string why_not;
  while (ring_->all_leased() && !limits.stop.stop_requested()) {
    if (ring_->grow(why_not)) {
      warn_of_held();
      return true;
    }
    if (!await_end_of_batch(limits, why_not)) return false;
  }
  return true;
}

bool pipeline::await_end_of_batch(const take_limits& limits, const std::string& why_not) {
  const in_activity waiting{&consumer_, activity::stalled};
  if (!ring_->users().others()) {
    if (!single_threaded() && ring_->wait_for_room(within(limits_.before_refusal, limits)))
      return true;
    if (limits.over()) return false;
    if (!ring_->users().others()) {
      const std::string more =
          why_not.empty()
              ? std::string{"or ask for more "} +
                    (ring_->in_place() ? "expert.staging_slots" : "expert.device_slots") +
                    " than you hold batches in, or for fewer expert.batches_per_slot"
              : "copy what you keep of them, or set a higher expert.max_held_bytes";
      throw usage_error{"no batch can be delivered: " + ring_->held_batches() +
                        ", and a slot is filled again when no batch in it is held" +
                        (why_not.empty() ? "" : "; ") + why_not +
                        ". End batches before taking the next one, " + more};
    }
  }
  if (ring_->wait_for_room(within(limits_.before_warning, limits))) return true;
  if (limits.over()) return false;
  if (!warned_) {
    warned_ = true;
    log()->warn(
        "a consumer has waited {} ms for a batch that cannot be delivered: {}; it keeps waiting",
        limits_.before_warning.count(), ring_->held_batches());
  }
  return ring_->wait_for_room(limits);
}

void pipeline::warn_of_held() {
  if (std::exchange(warned_of_held_, true)) return;
  const auto limit = ring_->growth_limit();
  const std::string text =
      "batches are kept while a new one is asked for: " + ring_->held_batches() +
      ". From now on further batches get memory of their own: " +
      std::to_string(ring_->held_memory().bytes) + " bytes now, and at most " +
      std::to_string(limit.first) + ", by " + limit.second +
      ". What is kept of a batch keeps its whole slot, up to " +
      std::to_string(plan_.batches_per_slot * plan_.batch_bytes) +
      " bytes: copy it if it is small. statistics().held tells how much is kept. With "
      "expert.on_held = error it is refused";
  if (held_warning_) return held_warning_(text);
  log()->warn("{}", text);
}

delayed_reads pipeline::reads_now() const {
  const auto now = std::chrono::steady_clock::now();
  delayed_reads reads = reads_under_way(scratch_, now, source_, plan_.batch_size);
  const auto replacing = strategy_.replacer ? strategy_.replacer->look() : std::nullopt;
  if (!replacing) return reads;
  // Delivery waits for this sample whatever readers do later, so it comes first.
  const std::string words_of_transfer =
      "the transfer reads sample " + std::to_string(replacing->first.value) + " (epoch " +
      std::to_string(replacing->epoch) + ") instead of one that cannot be read, and began " +
      in_words(now - replacing->since) + " ago";
  return {words_of_transfer + (reads.words.empty() ? "" : "; ") + reads.words,
          replacing->first.value};
}

void pipeline::miss_deadline(std::chrono::steady_clock::time_point began) const {
  const auto now = std::chrono::steady_clock::now();
  const auto [reads, sample] = reads_now();
  awaited_batch missed{.epoch = cursor_.pass()->epoch,
                       .batch = cursor_.pass()->first_batch + cursor_.handed_out(),
                       .waited = now - began,
                       .sample = {},
                       .all_held = ring_->all_leased()};
  std::string why;
  if (missed.all_held) {
    why = ring_->held_batches() + ": end some";
  } else if (!plan_.background) {
    why = "this thread reads by itself (no_readers), and has not read all of it yet";
  } else if (reads.empty()) {
    why = std::string{reading_.source() != nullptr
                          ? "the queue is empty, or its max_delay is not over"
                          : "no reader is reading"} +
          "; staging slots: " + staging_->states();
    if (turns_.limit() != 0)
      why += "; readers at work at a time under the CPU budget: " + std::to_string(turns_.limit());
  } else {
    missed.sample = sample;
    why = reads;
  }
  throw deadline_error{missed, "batch " + std::to_string(missed.batch) + " of epoch " +
                                   std::to_string(missed.epoch) + " was not ready after " +
                                   in_words(missed.waited) + ": " + why +
                                   ". Nothing is lost: next() can be called again"};
}

bool pipeline::end_within(std::chrono::milliseconds limit) noexcept {
  if (!belongs_here()) return true;
  stop();
  const auto now = std::chrono::steady_clock::now;
  if (!ending_since_) ending_since_ = now();
  waited_for_end_ |= limit.count() > 0;
  if (threads_.wait_for(std::max(limit, std::chrono::milliseconds{1}))) return true;
  if (!warned_of_end_ && now() - *ending_since_ >= limits_.before_warning) {
    warned_of_end_ = true;
    tell_of_threads(now() - *ending_since_, false);
  }
  return false;
}

void pipeline::shut_down(const std::shared_ptr<pipeline>& owner) noexcept {
  stop();
  const bool ended = wait_for_threads(owner != nullptr);
  if (ended) threads_.join();
  cursor_.let_go();
  if (ended) return reading_.end();
  turns_.give_up(request_executor_.stopping());
  threads_.leave(owner);
}

bool pipeline::wait_for_threads(bool may_leave) {
  if (may_leave && ending_since_) {
    if (threads_.wait_for(std::chrono::milliseconds{1})) return true;
    tell_of_threads(std::chrono::steady_clock::now() - *ending_since_, true);
    return false;
  }
  const bool limited = may_leave && leave_reads_after_.count() != 0;
  const auto time = limited ? leave_reads_after_ : limits_.before_warning;
  if (threads_.wait_for(time)) return true;
  tell_of_threads(saturated(time), limited);
  return !limited && threads_.wait_for({});
}

void pipeline::tell_of_threads(std::chrono::nanoseconds waited, bool left) const noexcept try {
  const std::string reads = reads_now().words;
  const std::string what = reads.empty() ? "no reader reads, but a thread has not ended" : reads;
  if (left) {
    const bool expected = ending_since_ && !waited_for_end_;  // a read of its own destroys it
    log()->log(expected ? spdlog::level::debug : spdlog::level::err,
               "~loader: gave up after waiting {} for the loader's threads: {}. The dataset, the "
               "device and {} bytes of staging memory stay until they end",
               in_words(waited), what, plan_.staging_bytes);
  } else {
    log()->warn(
        "~loader: has waited {} for the loader's threads: {}. It keeps waiting; "
        "loader_options::expert.leave_reads_after sets a limit",
        in_words(waited), what);
  }
} catch (...) {  // NOLINT(bugprone-empty-catch): no memory for words: it goes without saying
}

}  // namespace feedline::detail
