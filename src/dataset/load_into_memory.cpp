#include <feedline/dataset/load_into_memory.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>

#include "dataset/composed_error.hpp"
#include "dataset/field_list.hpp"
#include "detail/arithmetic.hpp"
#include "detail/machine_memory.hpp"
#include "detail/threads.hpp"
#include "rows/row_storage.hpp"

#include <system_error>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace feedline {
namespace {

/// A thread reads about this much at a time: enough that what a call costs does not matter, and
/// little enough that threads end together and progress is smooth.
constexpr std::size_t piece_bytes = std::size_t{1} << 20;
constexpr int max_threads = 16;

/// Which samples are read by one thread, one call after the other: whole chunks, so that no two
/// threads decode the same one.
struct partition {
  std::uint64_t samples;
  std::uint64_t run;    ///< samples
  std::uint64_t piece;  ///< samples of a call

  partition(const dataset& of, std::size_t sample_bytes)
      : samples{of.size()},
        piece{std::clamp<std::uint64_t>(piece_bytes / std::max<std::size_t>(sample_bytes, 1), 1,
                                        65'536)} {
    const auto whole = std::max<std::uint64_t>(samples, 1);
    const auto chunk = std::clamp<std::uint64_t>(of.chunks().samples, 1, whole);
    run = chunk * std::max<std::uint64_t>(1, piece / chunk);
    piece = std::min(piece, run);
  }

  std::uint64_t runs() const noexcept { return detail::divide_up(samples, run); }
};

/// Reads all samples of a dataset into memory, on several threads.
///
/// Threads: `read_all` is the caller's; `drive` runs on each of the readers.
class holding {
 public:
  holding(const dataset& of, const partition& cut, std::vector<std::size_t> row_bytes,
          const std::vector<detail::row_storage>& to)
      : of_{of}, cut_{cut}, row_bytes_{std::move(row_bytes)}, to_{to} {}

  void read_all(int threads, const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
    std::vector<std::jthread> readers;
    try {
      start(readers, threads);
      wait(progress);
    } catch (...) {
      cancelled_.store(true);  // before they are joined
      throw;
    }
  }

 private:
  void start(std::vector<std::jthread>& readers, int threads) {
    try {
      for (int i = 0; i < threads; ++i) {
        const std::scoped_lock lock{mutex_};
        readers.emplace_back([this, i] {
          detail::name_this_thread("fl-hold-" + std::to_string(i));
          drive();
        });
        ++reading_;
      }
    } catch (const std::system_error&) {  // no more threads to be had: those there are do it all
      if (!readers.empty()) return;
      reading_ = 1;
      drive();
    }
  }

  void wait(const std::function<void(std::uint64_t, std::uint64_t)>& progress) {
    for (std::uint64_t told = 0;;) {
      std::unique_lock lock{mutex_};
      changed_.wait(lock, [&] { return done_ != told || reading_ == 0; });
      told = done_;
      const bool ended = reading_ == 0;
      if (ended && failure_) std::rethrow_exception(failure_);
      lock.unlock();
      if (progress) progress(told, cut_.samples);
      if (ended) return;
    }
  }

  void drive() noexcept {
    for (;;) {
      const std::uint64_t run = next_.fetch_add(1);
      if (run >= cut_.runs() || failed_.load() || cancelled_.load()) break;
      try {
        read_run(run);
      } catch (...) {
        fail(run, std::current_exception());
      }
    }
    const std::scoped_lock lock{mutex_};
    --reading_;
    changed_.notify_one();
  }

  void read_run(std::uint64_t run) {
    const std::uint64_t end = std::min(cut_.samples, (run + 1) * cut_.run);
    std::vector<sample_index> samples;
    std::vector<std::span<std::byte>> out(to_.size());
    for (std::uint64_t first = run * cut_.run; first < end; first += cut_.piece) {
      if (cancelled_.load()) return;
      const std::uint64_t count = std::min(cut_.piece, end - first);
      samples.clear();
      for (std::uint64_t i = 0; i < count; ++i) samples.push_back({first + i});
      for (std::size_t f = 0; f < out.size(); ++f)
        out[f] = to_[f].bytes().subspan(first * row_bytes_[f], count * row_bytes_[f]);
      read_piece(samples, out);
      const std::scoped_lock lock{mutex_};
      done_ += count;
      changed_.notify_one();
    }
  }

  void read_piece(std::span<const sample_index> samples,
                  std::span<const std::span<std::byte>> out) const {
    try {
      of_.read_in_turn(samples, out);
    } catch (const dataset_error&) {
      throw;  // says where
    } catch (...) {
      std::throw_with_nested(dataset_error{{},
                                           "load_into_memory: samples " +
                                               std::to_string(samples.front().value) + " to " +
                                               std::to_string(samples.back().value) +
                                               " could not be read: " + detail::current_words()});
    }
  }

  /// Runs are taken in order, and those under way go on: so it is the first one that cannot be read
  /// whose failure stays, however many threads there are.
  void fail(std::uint64_t run, std::exception_ptr cause) {
    const std::scoped_lock lock{mutex_};
    if (!failure_ || run < failed_run_) {
      failure_ = std::move(cause);
      failed_run_ = run;
    }
    failed_.store(true);
  }

  const dataset& of_;
  const partition cut_;
  const std::vector<std::size_t> row_bytes_;
  const std::vector<detail::row_storage>& to_;

  std::atomic<std::uint64_t> next_{0};  ///< run
  std::atomic<bool> failed_{false};
  std::atomic<bool> cancelled_{false};

  std::mutex mutex_;  ///< of what follows
  std::condition_variable changed_;
  std::uint64_t done_ = 0;  ///< samples
  int reading_ = 0;         ///< threads
  std::exception_ptr failure_;
  std::uint64_t failed_run_ = 0;
};

/// Bytes of all samples, which are within the budget.
void require_budget(std::uint64_t samples, std::size_t sample_bytes, std::size_t max_bytes) {
  const auto bytes = detail::checked_multiply<std::uint64_t>(samples, sample_bytes);
  const std::uint64_t budget = max_bytes != 0 ? max_bytes : detail::machine_memory_bytes();
  if (bytes && *bytes <= budget) return;
  throw usage_error{"load_into_memory: " + std::to_string(samples) + " samples of " +
                    std::to_string(sample_bytes) + " bytes take " +
                    (bytes ? std::to_string(*bytes) : "more than 2^64") + " bytes, and " +
                    (max_bytes != 0 ? "max_bytes is " : "this machine has ") +
                    std::to_string(budget) + ": hold a subset(), or read them where they are" +
                    (max_bytes != 0 ? ", or raise max_bytes" : "")};
}

int thread_count(const dataset& of, int asked, std::uint64_t runs) {
  if (asked < 0)
    throw usage_error{"load_into_memory_options::threads is " + std::to_string(asked) +
                      ": say how many, or 0 for as many as suit the machine"};
  if (of.concurrency() == read_concurrency::serialized) return 1;
  if (asked == 0)
    asked = std::clamp(static_cast<int>(std::thread::hardware_concurrency()), 1, max_threads);
  return static_cast<int>(std::clamp<std::uint64_t>(runs, 1, static_cast<std::uint64_t>(asked)));
}

}  // namespace

dataset_ptr load_into_memory(dataset_ptr of, const load_into_memory_options& options) {
  if (!of) throw usage_error{"load_into_memory: the dataset is null"};
  std::vector<field> fields = of->fields();
  std::vector<std::size_t> row_bytes = detail::checked_row_bytes("load_into_memory", fields);
  std::size_t sample_bytes = 0;
  for (const std::size_t bytes : row_bytes) sample_bytes += bytes;
  const partition cut{*of, sample_bytes};
  const int threads = thread_count(*of, options.threads, cut.runs());
  if (of->varies_by_epoch())
    throw usage_error{
        "load_into_memory: the dataset's samples differ from epoch to epoch (varies_by_epoch()), "
        "and "
        "what is "
        "held does not: hold what they are made of, and map() or decode() that"};
  if (!of->rows().empty()) return of;
  require_budget(cut.samples, sample_bytes, options.max_bytes);

  std::vector<detail::row_storage> storage;
  try {
    for (const std::size_t bytes : row_bytes) storage.emplace_back(cut.samples * bytes);
  } catch (const std::bad_alloc&) {
    throw usage_error{
        "load_into_memory: the system gives no " + std::to_string(cut.samples * sample_bytes) +
        " bytes of memory for the samples: hold a subset(), or read them where they are"};
  }
  holding{*of, cut, row_bytes, storage}.read_all(threads, options.progress);

  std::vector<memory_field> columns;
  for (std::size_t f = 0; f < fields.size(); ++f)
    columns.push_back({std::move(fields[f]), storage[f].bytes(), storage[f].owner()});
  return make_memory_dataset(std::move(columns));
}

}  // namespace feedline
