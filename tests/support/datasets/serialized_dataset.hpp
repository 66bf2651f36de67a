#pragma once

#include <feedline/dataset/dataset.hpp>

#include <utility>

namespace feedline::test {

/// A dataset like another one, except that it asks to be read by one thread at a time.
class serialized_dataset final : public dataset {
 public:
  explicit serialized_dataset(dataset_ptr of) : of_{std::move(of)} {}

  std::uint64_t size() const override { return of_->size(); }
  std::vector<field> fields() const override { return of_->fields(); }
  read_concurrency concurrency() const override { return read_concurrency::serialized; }

  void do_read(const read_request& request) const override { of_->read(request); }

 private:
  dataset_ptr of_;
};

}  // namespace feedline::test
