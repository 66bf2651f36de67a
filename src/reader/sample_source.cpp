#include "reader/sample_source.hpp"

#include <feedline/error.hpp>

#include "dataset/composed.hpp"
#include "dataset/foreign_error.hpp"
#include "detail/sample_range.hpp"

#include <algorithm>
#include <exception>
#include <string>

namespace feedline::detail {
namespace {

[[noreturn]] void refuse(sample_index bad, std::uint64_t size, std::uint64_t epoch, position at) {
  throw usage_error{"the sampler gives sample " + std::to_string(bad.value) + " at position " +
                    std::to_string(at.value) + " of epoch " + std::to_string(epoch) +
                    ", but the dataset has samples 0 to " + std::to_string(size - 1) +
                    ": correct its indices()"};
}

/// Throws the exception of a read again: a dataset_error as it is, any other one nested in an
/// error that names the samples. Call it in a handler.
[[noreturn]] void rethrow_located(std::span<const sample_index> samples) {
  try {
    throw;
  } catch (const dataset_error&) {
    throw;  // says where
  } catch (...) {
    const std::string message = "the dataset's read threw: " + current_words();
    if (samples.size() == 1)
      std::throw_with_nested(
          foreign_error{{.path = {}, .field = {}, .sample = samples.front().value}, message});
    std::throw_with_nested(foreign_error{{}, names_of(samples) + ": " + message});
  }
}

/// Index in the run of the sample that an error names, if it is in the run. In a run of one, that
/// sample is always blamed.
std::size_t blamed_by(const dataset_error& failure, std::span<const sample_index> samples) {
  if (samples.size() == 1) return 0;
  const auto found = std::ranges::find_if(
      samples, [&](sample_index each) { return failure.sample() == each.value; });
  return found == samples.end() ? read_retries::nobody
                                : static_cast<std::size_t>(found - samples.begin());
}

}  // namespace

std::string names_of(std::span<const sample_index> samples, std::uint64_t more) {
  constexpr std::size_t most = 8;
  if (samples.size() == 1 && more == 0) return "sample " + std::to_string(samples.front().value);
  const auto is_next = [](sample_index one, sample_index next) {
    return next.value != one.value + 1;
  };
  if (samples.size() > 2 && more == 0 &&
      std::adjacent_find(samples.begin(), samples.end(), is_next) == samples.end())
    return "samples " + std::to_string(samples.front().value) + " to " +
           std::to_string(samples.back().value);
  std::string names = "samples ";
  const std::size_t told = std::min(most, samples.size());
  more += samples.size() - told;
  for (std::size_t i = 0; i < told; ++i)
    names += (i == 0                       ? ""
              : i + 1 == told && more == 0 ? " and "
                                           : ", ") +
             std::to_string(samples[i].value);
  if (more != 0) names += " and " + std::to_string(more) + " more";
  return names;
}

void sample_source::indices(std::uint64_t epoch, position first,
                            std::span<sample_index> out) const {
  order_.indices(samples_, epoch, first, out);
  if (all_in_range(out, samples_)) [[likely]]
    return;
  const auto bad =
      std::ranges::find_if(out, [this](sample_index each) { return each.value >= samples_; });
  const std::uint64_t own = first.value + static_cast<std::uint64_t>(bad - out.begin());
  refuse(*bad, samples_, epoch, in_epoch(position{own}));
}

void sample_source::await_live(const std::shared_ptr<epoch_pass>& pass, std::uint64_t most,
                               stage_clock& clock) const {
  const in_activity waiting{&clock, activity::starved};
  live_->await(pass, most, [&] { return !is_stopped_.load() && !pass->abandoned.load(); });
}

void sample_source::read(const epoch_pass& pass, const read_request& request,
                         std::vector<unreadable_sample>& bad) const {
  bad.clear();
  try {
    try {
      dataset_->read(request);
    } catch (...) {
      rethrow_located(request.samples);
    }
  } catch (const dataset_error& failure) {
    const auto read_sample = [&](std::size_t place) {
      std::vector<std::span<std::byte>> part;
      for (const auto& field : request.out) {
        const std::size_t row_bytes = field.size() / request.samples.size();
        part.push_back(field.subspan(place * row_bytes, row_bytes));
      }
      const auto sample = request.samples.subspan(place, 1);
      try {
        dataset_->read({sample, part, request.context.part(place, 1)});
      } catch (...) {
        rethrow_located(sample);
      }
    };
    retries_.read_again(request.samples.size(), blamed_by(failure, request.samples), read_sample,
                        pass.abandoned, bad);
  }
  for (unreadable_sample& each : bad) {
    each.sample = request.samples[each.place];
    each.at = request.context[each.place].position.value();
  }
}

}  // namespace feedline::detail
