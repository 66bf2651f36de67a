// How the workers of a pool begin and end: their start, replacement, and the end of all.

#include <feedline/error.hpp>

#include "detail/log.hpp"
#include "python/bindings.hpp"
#include "python/workers/pool.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

namespace feedline::python {
namespace {

using std::chrono::steady_clock;

/// Workers in a row, each started instead of the last, that do not become ready.
constexpr int max_stuck = 3;

/// Pools that there are.
struct {
  std::mutex mutex;  ///< never held while Python runs
  std::vector<std::weak_ptr<worker_pool>> all;
} pools;

}  // namespace

worker_pool::worker_pool(nb::object start_one, unsigned workers,
                         std::optional<std::chrono::milliseconds> patience, bool makes_together,
                         std::optional<stream_turns> turns, std::shared_ptr<held_objects> held)
    : held_{std::move(held)},
      start_{std::move(start_one), *held_},
      patience_{patience},
      makes_together_{makes_together},
      turns_{std::move(turns)},
      entries_(workers) {}

std::shared_ptr<worker_pool> worker_pool::make(nb::object start, unsigned workers,
                                               std::optional<std::chrono::milliseconds> patience,
                                               bool makes_together,
                                               std::optional<stream_turns> turns,
                                               std::shared_ptr<held_objects> held) {
  std::shared_ptr<worker_pool> made{new worker_pool{
      std::move(start), workers, patience, makes_together, std::move(turns), std::move(held)}};
  for (std::size_t place = 0; place < workers; ++place)
    made->entries_[place].worker = made->start(place);
  const std::scoped_lock lock{pools.mutex};
  std::erase_if(pools.all, [](const auto& each) { return each.expired(); });
  pools.all.push_back(made);
  return made;
}

worker_pool::~worker_pool() {
  if (!made_by_.is_this()) return;  // a child of fork has no workers
  begin_to_end();
  if (!can_lock()) return;
  const interpreter_lock lock;
  try {
    end_by(steady_clock::now() + time_to_end);
  } catch (const nb::python_error& raised) {  // a signal's handler did, and runs again
    if (raised.matches(PyExc_KeyboardInterrupt)) PyErr_SetInterrupt();
  }
}

std::shared_ptr<worker_process> worker_pool::start(std::size_t place) const {
  return std::make_shared<worker_process>(static_cast<unsigned>(place), start_.for_call(), *held_);
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
  // This thread alone uses the entry while it has no worker.
  int& stuck = entries_[lost.place].stuck;
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

void worker_pool::end_all() {
  std::vector<std::shared_ptr<worker_pool>> all;
  {
    const std::scoped_lock lock{pools.mutex};
    for (const auto& each : std::exchange(pools.all, {}))
      if (auto pool = each.lock()) all.push_back(std::move(pool));
  }
  const auto deadline = steady_clock::now() + time_to_end;
  for (const auto& each : all) each->begin_to_end();
  for (const auto& each : all) each->end_by(deadline);
}

void bind_workers(nb::module_& module) {
  module.def("_end_workers", &worker_pool::end_all);
}

}  // namespace feedline::python
