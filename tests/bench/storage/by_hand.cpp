#include "bench/storage/by_hand.hpp"

#include "bench/support/measure.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

namespace feedline::bench {

double rows_by_hand(const std::filesystem::path& path, std::size_t row_bytes, by_hand way,
                    int threads, double seconds) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw std::runtime_error{"cannot open " + path.string()};
  (void)::posix_fadvise(file, 0, 0, POSIX_FADV_RANDOM);
  std::vector<std::uint64_t> order(std::filesystem::file_size(path) / row_bytes);
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::shuffle(order.begin(), order.end(), std::mt19937_64{1});
  const std::size_t batch = row_bytes < 65'536 ? 256 : 32;
  const std::size_t batches = order.size() / batch;

  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> rows{0};
  std::atomic<bool> failed{false};
  const auto rows_of = [&](std::size_t number, auto&& each) {
    for (std::size_t i = number * batch; i < (number + 1) * batch; ++i)
      each(static_cast<off_t>(order[i] * row_bytes));
  };
  const auto ask = [&](std::size_t number) {
    if (number < batches)
      rows_of(number, [&](off_t at) {
        (void)::posix_fadvise(file, at, static_cast<off_t>(row_bytes), POSIX_FADV_WILLNEED);
      });
  };
  const auto ahead = static_cast<std::size_t>(2 * threads);
  const auto start = clock_type::now();
  const auto read = [&] {
    std::vector<char> row(row_bytes);
    for (std::size_t number = next++; number < batches && seconds_since(start) < seconds;
         number = next++) {
      if (way == by_hand::hints_and_pread) ask(number + ahead);
      rows_of(number, [&](off_t at) {
        if (::pread(file, row.data(), row_bytes, at) != static_cast<ssize_t>(row_bytes))
          failed = true;
      });
      rows += batch;
    }
  };
  if (way == by_hand::hints_and_pread)
    for (std::size_t number = 0; number < ahead; ++number) ask(number);
  std::vector<std::thread> running;
  for (int i = 0; i < threads; ++i) running.emplace_back(read);
  for (auto& thread : running) thread.join();
  const double passed = seconds_since(start);
  ::close(file);
  if (failed) throw std::runtime_error{"cannot read " + path.string()};
  return static_cast<double>(rows.load()) / passed;
}

}  // namespace feedline::bench
