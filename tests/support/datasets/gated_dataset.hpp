#pragma once

#include <feedline/dataset/dataset.hpp>

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

namespace feedline::test {

/// Another dataset with something done before each read: a gate, a count, a failure. Only if asked
/// for it tells where its rows lie: they are not read then.
class gated_dataset final : public dataset {
 public:
  using hook = std::function<void(std::span<const sample_index> samples)>;

  gated_dataset(dataset_ptr of, hook before_read,
                read_concurrency concurrency = read_concurrency::parallel, bool tells_rows = false)
      : of_{std::move(of)},
        before_read_{std::move(before_read)},
        concurrency_{concurrency},
        tells_rows_{tells_rows} {}

  [[nodiscard]] std::uint64_t size() const override { return of_->size(); }
  [[nodiscard]] std::vector<field> fields() const override { return of_->fields(); }
  void do_read(const read_request& request) const override {
    before_read_(request.samples);
    of_->read(request);
  }
  [[nodiscard]] std::vector<std::span<const std::byte>> rows() const override {
    if (!tells_rows_) return {};
    return of_->rows();
  }
  [[nodiscard]] read_concurrency concurrency() const override { return concurrency_; }

 private:
  dataset_ptr of_;
  hook before_read_;
  read_concurrency concurrency_;
  bool tells_rows_;
};

/// A dataset with a hook before each read; the hook may be called by several readers at once.
[[nodiscard]] inline dataset_ptr gated(dataset_ptr of, gated_dataset::hook before_read,
                                       read_concurrency concurrency = read_concurrency::parallel) {
  return std::make_shared<const gated_dataset>(std::move(of), std::move(before_read), concurrency);
}

/// The same, for loaders that gather.
[[nodiscard]] inline dataset_ptr gated_rows(dataset_ptr of, gated_dataset::hook before_read) {
  return std::make_shared<const gated_dataset>(std::move(of), std::move(before_read),
                                               read_concurrency::parallel, true);
}

}  // namespace feedline::test
