#include "dataset/memory/lenient_reader.hpp"

#include <feedline/error.hpp>

#include "dataset/composed.hpp"
#include "dataset/error_policies.hpp"
#include "dataset/foreign_error.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <optional>
#include <string>
#include <thread>
#include <utility>

namespace feedline::detail {
namespace {

/// Throws an error about a sample, with its cause nested.
[[noreturn]] void refuse(std::uint64_t sample, const std::exception_ptr& cause,
                         const std::string& why, const std::string& remedy) {
  try {
    std::rethrow_exception(cause);
  } catch (const dataset_error& error) {
    dataset_location where = error.where();
    where.sample = sample;
    std::throw_with_nested(
        dataset_error{std::move(where),
                      fmt::format("load_into_memory: {}: {}; {}", why, error.message(), remedy)});
  }
}

}  // namespace

void lenient_reader::read(std::span<const sample_index> samples,
                          std::span<const std::span<std::byte>> out) {
  const std::exception_ptr why = failure_of(samples, out);
  if (!why) return;
  const bool fails = policy_.action == error_action::fail;
  if (fails && policy_.retries == 0) std::rethrow_exception(why);
  const std::vector<failure> bad = read_alone(samples, out, why);
  if (cancelled_.load() || bad.empty()) return;
  if (fails) std::rethrow_exception(bad.front().cause);
  for (const failure& each : bad) note(samples[each.place], each.cause);
}

std::exception_ptr lenient_reader::failure_of(std::span<const sample_index> samples,
                                              std::span<const std::span<std::byte>> out) const {
  try {
    of_.read(samples, out);
    return nullptr;
  } catch (const dataset_error&) {
    if (!is_of_data(std::current_exception())) throw;
    return std::current_exception();
  } catch (...) {
    std::throw_with_nested(foreign_error{
        {},
        "load_into_memory: samples " + std::to_string(samples.front().value) + " to " +
            std::to_string(samples.back().value) + " could not be read: " + current_words()});
  }
}

std::vector<lenient_reader::failure> lenient_reader::read_alone(
    std::span<const sample_index> samples, std::span<const std::span<std::byte>> out,
    const std::exception_ptr& why) {
  std::vector<std::span<std::byte>> row(out.size());
  const auto failure_at = [&](std::size_t place) {
    for (std::size_t f = 0; f < out.size(); ++f) {
      const std::size_t row_bytes = out[f].size() / samples.size();
      row[f] = out[f].subspan(place * row_bytes, row_bytes);
    }
    return failure_of(samples.subspan(place, 1), row);
  };
  std::vector<failure> bad;
  for (std::size_t place = 0; place < samples.size() && !cancelled_; ++place) {
    auto cause = samples.size() == 1 ? why : failure_at(place);
    if (cause) bad.push_back({place, std::move(cause)});
  }
  if (bad.empty()) ++recovered_;
  for (int retry = 0; retry < policy_.retries && !bad.empty() && !cancelled_; ++retry) {
    pause(retry);
    std::erase_if(bad, [&](failure& each) {
      if (cancelled_) return false;
      each.cause = failure_at(each.place);
      if (!each.cause) ++recovered_;
      return !each.cause;
    });
  }
  return bad;
}

void lenient_reader::pause(int retry) const {
  using clock = std::chrono::steady_clock;
  constexpr clock::duration look_every = std::chrono::milliseconds{20};
  const auto end = clock::now() + pause_before(retry, policy_);
  for (auto now = clock::now(); now < end && !cancelled_; now = clock::now()) {
    idle_();
    std::this_thread::sleep_for(std::min<clock::duration>(end - now, look_every));
  }
}

void lenient_reader::note(sample_index sample, const std::exception_ptr& cause) {
  const std::scoped_lock lock{mutex_};
  const bool replaces = policy_.action == error_action::substitute;
  unreadable_.push_back(sample.value);
  if (replaces && sample.value == policy_.substitute) substitute_cause_ = cause;
  try {
    std::rethrow_exception(cause);
  } catch (const dataset_error& error) {
    const auto by = replaces ? std::optional{sample_index{policy_.substitute}} : std::nullopt;
    first_.insert({sample.value,
                   {.epoch = 0,
                    .position = {sample.value},
                    .sample = sample,
                    .path = error.path(),
                    .message = error.what(),
                    .action = policy_.action,
                    .replaced_by = by}});
  }
  if (first_.size() > policy_.listed) first_.erase(std::prev(first_.end()));
  const auto share = static_cast<double>(unreadable_.size()) / static_cast<double>(of_.size());
  if (share <= policy_.max_share) return;
  cancelled_.store(true);
  refuse(sample.value, cause,
         fmt::format("{} of the {} samples cannot be read, and "
                     "load_into_memory_options::errors.max_share is {}; the last one",
                     unreadable_.size(), of_.size(), policy_.max_share),
         "repair the data, or raise max_share");
}

std::vector<std::uint64_t> lenient_reader::unreadable() const {
  std::vector<std::uint64_t> sorted = unreadable_;
  std::ranges::sort(sorted);
  return sorted;
}

failure_report lenient_reader::report() const {
  failure_report report{.count = unreadable_.size(), .recovered_reads = recovered_};
  for (const auto& [sample, failed] : first_) report.first.push_back(failed);
  return report;
}

void lenient_reader::require_substitute() const {
  if (substitute_cause_)
    refuse(policy_.substitute, substitute_cause_, "the substitute cannot be read either",
           "set load_into_memory_options::errors.substitute to a readable sample");
}

}  // namespace feedline::detail
