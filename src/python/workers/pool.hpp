#pragma once

#include <feedline/dataset/read_request.hpp>

#include "detail/own_process.hpp"
#include "device/shared_memory.hpp"
#include "python/interpreter/held_object.hpp"
#include "python/workers/process.hpp"
#include "python/workers/turns.hpp"

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace feedline::python {

/// The worker processes of a dataset. A worker that ends or hangs is replaced. Any thread.
///
/// Any code of Python's may run a finalizer that ends another pool, so none of the locks here is
/// held while Python runs.
class worker_pool {
 public:
  using time_point = std::chrono::steady_clock::time_point;

  /// Starts the workers, and does not wait for them. With the interpreter's lock.
  /// @param start Same as for `worker_process`.
  /// @param patience Most time for one sample; empty: no limit.
  /// @param makes_together Whether a worker makes all samples of a request by one call, which may
  /// take this time for each of them.
  /// @param turns The streams that samples are of, if they are: worker w makes those of streams w,
  /// w + workers, and so on.
  /// @param held Gets the Python objects that this holds.
  [[nodiscard]] static std::shared_ptr<worker_pool> make(
      nb::object start, unsigned workers, std::optional<std::chrono::milliseconds> patience,
      bool makes_together, std::optional<stream_turns> turns, std::shared_ptr<held_objects> held);
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;
  /// Ends the workers.
  ~worker_pool();

  /// Has samples made by workers, and waits for them without the interpreter's lock.
  /// @throws dataset_error naming the sample whose worker ended or hung; as `rethrow` for what the
  /// worker raised; usage_error if no worker can be started.
  void read(const read_request& request, std::span<const std::size_t> row_bytes);

  /// Ends the workers of all pools at the program's end, within a second. With the interpreter's
  /// lock.
  static void end_all();

 private:
  /// How long a worker may take to end, once it was asked to.
  static constexpr std::chrono::seconds time_to_end{1};

  struct lane_use {
    std::shared_ptr<worker_process> worker;
    std::size_t place = 0;  ///< the worker's
    std::size_t lane = 0;
  };
  struct entry {
    std::shared_ptr<worker_process> worker;  ///< null while it is replaced
    bool in_use[lanes_a_worker] = {};
    int stuck = 0;  ///< workers, one after the other, that did not become ready in time
  };

  worker_pool(nb::object start, unsigned workers, std::optional<std::chrono::milliseconds> patience,
              bool makes_together, std::optional<stream_turns> turns,
              std::shared_ptr<held_objects> held);
  /// Asks the workers to end; later reads are refused. Never waits.
  void begin_to_end();
  /// Its second half: kills the workers that have not ended by the deadline. With the interpreter's
  /// lock.
  void end_by(time_point deadline);
  /// The worker that must make the sample; empty: any.
  [[nodiscard]] std::optional<std::size_t> place_of(sample_index sample) const;
  /// @param only Index of the worker that makes the samples; empty: any.
  void read_run(const read_request& request, std::span<const std::size_t> row_bytes,
                std::optional<std::size_t> only);
  /// Follows a request that was not served. With the interpreter's lock.
  /// @param sample The one that was begun last, or the first.
  /// @return How the worker ended, if it had begun no sample, so that another one can serve it.
  /// @throws dataset_error; nb::python_error of the worker, or of a signal's handler.
  std::string settle(const lane_use& used, worker_process::outcome outcome, std::uint64_t sample);
  /// Waits for a lane. @param only A worker's index; empty: any worker.
  /// @throws nb::python_error of a signal's handler.
  [[nodiscard]] lane_use take(std::optional<std::size_t> only);
  [[nodiscard]] std::optional<lane_use> try_take(std::optional<std::size_t> only);
  void give_back(const lane_use& used) noexcept;
  /// Ends the worker, and starts a new one instead, unless another thread does.
  /// With the interpreter's lock.
  /// @return How it ended, in words.
  /// @throws nb::python_error of a signal's handler. Then whoever uses the worker next replaces it.
  std::string replace(const lane_use& lost, double patience);
  /// @param how The worker ended. @param refusal Gets the reason if none is started.
  [[nodiscard]] std::shared_ptr<worker_process> start_after(const lane_use& lost,
                                                            const std::string& how,
                                                            std::string& refusal);
  [[nodiscard]] std::shared_ptr<worker_process> start(std::size_t place) const;
  void check_process() const;

  const detail::shared_staging shared_;
  const std::shared_ptr<held_objects> held_;
  const held_object start_;
  const std::optional<std::chrono::milliseconds> patience_;
  const bool makes_together_;
  const std::optional<stream_turns> turns_;
  const detail::own_process made_by_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<entry> entries_;
  std::string refusal_;  ///< why no worker can be started; empty: they can
};

}  // namespace feedline::python
