#pragma once

#include <feedline/error_policy.hpp>
#include <feedline/index.hpp>

#include <cstdint>
#include <exception>
#include <limits>
#include <vector>

namespace feedline::detail {

/// The samples of an epoch that could not be read, up to some position. Repeats do not count.
struct epoch_losses {
  std::uint64_t unreadable = 0;  ///< samples
  std::uint64_t skipped = 0;     ///< unreadable ones that shortened the epoch by one each

  friend bool operator==(const epoch_losses&, const epoch_losses&) = default;
};

/// A batch, and the number of samples of its epoch that would be delivered, before the batch itself
/// lost samples.
struct begun_batch {
  std::uint64_t number = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t places = 0;
};

/// A sample that a reader could not read.
struct unreadable_sample {
  std::uint64_t place = 0;  ///< index in the run that is read; once marked, in the staging slot
  sample_index sample;
  position at;               ///< position in the epoch's order
  std::exception_ptr cause;  ///< a dataset_error
};

/// The changes that an error policy made to a ticket. Indices count the ticket's samples. Written
/// by the transfer; constant once delivered.
struct slot_repairs {
  struct failure {
    std::uint64_t place;  ///< index where it was met: a sample from the epoch's end is met
                          ///< elsewhere
    sample_failure what;
    bool is_repeat = false;  ///< a repeated sample: no share of an epoch counts it
  };
  struct replacement {
    std::uint64_t place;
    sample_index by;
  };

  std::vector<failure> failures;          ///< in order of index
  std::vector<replacement> replacements;  ///< in order of index
  std::uint64_t samples = 0;              ///< samples of the ticket before the epoch's end
  std::uint64_t epoch_batches = 0;        ///< batches of the epoch, if known here
  std::uint64_t first_repeat = 0;         ///< index of the epoch's first repeat, if known here
};

}  // namespace feedline::detail
