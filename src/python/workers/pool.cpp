#include "python/workers/pool.hpp"

#include <feedline/error.hpp>

#include "python/bindings.hpp"
#include "python/errors.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace feedline::python {
namespace {

/// How long a worker may take to end, once it was asked to.
constexpr double seconds_to_end = 1.0;
/// Workers that end one after the other before they begin a sample do not blame the sample.
constexpr int max_attempts = 100;

/// Pools that there are. Guarded by the interpreter's lock.
std::vector<worker_pool*>& all_pools() {
  static std::vector<worker_pool*> all;
  return all;
}

}  // namespace

worker_pool::worker_pool(nb::object start_one, unsigned workers,
                         std::optional<std::chrono::milliseconds> patience,
                         std::shared_ptr<held_objects> held)
    : held_{std::move(held)},
      start_{std::move(start_one), *held_},
      patience_{patience},
      made_by_{::getpid()},
      entries_(workers) {
  try {
    for (std::size_t place = 0; place < workers; ++place) entries_[place].worker = start(place);
  } catch (...) {
    end();
    throw;
  }
  all_pools().push_back(this);
}

worker_pool::~worker_pool() {
  if (::getpid() != made_by_) return;  // a child of fork has no workers
  for (const entry& each : entries_)
    if (each.worker) each.worker->ask_to_end();
  if (!can_lock()) return;
  const interpreter_lock lock;
  std::erase(all_pools(), this);
  try {
    end();
  } catch (const nb::python_error&) {  // NOLINT(bugprone-empty-catch): nobody can be told
  }
}

std::shared_ptr<worker_process> worker_pool::start(std::size_t place) const {
  return std::make_shared<worker_process>(static_cast<unsigned>(place), start_.get(), *held_);
}

void worker_pool::check_process() const {
  if (::getpid() != made_by_)
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
  for (std::size_t first = 0; first < request.samples.size(); first += most) {
    const std::size_t count = std::min(most, request.samples.size() - first);
    for (std::size_t field = 0; field < out.size(); ++field)
      out[field] = request.out[field].subspan(first * row_bytes[field], count * row_bytes[field]);
    read_run({request.samples.subspan(first, count), out, request.context.part(first, count)},
             row_bytes);
  }
}

void worker_pool::read_run(const read_request& request, std::span<const std::size_t> row_bytes) {
  std::string last;
  for (int attempt = 0; attempt < max_attempts; ++attempt) {
    const lane_use used = take();
    worker_process& worker = *used.worker;
    worker_process::outcome outcome{};
    try {
      outcome = worker.make(used.lane, request, row_bytes, patience_);
    } catch (nb::python_error& raised) {  // a signal's handler did
      locked([&] {
        (void)replace(used, 0);  // its answer may still come
        rethrow(raised, request.samples.front().value, *held_);
      });
    } catch (...) {
      locked([&] { (void)replace(used, 0); });
      throw;
    }
    if (outcome == worker_process::outcome::made) return give_back(used);
    locked([&] { last = settle(used, outcome, request); });
  }
  throw usage_error{"workers end before they make a sample: " + last};
}

std::string worker_pool::settle(const lane_use& used, worker_process::outcome outcome,
                                const read_request& request) {
  worker_process& worker = *used.worker;
  const std::size_t begun = worker.begun(used.lane);
  const std::uint64_t sample = request.samples[begun == 0 ? 0 : begun - 1].value;
  if (outcome == worker_process::outcome::failed) {
    const auto answer = worker.answer(used.lane);
    const nb::bytes data{reinterpret_cast<const char*>(answer.data()), answer.size()};
    give_back(used);
    const nb::object raised = nb::module_::import_("feedline._worker").attr("raised")(data);
    try {
      PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(raised.ptr())), raised.ptr());
      nb::raise_python_error();
    } catch (nb::python_error& error) {
      rethrow(error, sample, *held_);
    }
  }
  const bool late = outcome == worker_process::outcome::late;
  std::string how = worker.name() + " " + replace(used, late ? 0 : seconds_to_end);
  if (begun == 0) return how;
  const dataset_location where{.path = {}, .field = {}, .sample = sample};
  if (late)
    throw dataset_error{where, worker.name() +
                                   " was killed, because the sample took longer than "
                                   "timeout; it is replaced"};
  throw dataset_error{where, how + " while it made this sample; it is replaced"};
}

worker_pool::lane_use worker_pool::take() {
  std::unique_lock lock{mutex_};
  std::optional<lane_use> found;
  changed_.wait(lock, [&] { return !refusal_.empty() || (found = try_take()).has_value(); });
  if (!found) throw usage_error{refusal_};
  return *found;
}

/// A free lane: rather of a worker that is ready, and then of one whose other lane is free, too.
std::optional<worker_pool::lane_use> worker_pool::try_take() {
  std::optional<lane_use> best;
  int best_rank = 4;
  for (std::size_t place = 0; place < entries_.size() && best_rank != 0; ++place) {
    const entry& each = entries_[place];
    const auto* const free = std::ranges::find(each.in_use, false);
    if (!each.worker || free == std::end(each.in_use)) continue;
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
  changed_.notify_one();
}

std::string worker_pool::replace(const lane_use& lost, double patience) {
  bool is_mine = false;
  {
    const std::scoped_lock lock{mutex_};
    entry& of = entries_[lost.place];
    is_mine = of.worker == lost.worker && refusal_.empty();
    if (is_mine) of.worker = nullptr;
  }
  lost.worker->ask_to_end();
  std::string how = lost.worker->end(patience);
  if (!is_mine) return how;
  std::shared_ptr<worker_process> made;
  std::string refusal;
  // One that ends by itself before it is ready would do so again and again.
  if (!lost.worker->is_ready() && how.find("exit code") != std::string::npos) {
    refusal = lost.worker->name() + " " + how +
              " before it was ready: what it wrote to stderr says why; with start_method='spawn' "
              "the program's main module is imported there again, so its loop belongs under "
              "if __name__ == \"__main__\"";
  } else {
    try {
      made = start(lost.place);
    } catch (const std::exception& why) {
      refusal = "a worker that ended cannot be replaced: " + std::string{why.what()};
    }
  }
  {
    const std::scoped_lock lock{mutex_};
    if (refusal_.empty()) {  // else the workers were ended meanwhile
      entries_[lost.place] = {std::move(made), {}};
      refusal_ = refusal;
    }
  }
  changed_.notify_all();
  return how;
}

void worker_pool::end() {
  std::vector<std::shared_ptr<worker_process>> ended;
  {
    const std::scoped_lock lock{mutex_};
    if (refusal_.empty()) refusal_ = "the dataset's workers were ended";
    for (const entry& each : entries_)
      if (each.worker) ended.push_back(each.worker);
  }
  changed_.notify_all();
  for (const auto& each : ended) each->ask_to_end();
  for (const auto& each : ended) (void)each->end(seconds_to_end);
}

void bind_workers(nb::module_& module) {
  module.def("_end_workers", [] {
    for (worker_pool* const each : std::exchange(all_pools(), {})) each->end();
  });
}

}  // namespace feedline::python
