#include "python/workers/pool.hpp"

#include <feedline/error.hpp>

#include "python/bindings.hpp"
#include "python/errors.hpp"

#include <algorithm>
#include <utility>

namespace feedline::python {
namespace {

/// Workers that end one after the other before they begin a sample do not blame the sample.
constexpr int max_attempts = 100;

}  // namespace

void worker_pool::check_process() const {
  if (!made_by_.is_this())
    throw usage_error{
        "the dataset's workers belong to the process that made it, and this is a child of fork: "
        "make the dataset here"};
}

void worker_pool::read(const read_request& request, std::span<const std::size_t> row_bytes) {
  check_process();
  std::optional<interpreter_release> unlocked_meanwhile;
  if (PyGILState_Check() != 0) unlocked_meanwhile.emplace();
  const std::size_t most = worker_process::max_samples(row_bytes);
  std::vector<std::span<std::byte>> out(row_bytes.size());
  for (std::size_t first = 0, count = 0; first < request.samples.size(); first += count) {
    count = std::min(most, request.samples.size() - first);
    const auto place = place_of(request.samples[first]);
    const auto others = request.samples.subspan(first, count);
    if (place)
      count = static_cast<std::size_t>(
          std::ranges::find_if(others, [&](auto each) { return place_of(each) != place; }) -
          others.begin());
    for (std::size_t field = 0; field < out.size(); ++field)
      out[field] = request.out[field].subspan(first * row_bytes[field], count * row_bytes[field]);
    read_run({request.samples.subspan(first, count), out, request.context.part(first, count)},
             row_bytes, place);
  }
}

std::optional<std::size_t> worker_pool::place_of(sample_index sample) const {
  if (!turns_) return std::nullopt;
  return turns_->at(sample.value).stream % entries_.size();
}

void worker_pool::read_run(const read_request& request, std::span<const std::size_t> row_bytes,
                           std::optional<std::size_t> only) {
  const auto calling = [&](std::uint64_t sample, auto&& function) {
    locked([&] {
      try {
        function();
      } catch (nb::python_error& raised) {
        rethrow(raised, sample, *held_);
      }
    });
  };
  std::string last;
  auto patience = patience_;
  if (patience && makes_together_) *patience *= static_cast<int>(request.samples.size());
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    lane_use used;
    worker_process::outcome outcome{};
    try {
      used = take(only);
      outcome = used.worker->make(used.lane, request, row_bytes, patience);
    } catch (nb::python_error&) {  // a signal's handler did
      calling(request.samples.front().value, [&] {
        if (used.worker) (void)replace(used, 0);  // its answer may still come
        throw;
      });
    } catch (...) {
      if (used.worker) locked([&] { (void)replace(used, 0); });
      throw;
    }
    if (outcome == worker_process::outcome::made) return give_back(used);
    const std::size_t begun = used.worker->begun(used.lane);
    const std::uint64_t sample = request.samples[begun == 0 ? 0 : begun - 1].value;
    calling(sample, [&] { last = settle(used, outcome, sample); });
  }
  throw usage_error{"workers end before they make a sample: " + last};
}

std::string worker_pool::settle(const lane_use& used, worker_process::outcome outcome,
                                std::uint64_t sample) {
  worker_process& worker = *used.worker;
  const bool has_begun = worker.begun(used.lane) != 0;
  if (outcome == worker_process::outcome::failed) {
    const auto answer = worker.answer(used.lane);
    const nb::bytes data{reinterpret_cast<const char*>(answer.data()), answer.size()};
    give_back(used);
    const nb::object raised = nb::module_::import_("feedline._worker").attr("raised")(data);
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
    nb::raise_python_error();
  }
  const double patience = outcome == worker_process::outcome::ended
                              ? std::chrono::duration<double>{time_to_end}.count()
                              : 0;
  std::string how = worker.name() + " " + replace(used, patience);
  if (!has_begun) return how;
  const dataset_location where{.path = {}, .field = {}, .sample = sample};
  if (outcome == worker_process::outcome::late)
    throw dataset_error{where, worker.name() +
                                   " was killed, because the sample took longer than "
                                   "timeout; it is replaced"};
  throw dataset_error{where, how + " while it made this sample; it is replaced"};
}

worker_pool::lane_use worker_pool::take(std::optional<std::size_t> only) {
  const bool is_main = is_first_thread();
  std::unique_lock lock{mutex_};
  for (;;) {
    if (!refusal_.empty()) throw usage_error{refusal_};
    if (auto found = try_take(only)) return *std::move(found);
    if (!is_main) {
      changed_.wait(lock);
    } else if (changed_.wait_for(lock, until_signals) == std::cv_status::timeout) {
      lock.unlock();
      locked(run_signal_handlers);
      lock.lock();
    }
  }
}

/// A free lane: rather of a worker that is ready, and then of one whose other lane is free, too.
std::optional<worker_pool::lane_use> worker_pool::try_take(std::optional<std::size_t> only) {
  std::optional<lane_use> best;
  int best_rank = 4;
  for (std::size_t place = 0; place < entries_.size() && best_rank != 0; ++place) {
    const entry& each = entries_[place];
    const auto* const free = std::ranges::find(each.in_use, false);
    if (!each.worker || free == std::end(each.in_use) || place != only.value_or(place)) continue;
    const bool is_idle = std::ranges::count(each.in_use, true) == 0;
    const int rank = (each.worker->is_ready() ? 0 : 2) + (is_idle ? 0 : 1);
    if (rank >= best_rank) continue;
    best_rank = rank;
    best = {each.worker, place, static_cast<std::size_t>(free - std::begin(each.in_use))};
  }
  if (best) entries_[best->place].in_use[best->lane] = true;
  return best;
}

void worker_pool::give_back(const lane_use& used) noexcept {
  {
    const std::scoped_lock lock{mutex_};
    entry& of = entries_[used.place];
    if (of.worker == used.worker) of.in_use[used.lane] = false;
  }
  // With streams each waits for a worker of its own.
  turns_ ? changed_.notify_all() : changed_.notify_one();
}

}  // namespace feedline::python
