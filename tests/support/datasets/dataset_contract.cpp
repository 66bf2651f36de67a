#include "support/datasets/dataset_contract.hpp"

#include "support/checks/catch.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <latch>
#include <optional>
#include <random>
#include <string>
#include <thread>

namespace feedline::test {
namespace {

using sample_list = std::vector<sample_index>;

/// Guard bytes on both sides of each field's output, and the poison the output starts with. A
/// byte that stays poison though another value is expected was not written; a run is read under two
/// poisons, so that a value that equals one of them cannot hide.
constexpr std::size_t guard_bytes = 64;
constexpr std::byte guard{0x5a};

class poisoned_output {
 public:
  poisoned_output(const std::vector<field>& fields, std::size_t samples, std::byte poison) {
    for (const field& field : fields) {
      const std::size_t bytes = samples * sample_bytes(field);
      blocks_.emplace_back(bytes + 2 * guard_bytes, guard);
      std::fill_n(blocks_.back().begin() + guard_bytes, bytes, poison);
    }
    for (auto& block : blocks_)
      spans_.push_back(std::span{block}.subspan(guard_bytes, block.size() - 2 * guard_bytes));
  }

  std::span<const std::span<std::byte>> spans() const { return spans_; }

  bool guards_are_whole() const {
    const auto is_guard = [](std::byte byte) { return byte == guard; };
    return std::all_of(blocks_.begin(), blocks_.end(), [&](const auto& block) {
      return std::all_of(block.begin(), block.begin() + guard_bytes, is_guard) &&
             std::all_of(block.end() - guard_bytes, block.end(), is_guard);
    });
  }

 private:
  std::vector<std::vector<std::byte>> blocks_;
  std::vector<std::span<std::byte>> spans_;
};

/// All that a dataset must hold, asked of the oracle once: [field][sample].
using expected_table = std::vector<std::vector<std::vector<std::byte>>>;

expected_table table_of(std::uint64_t samples, const std::vector<field>& fields,
                        const expected_bytes& expected) {
  expected_table table(fields.size());
  for (std::size_t place = 0; place < fields.size(); ++place)
    for (std::uint64_t i = 0; i < samples; ++i) {
      table[place].push_back(expected(sample_index{i}, place));
      REQUIRE(table[place].back().size() == sample_bytes(fields[place]));
    }
  return table;
}

/// Reads a run outside of a loader and as in an epoch, and compares; what is wrong with it, or
/// nothing. Any thread.
std::optional<std::string> fault_of(const dataset& from, const std::vector<field>& fields,
                                    const sample_list& samples, const expected_table& expected) {
  for (const std::byte poison : {std::byte{0xcd}, std::byte{0x32}}) {
    const poisoned_output output{fields, samples.size(), poison};
    const bool is_in_epoch = poison == std::byte{0x32} && !from.varies_by_epoch();
    const read_context in_epoch{9, 5, samples, position{3}};
    from.read({samples, output.spans(), is_in_epoch ? in_epoch : read_context{samples}});
    if (!output.guards_are_whole()) return "bytes beside the output were written";
    for (std::size_t place = 0; place < fields.size(); ++place) {
      const std::size_t bytes = sample_bytes(fields[place]);
      for (std::size_t i = 0; i < samples.size(); ++i) {
        const std::vector<std::byte>& wanted = expected[place][samples[i].value];
        if (std::memcmp(output.spans()[place].data() + i * bytes, wanted.data(), bytes) != 0)
          return "field '" + fields[place].name + "' of sample " +
                 std::to_string(samples[i].value) + ", place " + std::to_string(i) +
                 " of a run of " + std::to_string(samples.size()) + ", is not as expected";
      }
    }
  }
  return std::nullopt;
}

/// Compares rows in memory with the expected values.
std::optional<std::string> fault_of_rows(const std::vector<std::span<const std::byte>>& rows,
                                         const std::vector<field>& fields, std::uint64_t size,
                                         const expected_table& expected) {
  if (rows.size() != fields.size())
    return std::to_string(rows.size()) + " spans for " + std::to_string(fields.size()) + " fields";
  for (std::size_t place = 0; place < fields.size(); ++place) {
    const std::size_t bytes = sample_bytes(fields[place]);
    if (rows[place].size() != size * bytes)
      return "field '" + fields[place].name + "' has " + std::to_string(rows[place].size()) +
             " bytes";
    for (std::uint64_t i = 0; i < size; ++i) {
      if (std::memcmp(rows[place].data() + i * bytes, expected[place][i].data(), bytes) != 0)
        return "field '" + fields[place].name + "' of sample " + std::to_string(i) +
               " is not as expected";
    }
  }
  return std::nullopt;
}

sample_list all_samples(std::uint64_t size) {
  sample_list samples(size);
  for (std::uint64_t i = 0; i < size; ++i) samples[i] = sample_index{i};
  return samples;
}

sample_list random_samples(std::uint64_t size, std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random{seed};
  sample_list samples(count);
  for (auto& sample : samples) sample = sample_index{random() % size};
  return samples;
}

/// Several threads read at once, started together; the first fault any of them met.
std::optional<std::string> fault_of_parallel_reads(const dataset& from,
                                                   const std::vector<field>& fields,
                                                   const expected_table& expected) {
  constexpr std::size_t thread_count = 4;
  std::vector<std::optional<std::string>> faults(thread_count);
  std::latch gate{thread_count};
  std::vector<std::thread> threads;
  for (std::size_t t = 0; t < thread_count; ++t)
    threads.emplace_back([&, t] {
      try {
        gate.arrive_and_wait();
        for (std::uint64_t round = 0; round < 8 && !faults[t]; ++round)
          faults[t] =
              fault_of(from, fields, random_samples(from.size(), 64, t * 100 + round), expected);
      } catch (const std::exception& exception) {
        faults[t] = exception.what();
      }
    });
  for (auto& thread : threads) thread.join();
  const auto first =
      std::find_if(faults.begin(), faults.end(), [](const auto& f) { return f.has_value(); });
  return first == faults.end() ? std::nullopt : *first;
}

}  // namespace

std::vector<std::vector<std::byte>> read_samples(const dataset& from,
                                                 const std::vector<sample_index>& samples) {
  std::vector<std::vector<std::byte>> values;
  for (const field& field : from.fields())
    values.emplace_back(samples.size() * sample_bytes(field));
  const std::vector<std::span<std::byte>> out(values.begin(), values.end());
  from.read(samples, out);
  return values;
}

std::vector<std::vector<std::byte>> read_sample(const dataset& from, sample_index sample) {
  return read_samples(from, {sample});
}

void check_dataset_contract(const dataset_ptr& under_test, std::uint64_t size,
                            const std::vector<field>& fields, const expected_bytes& expected) {
  REQUIRE(under_test != nullptr);
  const dataset& dataset = *under_test;
  REQUIRE(dataset.size() == size);
  REQUIRE(dataset.fields() == fields);
  REQUIRE_FALSE(fields.empty());
  const expected_table table = table_of(size, fields, expected);

  const auto check = [&](const std::string& what, const sample_list& samples) {
    INFO(what);
    const auto fault = fault_of(dataset, fields, samples, table);
    INFO(fault.value_or("no fault"));
    CHECK_FALSE(fault.has_value());
  };
  check("an empty run", {});
  if (size == 0) return;

  check("the first sample alone", {sample_index{0}});
  check("the last sample alone", {sample_index{size - 1}});
  sample_list samples = all_samples(size);
  check("all, in order", samples);
  std::reverse(samples.begin(), samples.end());
  check("all, backwards", samples);
  std::shuffle(samples.begin(), samples.end(), std::mt19937_64{7});
  check("all, shuffled", samples);
  check("one sample, many times", sample_list(17, sample_index{size / 2}));
  check("random samples, with repeats", random_samples(size, 257, 11));

  const auto rows = dataset.rows();
  if (!rows.empty()) {
    const auto fault = fault_of_rows(rows, fields, size, table);
    INFO("rows(): " << fault.value_or("no fault"));
    CHECK_FALSE(fault.has_value());
  }

  if (dataset.concurrency() == read_concurrency::parallel) {
    const auto fault = fault_of_parallel_reads(dataset, fields, table);
    INFO("several threads at once: " << fault.value_or("no fault"));
    CHECK_FALSE(fault.has_value());
  }
}

}  // namespace feedline::test
