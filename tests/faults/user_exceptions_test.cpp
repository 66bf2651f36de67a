/// Exceptions of the user's own code, at any of its calls: for each n the n-th call throws, until
/// no call is left that could.

#include <feedline/dataset/map.hpp>
#include <feedline/error.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/catch.hpp"
#include "support/checks/contains.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/nth_call.hpp"
#include "support/checks/recorder.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/devices/data_paths.hpp"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <exception>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t samples = 16;
constexpr std::uint64_t batch_size = 4;
constexpr std::uint64_t epochs = 2;

/// An exception of a user's code that derives neither from feedline's nor from std::exception.
struct foreign {};

enum class thrown : std::uint8_t { of_feedline, foreign };

/// User's code in which one call fails.
struct faults {
  nth_call calls{};
  thrown what = thrown::of_feedline;

  /// Counts a call of the user's code.
  void call() {
    if (!calls.count()) return;
    if (what == thrown::foreign) throw foreign{};
    throw dataset_error{{.path = "a/file", .field = {}}, "told to fail"};
  }
};

/// Whether an exception is one that `faults` threw, or holds one.
bool is_told(const std::exception_ptr& cause) {
  if (!cause) return false;
  try {
    std::rethrow_exception(cause);
  } catch (const foreign&) {
    return true;
  } catch (const stage_error& failure) {
    return is_told(failure.cause());
  } catch (const std::exception& other) {
    const std::string words = other.what();
    if (words.find("told to fail") != std::string::npos) return true;
    try {
      std::rethrow_if_nested(other);
    } catch (...) {
      return is_told(std::current_exception());
    }
  }
  return false;
}

bool blames_device(const std::exception_ptr& failure) {
  return contains(message_of<stage_error>([&] { std::rethrow_exception(failure); }),
                  "did not decode the sample's block, but the CPU does");
}

/// Another dataset, of which any function can fail that may.
class faulty_dataset final : public dataset {
 public:
  faulty_dataset(dataset_ptr of, faults& by) : of_{std::move(of)}, by_{by} {}

  [[nodiscard]] std::uint64_t size() const override { return by_.call(), of_->size(); }
  [[nodiscard]] std::vector<field> fields() const override { return by_.call(), of_->fields(); }
  void do_read(const read_request& request) const override {
    by_.call();
    of_->read(request);
  }
  [[nodiscard]] bool varies_by_epoch() const override { return by_.call(), false; }
  [[nodiscard]] std::vector<std::span<const std::byte>> rows() const override {
    return by_.call(), of_->rows();
  }
  [[nodiscard]] chunking chunks() const override { return by_.call(), of_->chunks(); }
  [[nodiscard]] bool wants_prefetch() const noexcept override { return true; }
  [[nodiscard]] read_concurrency concurrency() const override {
    return by_.call(), of_->concurrency();
  }

 private:
  dataset_ptr of_;
  faults& by_;
};

/// `shuffle`, of which any function can fail.
struct faulty_sampler {
  faults* by;
  shuffle order{.seed = 3};

  [[nodiscard]] std::uint64_t size(std::uint64_t count) const {
    by->call();
    return sampler{order}.size(count);
  }
  void indices(std::uint64_t count, std::uint64_t epoch, position first,
               std::span<sample_index> out) const {
    by->call();
    order.indices(count, epoch, first, out);
  }
  [[nodiscard]] sampler bind(const dataset&, std::uint64_t) const {
    by->call();
    return *this;
  }
};

/// The parts of a loader, which may refer to the faults.
struct parts {
  dataset_ptr data = make_identity_rows(samples, 8);
  sampler order = shuffle{.seed = 3};
  std::optional<batch_transform> function = {};
  /// Asked again for indices at which it threw, it does not throw, as no sampler should: if blocks
  /// are single samples, a block is missing, and no error tells why.
  bool forgets = false;
};

using make_parts = std::function<parts(faults&)>;

parts with_dataset(faults& by) {
  return {.data = std::make_shared<const faulty_dataset>(make_identity_rows(samples, 8), by)};
}

parts with_sampler(faults& by) {
  return {.order = faulty_sampler{&by}, .forgets = true};
}

parts with_map(faults& by) {
  const auto data = make_identity_dataset(samples, 8);
  std::vector<field> fields = data->fields();
  fields.push_back({"note", element_type::u8, {}});
  return {.data = map(data, std::move(fields), [&by](sample_index, auto in, auto out) {
            by.call();
            for (std::size_t place = 0; place < in.size(); ++place)
              std::copy(in[place].begin(), in[place].end(), out[place].begin());
            out[2][0] = std::byte{0};
          })};
}

parts with_function(faults& by) {
  return {.function = batch_transform{.fields = {{"any", element_type::u8, {}}},
                                      .run = [&by](const batch_function_call&) { by.call(); }}};
}

/// Consumes some epochs, and asks each batch for its samples. @return The failure that ended this.
std::exception_ptr consume(loader& loader, const path_setup& by, recorder* record) {
  for (std::uint64_t epoch = 0; epoch < epochs; ++epoch) {
    std::optional<epoch_range> range;
    try {
      range.emplace(loader.epoch(epoch, by.stream));
      while (const auto taken = range->next()) {
        if (record != nullptr) (*record)(*taken);
        (void)taken->samples();
      }
    } catch (const stage_error& first) {
      // And so does every later step.
      CHECK_THROWS_AS((void)range->next(), stage_error);
      return std::make_exception_ptr(first);
    } catch (...) {
      return std::current_exception();
    }
  }
  return nullptr;
}

void check_nothing_is_left(const scripted_device& device) {
  CHECK(device.allocated_bytes(memory_kind::staging) == 0);
  CHECK(device.allocated_bytes(memory_kind::device) == 0);
  CHECK(device.mappings() == 0);
  CHECK(device.freed_in_use() == 0);
  CHECK(device.handles() == 1);  // the consumer's stream
}

/// Makes and consumes a loader, in which the n-th call fails. @return Whether it came to that.
bool fails(const make_parts& make, data_path through, int readers, thrown what, std::uint64_t nth) {
  faults told{.what = what};
  const path_setup by{through};
  recorder record{by.looks()};
  std::exception_ptr failure;
  const parts of = make(told);
  loader_options options{.batch_size = batch_size,
                         .epochs = epochs,
                         .readers = readers,
                         .expert = {.batches_per_slot = 1, .staging_slots = 2, .device_slots = 2}};
  options = on_data_path(through, *of.data, options);
  options.expert.batch_transform = of.function;
  told.calls.arm(nth);
  try {
    loader loader{stored_for(through, of.data, of.order), of.order, by.device, options};
    failure = consume(loader, by, of.function ? nullptr : &record);
  } catch (...) {
    failure = std::current_exception();
  }
  const bool came = told.calls.calls() >= nth;
  // A hint that cannot be followed is dropped: then the failure is not reported.
  if (failure)
    CHECK((is_told(failure) ||
           (of.forgets && through == data_path::decoded && blames_device(failure))));
  const auto seen = record.seen();
  CHECK(all_intact(seen));
  if (!failure && !of.function) CHECK(seen.size() == epochs * samples / batch_size);
  check_nothing_is_left(*by.on.device);
  return came;
}

/// All n there are.
void fail_each_call(const make_parts& make, const std::vector<data_path>& ways) {
  const data_path through = GENERATE_COPY(from_range(ways));
  const int readers = GENERATE(0, 2);
  const auto what = GENERATE(thrown::of_feedline, thrown::foreign);
  std::uint64_t nth =
      1 + first_case(static_cast<std::uint64_t>(through) + static_cast<std::uint64_t>(what));
  for (bool came = true; came && nth < 500; nth += case_stride) {
    CAPTURE(to_string(through), readers, static_cast<int>(what), nth);
    came = fails(make, through, readers, what, nth);
  }
  CAPTURE(to_string(through));
  CHECK(nth > 5);  // calls there were
  CHECK(nth < 500);
}

}  // namespace

TEST_CASE("faults: a dataset may throw at any call", "[loader][host]") {
  fail_each_call(with_dataset, all_data_paths());
}

TEST_CASE("faults: a sampler may throw at any call", "[loader][host]") {
  fail_each_call(with_sampler, all_data_paths());
}

TEST_CASE("faults: a function that is mapped over samples may throw at any call",
          "[loader][host]") {
  fail_each_call(with_map, reading_data_paths());
}

TEST_CASE("faults: a batch transform may throw at any call", "[loader][host]") {
  fail_each_call(with_function, all_data_paths());
}
