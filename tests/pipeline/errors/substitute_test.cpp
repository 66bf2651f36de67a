/// One sample replaces each that cannot be read.

#include <feedline/dataset/concatenate.hpp>
#include <feedline/dataset/map.hpp>
#include <feedline/error.hpp>
#include <feedline/sampler/sequential.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/checks/batch_log.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/log_capture.hpp"
#include "support/checks/message_of.hpp"
#include "support/checks/sanitized.hpp"
#include "support/datasets/bad_samples.hpp"
#include "support/devices/data_paths.hpp"

#include <algorithm>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr std::uint64_t sample_count = 45;

error_policy with(std::uint64_t substitute) {
  return {.action = error_action::substitute, .substitute = substitute, .max_share = 1};
}

/// A copy of identity rows, of which sample 3 makes the function throw.
template <class Throw>
dataset_ptr mapped(Throw refuse) {
  const auto rows = make_identity_rows(20, 8);
  return map(rows, rows->fields(), [refuse](sample_index sample, const auto& in, const auto& out) {
    if (sample.value == 3) refuse();
    for (std::size_t field = 0; field < in.size(); ++field)
      std::copy(in[field].begin(), in[field].end(), out[field].begin());
  });
}

}  // namespace

TEST_CASE(
    "substitute: the named sample replaces each bad one, on every path, with any readers, slots, "
    "pieces and ranks",
    "[reader][host]") {
  const log_capture unheard;
  const data_path through = GENERATE(from_range(first_reading_data_paths()));
  const int readers = GENERATE(0, 1, 3);
  const int world = GENERATE(1, 2);
  const sample_set bad{0, 7, 8, 9, 30, 44};
  const sampler order = shuffle{.seed = 2};
  static combinations cases;
  for (loader_options options :
       {loader_options{.batch_size = 6, .expert = {.batches_per_slot = 1}},
        loader_options{.batch_size = 6, .expert = {.batches_per_slot = 3, .request_bytes = 40}},
        loader_options{.batch_size = 12, .expert = {.piece_bytes = 60, .request_bytes = 40}}}) {
    if (!cases.takes_next()) continue;
    CAPTURE(to_string(through), readers, world, options.batch_size,
            options.expert.batches_per_slot);
    options.readers = readers;
    options.errors = with(17);
    for (int rank = 0; rank < world; ++rank) {
      options.shard = {.rank = rank, .world = world};
      const path_setup clean{through};
      loader undisturbed = clean.load(make_bad_rows(sample_count, {}), order, options);
      auto expected = take_epochs(undisturbed, clean, 0, 3);
      std::uint64_t failures = 0;
      for (auto& batch : expected.batches) {
        for (auto& sample : batch) {
          if (bad.count(sample) == 0) continue;
          sample = 17;
          ++failures;
        }
      }
      const path_setup by{through};
      loader loader = by.load(make_bad_rows(sample_count, bad), order, options);
      CHECK(take_epochs(loader, by, 0, 3) == expected);
      CHECK(loader.failures().count == failures);
      for (const sample_failure& each : loader.failures().first) {
        CHECK(each.action == error_action::substitute);
        CHECK(each.replaced_by == sample_index{17});
        CHECK(bad.count(each.sample.value) == 1);
        CHECK(order_of_epoch(order, sample_count, each.epoch).at(each.position.value % 45) ==
              each.sample.value);
      }
    }
  }
}

TEST_CASE("substitute: one that cannot be read either ends the epoch after the good batches",
          "[reader][host]") {
  const log_capture unheard;
  const path_setup by{GENERATE(from_range(first_reading_data_paths()))};
  const int readers = GENERATE(0, 2);
  loader loader = by.load(
      make_bad_rows(20, {9, 11}), sequential{},
      {.batch_size = 4, .readers = readers, .errors = with(11), .expert = {.batches_per_slot = 1}});
  auto range = loader.epoch(0, by.stream);
  CHECK(range.next());
  CHECK(range.next());
  CHECK(message_of<stage_error>([&] { (void)range.next(); }) ==
        "the reader stage failed in epoch 0, batch 2: disk/part-3.bin: field 'row', "
        "sample 11: the substitute for sample 9 cannot be read either: bad checksum; set "
        "loader_options::errors.substitute to a readable sample");
}

TEST_CASE("error policy: a user's function that throws a dataset_error is about its sample",
          "[dataset][host]") {
  const log_capture unheard;
  const path_setup by{data_path::stream};
  loader loader = by.load(mapped([] {
                            throw dataset_error{{}, "no face in it"};
                          }),
                          sequential{}, {.batch_size = 4, .errors = with(5)});
  CHECK(take_epochs(loader, by, 0, 1).batches[0] == std::vector<std::uint64_t>{0, 1, 2, 5});
}

TEST_CASE("error policy: an exception that is no dataset_error ends the epoch under any policy",
          "[dataset][host]") {
  const log_capture unheard;
  const auto action = GENERATE(error_action::skip, error_action::substitute);
  const auto read_throws = [](auto refuse) {
    return gated(make_identity_rows(20, 8), [refuse](auto) { refuse(); });
  };
  const auto runtime = [] { throw std::runtime_error{"a fault"}; };
  const auto memory = [] { throw std::bad_alloc{}; };
  const auto usage = [] { throw usage_error{"a fault"}; };
  for (const dataset_ptr& data : {mapped(runtime), mapped(memory), mapped(usage),
                                  concatenate({mapped(runtime), make_identity_rows(4, 8)}),
                                  read_throws(runtime), read_throws(memory), read_throws(usage)}) {
    for (const int readers : {0, 2}) {
      const path_setup by{data_path::stream};
      loader loader = by.load(
          data, sequential{},
          {.batch_size = 4, .readers = readers, .errors = {.action = action, .max_share = 1}});
      auto range = loader.epoch(0, by.stream);
      CHECK_THROWS_AS((void)range.next(), stage_error);
      CHECK(loader.failures().count == 0);
    }
  }
}

TEST_CASE("error policy: a dataset_error that tells its own cause is about the data",
          "[dataset][host]") {
  const log_capture unheard;
  const auto data = gated(make_identity_rows(20, 8), [](std::span<const sample_index> run) {
    for (const sample_index each : run) {
      if (each.value != 2) continue;
      try {
        throw std::runtime_error{"the library's words"};
      } catch (...) {
        std::throw_with_nested(dataset_error{{}, "cannot be decoded"});
      }
    }
  });
  const path_setup by{data_path::stream};
  loader loader = by.load(data, sequential{}, {.batch_size = 4, .errors = with(5)});
  CHECK(take_epochs(loader, by, 0, 1).batches[0] == std::vector<std::uint64_t>{0, 1, 5, 3});
}
