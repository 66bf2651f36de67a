#include "loader/pipeline/tuner.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <limits>

namespace feedline::detail {
namespace {

using seconds = std::chrono::duration<double>;

/// A consumer that waits less than this gains too little to search.
constexpr double little_waiting = 0.02;
/// Smallest gain for which a setting is kept.
constexpr double least_gain = 0.03;
/// Smallest gain for which a setting is kept after one measurement.
constexpr double clear_gain = 0.2;
/// Readers that work less than this are limited by something else.
constexpr double often_busy = 0.5;
/// The search begins again once the consumer waits this much more, for this many windows.
constexpr double much_more_waiting = 0.1;
constexpr int worse_windows = 4;
/// At the start everything is slower, so the first setting is measured twice.
constexpr int first_looks = 2;
/// Irregular delivery may spare the consumer a wait for a while.
constexpr int calm_windows = 3;
constexpr int moves = 3;

double share_of_time(std::chrono::nanoseconds part, std::chrono::nanoseconds whole) {
  return whole.count() <= 0 ? 0.0 : std::min(seconds{part} / seconds{whole}, 1.0);
}

std::string words_of(double time) {
  if (time >= 1e-3) return fmt::format("{:.2f} ms", 1e3 * time);
  return fmt::format("{:.2f} us", 1e6 * time);
}

std::string words_of(tuner::setting of) {
  return fmt::format("{} {}, {} slots", of.readers, of.readers == 1 ? "reader" : "readers",
                     of.slots);
}

}  // namespace

tuner::tuner(setting first, setting most) : most_{most}, current_{first} {
  search_from(first);
}

void tuner::search_from(setting start) {
  asked_ = asked::kept;
  looks_ = 0;
  refused_ = 0;
  calm_ = 0;
  worse_ = 0;
  settled_ = false;
  kept_ = {start, std::numeric_limits<double>::infinity(), 1, 1};
  tried_.clear();
}

tuner::setting tuner::learn(const loader_statistics& window) {
  const measured now{
      .at = current_,
      .seconds = seconds{window.consumer.time()}.count() /
                 static_cast<double>(std::max<std::uint64_t>(window.consumer.batches, 1)),
      .waiting = share_of_time(window.exposed, window.consumer.time()),
      .busy = share_of_time(window.reader.busy, window.reader.time())};
  if (settled_) {
    watch(now);
    return current_;
  }
  note(now);
  switch (asked_) {
    case asked::kept:
      if (now.seconds < kept_.seconds) kept_ = now;
      if (++looks_ < first_looks) return current_;
      move_ = kept_.busy < often_busy ? move::more_slots : move::more_readers;
      break;
    case asked::trial:
      trial_ = now;
      judge_trial(false);
      break;
    case asked::kept_again:
      if (now.seconds < kept_.seconds) kept_ = now;
      asked_ = asked::trial_again;
      return current_ = trial_.at;
    case asked::trial_again:
      if (now.seconds < trial_.seconds) trial_ = now;
      judge_trial(true);
      break;
    case asked::calm:
      if (now.waiting >= little_waiting) kept_ = now;
      break;
  }
  return current_ = asked_ == asked::kept_again ? kept_.at : next_trial();
}

void tuner::judge_trial(bool final) {
  const double gain = final ? least_gain : clear_gain;
  const bool is_faster = trial_.seconds <= (1 - gain) * kept_.seconds;
  asked_ = is_faster || final ? asked::trial : asked::kept_again;
  if (!is_faster) return;
  kept_ = trial_;
  refused_ = 0;
  calm_ = 0;
}

tuner::setting tuner::next_trial() {
  if (kept_.waiting < little_waiting && ++calm_ < calm_windows) {
    asked_ = asked::calm;
    return kept_.at;
  }
  while (kept_.waiting >= little_waiting && refused_ < moves) {
    if (const auto to = candidate()) {
      asked_ = asked::trial;
      return *to;
    }
    ++refused_;
    move_ = static_cast<move>((static_cast<int>(move_) + 1) % moves);
  }
  settled_ = true;
  return kept_.at;
}

std::optional<tuner::setting> tuner::candidate() const {
  const setting at = kept_.at;
  std::vector<setting> wanted;
  switch (move_) {
    case move::more_readers:
      wanted = {{std::min(2 * at.readers, most_.readers), at.slots},
                {at.readers + at.readers / 2, at.slots}};
      break;
    case move::more_slots:
      wanted = {{at.readers, std::min(2 * at.slots, most_.slots)}};
      break;
    case move::fewer_readers:
      wanted = {{at.readers / 2, at.slots}};
      break;
  }
  const auto found =
      std::find_if(wanted.begin(), wanted.end(), [this](const setting& to) { return may_try(to); });
  if (found == wanted.end()) return std::nullopt;
  return *found;
}

bool tuner::may_try(setting to) const {
  const setting at = kept_.at;
  if (to == at || to.readers < 1 || to.readers > most_.readers) return false;
  const auto between = [](auto value, auto from, auto end) {
    return value != from && std::clamp(value, std::min(from, end), std::max(from, end)) == value;
  };
  return std::none_of(tried_.begin(), tried_.end(), [&](const measured& before) {
    if (to.slots == at.slots)
      return before.at.slots == at.slots && between(before.at.readers, at.readers, to.readers);
    return before.at.readers == at.readers && between(before.at.slots, at.slots, to.slots);
  });
}

void tuner::note(const measured& now) {
  const auto before = std::find_if(tried_.begin(), tried_.end(),
                                   [&](const measured& each) { return each.at == now.at; });
  if (before == tried_.end()) {
    tried_.push_back(now);
  } else if (now.seconds < before->seconds) {
    *before = now;
  }
}

void tuner::watch(const measured& now) {
  worse_ = now.waiting > kept_.waiting + much_more_waiting ? worse_ + 1 : 0;
  if (worse_ == worse_windows) search_from(current_);
}

std::string tuner::why() const {
  if (tried_.empty()) return "nothing is measured yet";
  const std::string kept =
      fmt::format("a batch takes {} with {}, {:.0f} % of it waiting", words_of(kept_.seconds),
                  words_of(kept_.at), 100 * kept_.waiting);
  if (settled_ && kept_.waiting < little_waiting) return kept + ": there is nothing to gain";
  std::string others;
  for (const measured& each : tried_) {
    if (each.at == kept_.at) continue;
    others += (others.empty() ? "" : "; ") + words_of(each.at) + ": " + words_of(each.seconds);
  }
  if (!settled_) return kept + (others.empty() ? "" : " (" + others + ")") + "; still searching";
  if (others.empty()) return kept + ": the budget has nothing else to try";
  return kept + fmt::format(", and nothing that was tried is {:.0f} % faster ({})",
                            100 * least_gain, others);
}

}  // namespace feedline::detail
