#include "reader/sample_replacer.hpp"

#include <feedline/error.hpp>

#include "detail/arithmetic.hpp"
#include "detail/log.hpp"
#include "reader/run_failure.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <memory>
#include <span>
#include <string>
#include <utility>

namespace feedline::detail {
namespace {

/// Passes on the dataset_error of a sample. @throws nothing else: `is_of_data` has checked it.
template <class Use>
auto with_cause(const unreadable_sample& bad, Use use) {
  try {
    std::rethrow_exception(bad.cause);
  } catch (const dataset_error& cause) {
    return use(cause);
  }
}

/// Throws an error about a sample, with its cause nested.
[[noreturn]] void refuse(const unreadable_sample& bad, const std::string& why,
                         const std::string& remedy) {
  with_cause(bad, [&](const dataset_error& cause) {
    dataset_location where = cause.where();
    where.sample = bad.sample.value;
    std::throw_with_nested(
        dataset_error{std::move(where), why + ": " + cause.message() + "; " + remedy});
  });
  std::terminate();  // not reached
}

}  // namespace

void sample_replacer::replace(staging_slot& slot, std::optional<slot_failure>& failed,
                              std::shared_ptr<slot_repairs>& ticket) {
  const slot_work& work = slot.work;
  const std::uint64_t batch_size = share_.batch_size;
  if (!ticket) ticket = std::make_shared<slot_repairs>();
  std::ranges::sort(slot.unreadable, {}, &unreadable_sample::place);
  const std::uint64_t readable = failed ? failed->good_batches * batch_size : work.samples;
  bool all_replaced = true;
  for (const unreadable_sample& bad : slot.unreadable) {
    if (bad.place >= readable) break;
    try {
      handle({slot, bad.place, *ticket}, bad);
    } catch (...) {
      failed = current_failure(work, bad.place, batch_size);
      all_replaced = false;
      break;
    }
  }
  slot.unreadable.clear();
  const std::uint64_t places = places_of(*work.pass);
  const std::uint64_t first = work.first.value - work.begin;
  ticket->samples = places - std::min(places, first);
  ticket->epoch_batches = divide_up(places, batch_size);
  ticket->first_repeat = end_of(*work.pass);
  if (all_replaced && failed && failed->good_batches * batch_size >= ticket->samples)
    failed.reset();
}

std::uint64_t sample_replacer::places_of(const epoch_pass& pass) const noexcept {
  const std::uint64_t end = end_of(pass);
  if (policy_.action != error_action::skip || last_ == partial_batch::keep) return end;
  const std::uint64_t whole = end / share_.batch_size * share_.batch_size;
  return last_ == partial_batch::fill && whole != end ? whole + share_.batch_size : whole;
}

void sample_replacer::handle(const work_place& at, const unreadable_sample& bad) {
  epoch_pass& pass = *at.slot.work.pass;
  const std::uint64_t place = at.slot.work.first.value + at.place;
  const std::uint64_t batch = place / share_.batch_size;
  if (pass.last_replaced.number != batch) pass.last_replaced = {batch, places_of(pass)};
  if (place >= pass.last_replaced.places) return;  // cut off before its batch began
  if (place < end_of(pass))
    return policy_.action == error_action::skip ? skip(at, bad) : substitute(at, bad);
  if (place < places_of(pass)) repeat_another(at, bad);
}

void sample_replacer::skip(const work_place& at, const unreadable_sample& bad) {
  const epoch_pass& pass = *at.slot.work.pass;
  const std::size_t number = at.ticket.failures.size();
  std::optional<unreadable_sample> found = bad;
  for (;;) {
    count(at, *found);
    const position end{end_of(pass)};
    if (end.value == at.slot.work.first.value + at.place) {  // nothing is left
      if (end.value < places_of(pass)) repeat_another(at, *found);
      return;
    }
    const sample_index last = sample_at(pass, end);
    found = try_replace(at, last, end);
    if (found) continue;
    at.ticket.failures[number].what.replaced_by = last;
    return;
  }
}

void sample_replacer::substitute(const work_place& at, const unreadable_sample& bad) {
  count(at, bad);
  const sample_index by{policy_.substitute};
  if (const auto found = try_replace(at, by, bad.at))
    refuse(
        *found,
        "the substitute for sample " + std::to_string(bad.sample.value) + " cannot be read either",
        "set loader_options::errors.substitute to a readable sample");
  at.ticket.failures.back().what.replaced_by = by;
}

void sample_replacer::repeat_another(const work_place& at, const unreadable_sample& bad) {
  const epoch_pass& pass = *at.slot.work.pass;
  for (position from{0}; from.value < share_.positions; ++from.value) {
    if (!try_replace(at, sample_at(pass, from), from)) return;
  }
  refuse(bad, "the epoch's last batch cannot be filled, because no sample of it can be read now",
         "check the storage, or set loader_options::partial_batch to keep or drop");
}

std::optional<unreadable_sample> sample_replacer::try_replace(const work_place& at, sample_index by,
                                                              position from) {
  scratch_.now.begin(at.slot.work.pass->epoch, position{by.value}, position{by.value + 1},
                     std::chrono::steady_clock::now());
  const std::unique_ptr<read_record, void (*)(read_record*)> ends{
      &scratch_.now, [](read_record* now) { now->end(); }};  // also if it throws
  writer_.replace(at.slot, at.place, by, from, scratch_);
  if (!scratch_.bad.empty()) return std::move(scratch_.bad.front());
  at.ticket.replacements.push_back({at.slot.work.begin + at.place, by});
  return std::nullopt;
}

sample_index sample_replacer::sample_at(const epoch_pass& pass, position at) const {
  sample_index found;
  source_.indices(pass.epoch, at, std::span{&found, 1});
  return found;
}

void sample_replacer::count(const work_place& at, const unreadable_sample& bad) {
  epoch_pass& pass = *at.slot.work.pass;
  const bool skips = policy_.action == error_action::skip;
  const bool is_repeat = at.slot.work.first.value + at.place >= share_.first_repeat();
  if (!is_repeat) ++pass.losses.unreadable;
  if (skips) ++pass.losses.skipped;
  with_cause(bad, [&](const dataset_error& cause) {
    at.ticket.failures.push_back({.place = at.slot.work.begin + at.place,
                                  .what = {.epoch = pass.epoch,
                                           .position = bad.at,
                                           .sample = bad.sample,
                                           .path = cause.path(),
                                           .message = cause.what(),
                                           .action = policy_.action},
                                  .is_repeat = is_repeat});
    if (warnings_.is_due())
      log()->warn("sample {} at position {} of epoch {} cannot be read, and {}: {}",
                  bad.sample.value, bad.at.value, pass.epoch,
                  skips ? std::string{"is left out"}
                        : "sample " + std::to_string(policy_.substitute) + " replaces it",
                  cause.what());
  });
  const std::uint64_t samples = counted_samples();
  const std::uint64_t unreadable = pass.losses.unreadable;
  if (is_repeat ||
      static_cast<double>(unreadable) / static_cast<double>(samples) <= policy_.max_share)
    return;
  refuse(bad,
         fmt::format("{} of the epoch's {} samples{} cannot be read, and "
                     "loader_options::errors.max_share is {}; the last one",
                     unreadable, samples,
                     share_.world == 1 ? "" : fmt::format(" that rank {} takes", share_.rank),
                     policy_.max_share),
         "see loader::failures, repair the data, or raise max_share");
}

}  // namespace feedline::detail
