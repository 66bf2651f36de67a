#include "python/workers/pool.hpp"

#include <feedline/error.hpp>

#include "detail/log.hpp"
#include "python/bindings.hpp"
#include "python/errors.hpp"

#include <unistd.h>

#include <algorithm>
#include <utility>

namespace feedline::python {
namespace {

using namespace std::chrono_literals;
using std::chrono::steady_clock;

/// How long a worker may take to end, once it was asked to.
constexpr auto time_to_end = 1s;
/// Workers that end one after the other before they begin a sample do not blame the sample.
constexpr int max_attempts = 100;
constexpr int max_stuck = 3;

/// Pools that there are. Guarded by the interpreter's lock.
std::vector<std::weak_ptr<worker_pool>>& all_pools() {
  static std::vector<std::weak_ptr<worker_pool>> all;
  return all;
}

}  // namespace

worker_pool::worker_pool(nb::object start_one, unsigned workers,
                         std::optional<std::chrono::milliseconds> patience, bool makes_together,
                         std::shared_ptr<held_objects> held)
    : held_{std::move(held)},
      start_{std::move(start_one), *held_},
      patience_{patience},
      makes_together_{makes_together},
      made_by_{::getpid()},
      entries_(workers) {}

std::shared_ptr<worker_pool> worker_pool::make(nb::object start, unsigned workers,
                                               std::optional<std::chrono::milliseconds> patience,
                                               bool makes_together,
                                               std::shared_ptr<held_objects> held) {
  std::shared_ptr<worker_pool> made{
      new worker_pool{std::move(start), workers, patience, makes_together, std::move(held)}};
  for (std::size_t place = 0; place < workers; ++place)
    made->entries_[place].worker = made->start(place);
  auto& all = all_pools();
  std::erase_if(all, [](const auto& each) { return each.expired(); });
  all.push_back(made);
  return made;
}

worker_pool::~worker_pool() {
  if (::getpid() != made_by_) return;  // a child of fork has no workers
  begin_to_end();
  if (!can_lock()) return;
  const interpreter_lock lock;
  try {
    end_by(steady_clock::now() + time_to_end);
  } catch (const nb::python_error& raised) {  // of a signal's handler, which runs again
    if (raised.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
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
      used = take();
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

worker_pool::lane_use worker_pool::take() {
  const bool is_main = ::gettid() == ::getpid();
  std::unique_lock lock{mutex_};
  for (;;) {
    if (!refusal_.empty()) throw usage_error{refusal_};
    if (auto found = try_take()) return *std::move(found);
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
  std::shared_ptr<worker_process> next = lost.worker;  // unless another one is started
  std::string refusal;
  const auto put_next = [&] {
    {
      const std::scoped_lock lock{mutex_};
      if (!is_mine || !refusal_.empty()) return;  // or the workers were ended meanwhile
      entry& of = entries_[lost.place];
      of.in_use[lost.lane] = false;
      if (next != lost.worker) std::ranges::fill(of.in_use, false);
      of.worker = std::move(next);
      refusal_ = refusal;
    }
    changed_.notify_all();
  };
  std::string how;
  try {
    lost.worker->ask_to_end();
    how = lost.worker->end(patience);
    if (is_mine) next = start_after(lost, how, refusal);
  } catch (...) {
    put_next();
    throw;
  }
  put_next();
  return how;
}

std::shared_ptr<worker_process> worker_pool::start_after(const lane_use& lost,
                                                         const std::string& how,
                                                         std::string& refusal) {
  const worker_process& worker = *lost.worker;
  int& stuck = entries_[lost.place].stuck;  // of this thread alone while there is no worker
  if (!worker.is_stuck()) {
    stuck = 0;
    // One that ends by itself before it is ready would do so again and again.
    if (!worker.is_ready() && how.find("exit code") != std::string::npos)
      refusal = worker.name() + " " + how +
                " before it was ready: what it wrote to stderr says why; with start_method='spawn' "
                "the program's main module is imported there again, so its loop belongs under "
                "if __name__ == \"__main__\"";
  } else {
    const std::string what =
        worker.name() +
        " was killed, because it was not ready in time after its fork: a lock that "
        "another thread held at the fork is never free in the worker; "
        "start_method='forkserver' or 'spawn' cannot meet that";
    if (++stuck < max_stuck) {
      detail::log()->warn("{}; another one is started", what);
    } else {
      refusal = what + "; nor was it the first, so no other one is started";
    }
  }
  if (!refusal.empty()) return nullptr;
  try {
    return start(lost.place);
  } catch (const std::exception& why) {
    const auto* const raised = dynamic_cast<const nb::python_error*>(&why);
    if (raised != nullptr && !raised->matches(PyExc_Exception)) throw;  // such as KeyboardInterrupt
    refusal = "a worker that ended cannot be replaced: " + std::string{why.what()};
  }
  return nullptr;
}

void worker_pool::begin_to_end() {
  {
    const std::scoped_lock lock{mutex_};
    if (refusal_.empty()) refusal_ = "the dataset's workers were ended";
    for (const entry& each : entries_)
      if (each.worker) each.worker->ask_to_end();
  }
  changed_.notify_all();
}

void worker_pool::end_by(time_point deadline) {
  std::vector<std::shared_ptr<worker_process>> all;
  {
    const std::scoped_lock lock{mutex_};
    for (const entry& each : entries_)
      if (each.worker) all.push_back(each.worker);
  }
  for (const auto& each : all) {
    const std::chrono::duration<double> left = deadline - steady_clock::now();
    (void)each->end(std::max(left.count(), 0.0));
  }
}

void bind_workers(nb::module_& module) {
  module.def("_end_workers", [] {
    std::vector<std::shared_ptr<worker_pool>> all;
    for (const auto& each : std::exchange(all_pools(), {}))
      if (auto pool = each.lock()) all.push_back(std::move(pool));
    const auto deadline = steady_clock::now() + time_to_end;
    for (const auto& each : all) each->begin_to_end();
    for (const auto& each : all) each->end_by(deadline);
  });
}

}  // namespace feedline::python
