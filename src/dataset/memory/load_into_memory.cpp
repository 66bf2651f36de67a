#include <feedline/dataset/load_into_memory.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>

#include "dataset/choose_fields.hpp"
#include "dataset/error_policies.hpp"
#include "dataset/memory/lenient_reader.hpp"
#include "detail/arithmetic.hpp"
#include "detail/log.hpp"
#include "detail/threads.hpp"
#include "rows/row_storage.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace FEEDLINE_EXPORT feedline {
inline namespace FEEDLINE_ABI {
namespace {

/// A thread reads about this much at a time: enough that the cost of a call does not matter, and
/// little enough that threads end together and progress is smooth.
constexpr std::size_t read_piece_bytes = std::size_t{1} << 20;
constexpr unsigned max_threads = 16;

/// The samples that one thread reads, one call after another: whole chunks, so that no two threads
/// decode the same one.
struct partition {
  std::uint64_t samples;
  std::uint64_t run;    ///< samples
  std::uint64_t piece;  ///< samples of a call

  partition(const dataset& of, std::size_t sample_bytes)
      : samples{of.size()},
        piece{std::clamp<std::uint64_t>(read_piece_bytes / std::max<std::size_t>(sample_bytes, 1),
                                        1, 65'536)} {
    const auto whole = std::max<std::uint64_t>(samples, 1);
    const auto chunk = std::clamp<std::uint64_t>(of.chunks().samples, 1, whole);
    run = chunk * std::max<std::uint64_t>(1, piece / chunk);
    piece = std::min(piece, run);
  }

  std::uint64_t runs() const noexcept { return detail::divide_up(samples, run); }
};

/// Tells the caller and the log which samples cannot be read, if there are any.
void tell_failures(const failure_report& report, std::uint64_t samples,
                   const load_into_memory_options& options) {
  const error_policy& errors = options.errors;
  if (report.count != 0)
    detail::log()->warn(
        "load_into_memory: {} of {} samples cannot be read, and {}{}", report.count, samples,
        errors.action == error_action::skip
            ? "are left out"
            : fmt::format("sample {} replaces them", errors.substitute),
        report.first.empty() ? std::string{} : "; the first: " + report.first.front().message);
  if (options.failures && (report.count != 0 || report.recovered_reads != 0))
    options.failures(report);
}

/// Reads all samples of a dataset into memory. The calling thread is one of those that read, and
/// tells of progress between its pieces.
/// @return The samples that cannot be read, in order; unless they are substituted, their bytes are
///         unspecified.
std::vector<std::uint64_t> read_all(const dataset& of, const partition& cut,
                                    std::span<const std::size_t> row_bytes,
                                    std::span<const detail::row_storage> to, std::size_t threads,
                                    const load_into_memory_options& options) {
  const auto caller = std::this_thread::get_id();
  std::atomic<std::uint64_t> done{0};
  std::atomic<bool> cancelled{false};
  const auto tell_done = [&](std::uint64_t samples) {
    if (std::this_thread::get_id() != caller) return;
    try {
      if (options.progress) options.progress(samples, cut.samples);
    } catch (...) {
      cancelled.store(true);
      throw;
    }
  };
  detail::lenient_reader reader{of, options.errors, cancelled, [&] { tell_done(done); }};
  const auto read_run = [&](std::size_t run) {
    const std::uint64_t end = std::min(cut.samples, (run + 1) * cut.run);
    std::vector<sample_index> samples;
    std::vector<std::span<std::byte>> out(to.size());
    for (std::uint64_t first = run * cut.run; first < end && !cancelled; first += cut.piece) {
      const std::uint64_t count = std::min(cut.piece, end - first);
      samples.clear();
      for (std::uint64_t i = 0; i < count; ++i) samples.push_back({first + i});
      for (std::size_t f = 0; f < out.size(); ++f)
        out[f] = to[f].bytes().subspan(first * row_bytes[f], count * row_bytes[f]);
      reader.read(samples, out);
      const std::uint64_t now = done += count;
      if (now != cut.samples) tell_done(now);
    }
  };
  detail::parallel_for(cut.runs(), read_run, threads);
  tell_done(cut.samples);
  reader.require_substitute();
  const failure_report report = reader.report();
  tell_failures(report, cut.samples, options);
  return reader.unreadable();
}

/// Moves rows together over those that are left out. @return How many are left.
std::uint64_t close_gaps(std::span<std::byte> rows, std::size_t row_bytes, std::uint64_t samples,
                         const std::vector<std::uint64_t>& left_out) {
  std::uint64_t to = left_out.empty() ? samples : left_out.front();
  for (std::size_t i = 0; i < left_out.size(); ++i) {
    const std::uint64_t begin = left_out[i] + 1;
    const std::uint64_t end = i + 1 < left_out.size() ? left_out[i + 1] : samples;
    std::memmove(rows.data() + to * row_bytes, rows.data() + begin * row_bytes,
                 (end - begin) * row_bytes);
    to += end - begin;
  }
  return to;
}

/// Bytes of all samples, which are within the budget.
void require_budget(std::uint64_t samples, std::size_t sample_bytes, std::size_t max_bytes) {
  const auto bytes = detail::checked_multiply<std::uint64_t>(samples, sample_bytes);
  const std::uint64_t budget = max_bytes != 0 ? max_bytes : detail::machine_memory_bytes();
  if (bytes && *bytes <= budget) return;
  throw usage_error{"load_into_memory: " + std::to_string(samples) + " samples of " +
                    std::to_string(sample_bytes) + " bytes take " +
                    (bytes ? std::to_string(*bytes) : "more than 2^64") + " bytes, and " +
                    (max_bytes != 0 ? "max_bytes is " : "this machine has ") +
                    std::to_string(budget) + ": load a subset(), or let loaders read the files" +
                    (max_bytes != 0 ? ", or raise max_bytes" : "")};
}

std::size_t thread_count(const dataset& of, int asked) {
  if (asked < 0)
    throw usage_error{"load_into_memory_options::threads is " + std::to_string(asked) +
                      ": say how many, or 0 for as many as suit the machine"};
  if (of.concurrency() == read_concurrency::serialized) return 1;
  if (asked != 0) return static_cast<std::size_t>(asked);
  return std::clamp(std::thread::hardware_concurrency(), 1U, max_threads);
}

}  // namespace

dataset_ptr load_into_memory(dataset_ptr of, const load_into_memory_options& options) {
  if (!of) throw usage_error{"load_into_memory: the dataset is null"};
  std::vector<field> fields = of->fields();
  std::vector<std::size_t> row_bytes = detail::checked_row_bytes("load_into_memory", fields);
  std::size_t sample_bytes = 0;
  for (const std::size_t bytes : row_bytes) sample_bytes += bytes;
  const partition cut{*of, sample_bytes};
  const std::size_t threads = thread_count(*of, options.threads);
  if (of->varies_by_epoch())
    throw usage_error{
        "load_into_memory: the dataset's samples differ from epoch to epoch (varies_by_epoch()), "
        "but samples in memory would not: load what they are made of, and map() or decode() it"};
  if (!of->rows().empty()) return of;
  detail::check_errors(options.errors, "load_into_memory_options::errors");
  detail::check_substitute(options.errors, "load_into_memory_options::errors", cut.samples);
  require_budget(cut.samples, sample_bytes, options.max_bytes);

  std::vector<detail::row_storage> storage;
  try {
    for (const std::size_t bytes : row_bytes) storage.emplace_back(cut.samples * bytes);
  } catch (const std::bad_alloc&) {
    throw usage_error{
        "load_into_memory: the system gives no " + std::to_string(cut.samples * sample_bytes) +
        " bytes of memory for the samples: load a subset(), or let loaders read the files"};
  }
  const auto unreadable = read_all(*of, cut, row_bytes, storage, threads, options);

  std::vector<memory_field> columns;
  for (std::size_t f = 0; f < fields.size(); ++f) {
    std::span<std::byte> rows = storage[f].bytes();
    if (options.errors.action == error_action::substitute) {
      for (const std::uint64_t sample : unreadable)
        std::memcpy(rows.data() + sample * row_bytes[f],
                    rows.data() + options.errors.substitute * row_bytes[f], row_bytes[f]);
    } else {
      rows = rows.first(close_gaps(rows, row_bytes[f], cut.samples, unreadable) * row_bytes[f]);
    }
    columns.push_back({std::move(fields[f]), rows, storage[f].owner()});
  }
  return make_memory_dataset(std::move(columns));
}

}  // namespace FEEDLINE_ABI
}  // namespace feedline
