/// How full rows of documents are that `pack_together` plans, how long the plan takes, and how many
/// tokens a second a loader delivers of them: `feedline_bench_packing [--documents 10000000]`. Only
/// `--gpu` needs a GPU.
///
/// Method: documents have lengths of a log-normal distribution around 420 tokens (sigma 1.2), some
/// 860 on average, as pages of the web have; a longer one than a row is split. Their tokens are
/// made as they are read, and cost a `memset`. Rows have positions and documents. "full" is the
/// share of elements that are no padding. Rate: batches of 8 rows in a random order on the host
/// device, for a second, with each number of readers; padding does not count. `--least` makes the
/// program fail if rows are less full.
///
/// With `--gpu` the tokens are i32, rows also have masks, and GPU 0 gets batches of 64 rows. Each
/// number of readers is measured twice: positions, documents and masks are made by the GPU from
/// offsets, or by readers. Limits: the bus, at 4 bytes a token or 13, and the readers' work.

#include <feedline/loader/loader.hpp>
#include <feedline/packing/pack_together.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/processor.hpp"
#include "bench/support/delivered.hpp"
#include "bench/support/destination.hpp"
#include "support/command_line.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <exception>
#include <memory>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

using namespace feedline;

namespace {

struct settings {
  std::uint64_t documents = 10'000'000;
  std::vector<std::uint64_t> capacities{2048, 4096, 131'072};
  std::vector<int> readers{1, 4};
  double least = 0;
  bool gpu = false;
};

/// Documents that are not stored.
class made_documents final : public ragged_dataset {
 public:
  made_documents(std::uint64_t count, element_type type) : type_{type} {
    std::mt19937_64 random{1};
    std::lognormal_distribution<double> draws{std::log(420.0), 1.2};
    lengths_.reserve(count);
    for (std::uint64_t i = 0; i < count; ++i)
      lengths_.push_back(static_cast<std::uint32_t>(std::clamp(draws(random), 1.0, 1e6)));
  }

  std::uint64_t size() const override { return lengths_.size(); }
  field element() const override { return {"token", type_, {}}; }
  std::uint64_t length(sample_index sample) const override { return lengths_[sample.value]; }

 private:
  void do_read(std::span<const element_run> runs) const override {
    for (const element_run& run : runs)
      std::memset(run.out.data(), static_cast<int>(run.sample.value & 0x7fU), run.out.size());
  }

  element_type type_;
  std::vector<std::uint32_t> lengths_;
};

/// The same rows, of which no device makes a field.
class made_by_readers final : public dataset {
 public:
  explicit made_by_readers(dataset_ptr of) : of_{std::move(of)} {}
  std::uint64_t size() const override { return of_->size(); }
  std::vector<field> fields() const override { return of_->fields(); }

 private:
  void do_read(const read_request& request) const override { of_->read(request); }

  dataset_ptr of_;
};

double seconds_since(std::chrono::steady_clock::time_point begun) {
  return std::chrono::duration<double>{std::chrono::steady_clock::now() - begun}.count();
}

/// Tokens a second of batches, padding not counted.
struct rates {
  double second = 0;
  double core = 0;
};

rates rates_of(const dataset_ptr& rows, std::uint64_t batch, int readers, double tokens_of_row,
               const bench::destination& to) {
  loader from{rows,
              shuffle{.seed = 1},
              to.device(),
              {.batch_size = batch, .epochs = UINT64_MAX, .readers = readers}};
  std::uint64_t pass = 0;
  std::uint64_t batches = 0;
  const bench::meter clock;
  while (clock.seconds() < 1)
    for (auto range = from.epoch(pass++, to.stream()); clock.seconds() < 1 && range.next();)
      ++batches;
  to.wait();
  const bench::delivered run = clock.stop(batches, 0);
  const double tokens = static_cast<double>(batches * batch) * tokens_of_row;
  return {tokens / run.seconds, tokens / run.cpu_seconds};
}

/// @return How full the rows are.
double measure(const ragged_dataset_ptr& documents, std::uint64_t capacity, const settings& how) {
  const auto begun = std::chrono::steady_clock::now();
  const auto rows =
      pack_together({documents}, {.capacity = {capacity},
                                  .seed = 1,
                                  .longer = pack_longer::split,
                                  .positions = true,
                                  .documents = true,
                                  .mask = how.gpu ? packed_mask::followed : packed_mask::none});
  const double planned = seconds_since(begun);
  const double full = 1 - rows->padding_share();
  const bench::destination to{how.gpu};
  const double tokens = static_cast<double>(capacity) * full;
  const auto print = [&](int readers, const dataset_ptr& of, const char* made_by) {
    const rates measured = rates_of(of, how.gpu ? 64 : 8, readers, tokens, to);
    std::printf("| %ju | %.2f | %.3f %% | %ju | %d | %s | %.3g | %.3g |\n",
                std::uintmax_t{capacity}, planned, 100 * full, std::uintmax_t{rows->size()},
                readers, made_by, measured.second, measured.core);
    std::fflush(stdout);
  };
  for (const int readers : how.readers) {
    print(readers, rows, how.gpu ? "the GPU" : "readers");
    if (how.gpu) print(readers, std::make_shared<const made_by_readers>(rows), "readers");
  }
  return full;
}

}  // namespace

int main(int argc, char** argv) {
  settings how;
  test::command_line line{"How full packed rows are, and how fast they are made"};
  line.add_option("--documents", how.documents, "to pack").positive();
  line.add_option("--capacities", how.capacities, "elements of a row, to try");
  line.add_option("--readers", how.readers, "numbers of readers to try");
  line.add_option("--least", how.least, "share of elements that must be filled");
  line.add_flag("--gpu", how.gpu, "deliver to GPU 0");
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  try {
    std::printf("%s, %u hardware threads; %ju documents\n", bench::processor().c_str(),
                std::thread::hardware_concurrency(), std::uintmax_t{how.documents});
    std::printf(
        "| row | plan, s | full | rows | readers | fields made by | tokens/s | a core |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n");
    const auto documents = std::make_shared<const made_documents>(
        how.documents, how.gpu ? element_type::i32 : element_type::u16);
    bool is_good = true;
    for (const std::uint64_t capacity : how.capacities)
      is_good &= measure(documents, capacity, how) >= how.least;
    if (!is_good) std::fprintf(stderr, "rows are less than %.2f %% full\n", 100 * how.least);
    return is_good ? 0 : 1;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "feedline_bench_packing: %s\n", failure.what());
    return 1;
  }
}
