#include "programs/doctor/measure.hpp"

#include <feedline/error.hpp>

#include "device/owned.hpp"
#include "programs/words/library_words.hpp"

#include <algorithm>
#include <utility>

#include <time.h>

namespace doctor {
namespace {

using steady = std::chrono::steady_clock;

/// Samples that one call reads: as large a part of a batch as takes no more memory than this.
constexpr std::size_t run_bytes = std::size_t{4} << 20;

seconds cpu_time() {
  timespec time{};
  if (::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time) != 0) return {};
  return std::chrono::seconds{time.tv_sec} + std::chrono::nanoseconds{time.tv_nsec};
}

}  // namespace

void note_damage(std::vector<damage>& damages, std::optional<std::uint64_t> sample,
                 const std::string& what) {
  const std::string message = programs::in_words_of(programs::program::doctor, what);
  const bool known = std::ranges::any_of(damages, [&](const damage& each) {
    return each.message == message || (sample && each.sample == sample);
  });
  if (!known && damages.size() < max_damages) damages.push_back({sample, message});
}

reading_facts measure_reading(const feedline::dataset& from, const feedline::sampler& order,
                              std::string name, const limits& until, std::vector<damage>& damages) {
  const feedline::sampler bound = order.bind(from, 1);
  std::size_t sample_bytes = 0;
  for (const feedline::field& field : from.fields()) sample_bytes += feedline::sample_bytes(field);
  const std::uint64_t total = std::min(bound.size(from.size()), until.samples);
  const std::uint64_t run = std::clamp<std::uint64_t>(run_bytes / sample_bytes, 1, 64);
  std::vector<std::vector<std::byte>> memory;
  for (const feedline::field& field : from.fields())
    memory.emplace_back(run * feedline::sample_bytes(field));

  reading_facts facts{.order = std::move(name)};
  const steady::time_point begin = steady::now();
  const seconds cpu = cpu_time();
  std::vector<feedline::sample_index> samples(run);
  for (std::uint64_t at = 0; at < total && (at == 0 || steady::now() - begin < until.time);
       at += samples.size()) {
    samples.resize(std::min(run, total - at));
    bound.indices(from.size(), 0, {at}, samples);
    std::vector<std::span<std::byte>> out;
    for (std::vector<std::byte>& column : memory)
      out.push_back(std::span{column}.first(column.size() / run * samples.size()));
    try {
      from.read_in_turn(samples, out);
      facts.samples += samples.size();
    } catch (const feedline::dataset_error& error) {
      note_damage(damages, error.sample(), error.what());
    }
  }
  facts.took = steady::now() - begin;
  facts.cpu = cpu_time() - cpu;
  return facts;
}

device_facts measure_copies(gpu& on, seconds time) {
  constexpr std::size_t bytes = std::size_t{8} << 20;
  constexpr int copies_at_once = 8;
  feedline::device& device = *on.device;
  const feedline::detail::device_memory from{on.device, feedline::memory_kind::staging, bytes};
  const feedline::detail::device_memory to{on.device, feedline::memory_kind::device, bytes};
  device_facts facts{.ordinal = on.ordinal,
                     .name = on.name,
                     .free_bytes = on.free_bytes,
                     .total_bytes = on.total_bytes,
                     .copied_bytes = bytes};
  device.copy(to.data(), from.data(), bytes, on.stream);
  on.sync();  // the first copy is slower
  const steady::time_point begin = steady::now();
  do {
    const steady::time_point first = steady::now();
    for (int i = 0; i < copies_at_once; ++i) device.copy(to.data(), from.data(), bytes, on.stream);
    on.sync();
    const seconds took = steady::now() - first;
    facts.copy_rate = std::max(facts.copy_rate, copies_at_once * bytes / took.count());
  } while (steady::now() - begin < time);
  return facts;
}

}  // namespace doctor
