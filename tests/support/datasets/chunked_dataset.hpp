#pragma once

#include <feedline/dataset/dataset.hpp>

#include <utility>

namespace feedline::test {

/// A dataset like another one, except that it says it is stored in chunks.
class chunked_dataset final : public dataset {
 public:
  chunked_dataset(dataset_ptr of, chunking stored) : of_{std::move(of)}, stored_{stored} {}

  std::uint64_t size() const override { return of_->size(); }
  std::vector<field> fields() const override { return of_->fields(); }
  chunking chunks() const override { return stored_; }
  read_concurrency concurrency() const override { return of_->concurrency(); }

  void do_read(const read_request& request) const override { of_->read(request); }

 private:
  dataset_ptr of_;
  chunking stored_;
};

[[nodiscard]] inline dataset_ptr make_chunked(dataset_ptr of, chunking stored) {
  return std::make_shared<const chunked_dataset>(std::move(of), stored);
}

}  // namespace feedline::test
