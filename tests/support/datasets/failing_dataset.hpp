#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/error.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace feedline::test {

/// A dataset like another one, except that one sample of it cannot be read: a run that holds it
/// throws `failure`, a dataset_error or anything else.
template <class Failure>
class failing_dataset final : public dataset {
 public:
  failing_dataset(dataset_ptr of, sample_index bad, Failure failure)
      : of_{std::move(of)}, bad_{bad}, failure_{std::move(failure)} {}

  std::uint64_t size() const override { return of_->size(); }
  std::vector<field> fields() const override { return of_->fields(); }
  read_concurrency concurrency() const override { return of_->concurrency(); }

  void do_read(const read_request& request) const override {
    if (std::find(request.samples.begin(), request.samples.end(), bad_) != request.samples.end())
      throw failure_;
    of_->read(request);
  }

 private:
  dataset_ptr of_;
  sample_index bad_;
  Failure failure_;
};

/// Sample `bad` cannot be read, as if a file at "/data/rows" were damaged at byte 4096.
[[nodiscard]] inline dataset_ptr make_damaged(dataset_ptr of, sample_index bad) {
  return std::make_shared<const failing_dataset<dataset_error>>(
      std::move(of), bad,
      dataset_error{{.path = "/data/rows", .field = "row", .sample = bad.value, .offset = 4096},
                    "checksum mismatch"});
}

}  // namespace feedline::test
