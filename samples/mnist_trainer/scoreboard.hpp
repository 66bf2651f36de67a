#pragma once

#include "checkpoint.hpp"
#include "network.hpp"

#include <span>
#include <stdexcept>
#include <string>
#include <vector>

namespace mnist {

/// What one batch came to, over all ranks.
struct batch_result {
  score of;
  unsigned long long checksum = 0;
};

/// Keeps what batches come to on the device, until it is asked for: so no step waits for the
/// device, nor for other ranks.
template <class Device>
class scoreboard {
 public:
  /// @param most_batches Between two calls of `take`.
  scoreboard(Device& on, std::size_t most_batches, std::size_t inputs, bool checksums)
      : on_{on},
        inputs_{inputs},
        wants_checksums_{checksums},
        scores_{on.template allocate<float>(most_batches * 3)},
        checksums_{on.template allocate<unsigned long long>(most_batches)} {}

  /// Begins a batch, and adds its bytes up, if checksums are wanted.
  /// @return Where its score belongs, for the network.
  float* next(const digits_view& digits) {
    const std::size_t at = together_.size();
    together_.push_back(digits.together);
    if (wants_checksums_) {
      const std::size_t images = digits.together * inputs_;  // labels have their places behind
      on_.for_each(digits.count * inputs_,
                   fold{digits.images, digits.first * inputs_, checksums_ + at});
      on_.for_each(digits.count * classes,
                   fold{digits.labels, images + digits.first * classes, checksums_ + at});
    }
    return scores_ + at * 3;
  }

  /// The results of all batches since the last call. Waits for the device and for all ranks, which
  /// must call it behind the same batch. @throws std::runtime_error if a label was no class.
  std::vector<batch_result> take() {
    const std::size_t batches = together_.size();
    std::vector<batch_result> results(batches);
    if (batches == 0) return results;
    std::vector<float> scores(batches * 3);
    std::vector<unsigned long long> checksums(batches);
    on_.sum(scores_, scores.size());
    if (wants_checksums_) on_.sum(checksums_, batches);
    on_.wait_for_sums();
    on_.download(scores_, std::span{scores});
    on_.download(checksums_, std::span{checksums});
    on_.upload(std::span<const unsigned long long>{std::vector<unsigned long long>(batches)},
               checksums_);
    double unknown = 0;
    for (std::size_t i = 0; i < batches; ++i) {
      unknown += scores[3 * i + 2];
      results[i] = {{scores[3 * i], scores[3 * i + 1], static_cast<double>(together_[i])},
                    checksums[i]};
    }
    together_.clear();
    if (unknown != 0)
      throw std::runtime_error{std::to_string(static_cast<std::size_t>(unknown)) +
                               " labels are above 9: the trainer knows the classes 0 to 9"};
    return results;
  }

 private:
  Device& on_;
  std::size_t inputs_;
  bool wants_checksums_;
  float* scores_;  // three for each batch: losses, right answers, labels that are no class
  unsigned long long* checksums_;
  std::vector<std::size_t> together_;  // digits, of each batch since the last `take`
};

}  // namespace mnist
