#pragma once

#include <feedline/error_policy.hpp>
#include <feedline/index.hpp>

#include <cstdint>
#include <exception>
#include <limits>
#include <vector>

namespace feedline::detail {

/// What of an epoch could not be read, up to some place of it. Repeats do not count.
struct epoch_losses {
  std::uint64_t unreadable = 0;  ///< samples
  std::uint64_t skipped = 0;     ///< of these: each took one off the epoch's end

  friend bool operator==(const epoch_losses&, const epoch_losses&) = default;
};

/// A batch, and how many places of its epoch were to be delivered before it lost samples itself.
struct begun_batch {
  std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t places = 0;
};

/// A sample that a reader could not read.
struct unreadable_sample {
  std::uint64_t place = 0;  ///< in the run that is read; once marked, in the staging slot
  sample_index sample;
  position at;               ///< in the epoch's order
  std::exception_ptr cause;  ///< a dataset_error
};

/// What an error policy made of a ticket. Places count the ticket's samples. Written by the
/// transfer; constant once delivered.
struct slot_repairs {
  struct failure {
    std::uint64_t place;  ///< where it was met: a sample from the epoch's end is met elsewhere
    sample_failure what;
    bool is_repeat = false;  ///< of a sample that comes again: no share of an epoch counts it
  };
  struct replacement {
    std::uint64_t place;
    sample_index by;
  };

  std::vector<failure> failures;          ///< by place
  std::vector<replacement> replacements;  ///< by place
  std::uint64_t samples = 0;              ///< of the ticket, before the epoch's end
  std::uint64_t epoch_batches = 0;        ///< as far as is known here
  std::uint64_t first_repeat = 0;         ///< place in the epoch, likewise
};

}  // namespace feedline::detail
