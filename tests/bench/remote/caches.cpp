#include "bench/remote/caches.hpp"

#include <feedline/loader/loader.hpp>
#include <feedline/remote/mount.hpp>

#include "bench/remote/client_process.hpp"
#include "bench/support/destination.hpp"
#include "remote/cache/object_cache.hpp"
#include "support/datasets/simulated_reads.hpp"

#include <algorithm>
#include <cstdio>
#include <string>

namespace feedline::bench {
namespace {

std::string percent(double part) {
  char text[16];  // NOLINT(modernize-avoid-c-arrays)
  (void)std::snprintf(text, sizeof text, " %7.2f", 100 * part);
  return text;
}

void print_row(const std::string& cache, int processes, const std::string& parts) {
  std::printf("%-34s %9d %s\n", cache.c_str(), processes, parts.c_str());
  std::fflush(stdout);
}

std::string words_of(double share, const char* where) {
  char text[64];  // NOLINT(modernize-avoid-c-arrays)
  (void)std::snprintf(text, sizeof text, "%.0f %% of the data%s", 100 * share, where);
  return text;
}

class measured {
 public:
  measured(const written_form& data, const file_server& server, const cache_runs& how)
      : data_{data}, server_{server}, how_{how} {}

  [[nodiscard]] std::uint64_t block() const { return remote_cache_options{}.block_bytes; }
  [[nodiscard]] std::uint64_t room(double share) const {
    const std::uint64_t blocks = (data_.stored_bytes + block() - 1) / block();
    const auto kept = static_cast<std::uint64_t>(share * static_cast<double>(blocks) + 0.5);
    return std::max<std::uint64_t>(kept, 1) * block();
  }
  [[nodiscard]] double sent_since(std::uint64_t before) const {
    return static_cast<double>(server_.body_bytes() - before) /
           static_cast<double>(data_.stored_bytes);
  }

  void in_memory(double share) const {
    remote_options options{.second_requests = false};  // requests are counted
    options.cache.memory_bytes = room(share);
    std::string parts;
    read(options, {}, [&](std::uint64_t before) { parts += percent(sent_since(before)); });
    print_row(words_of(share, ", in memory"), 1, parts);
  }

  void simulated_lru(double share) const {
    const test::simulated_reads reads{data_.stored_bytes / data_.row_bytes, data_.row_bytes,
                                      block(), data_.order, how_.batch};
    std::string parts;
    for (const std::uint64_t each :
         reads.with_lru(room(share), data_.row_bytes, static_cast<std::uint64_t>(how_.epochs)))
      parts += percent(static_cast<double>(each) / static_cast<double>(reads.bytes()));
    print_row(words_of(share, ", LRU of rows, simulated"), 1, parts);
  }

  void in_folder(int processes) const {
    const std::filesystem::path folder = how_.folder / ("cache-" + std::to_string(processes));
    remote_options options{.second_requests = false};
    options.cache.folder = folder.string();
    options.cache.folder_bytes = data_.stored_bytes + data_.stored_bytes / 8 + 16 * block();
    std::string parts;
    for (int run = 0; run < 2; ++run) {
      const std::uint64_t before = server_.body_bytes();
      std::vector<pid_t> all;
      for (int rank = 0; rank < processes; ++rank)
        all.push_back(begin_process([&] {
          stay_on(how_.cores);
          read(options, {rank, processes}, [](std::uint64_t) {});
        }));
      for (const pid_t each : all) end_process(each);
      parts += percent(sent_since(before));
    }
    print_row("all, in a folder; each run's epochs", processes, parts);
    std::filesystem::remove_all(folder);
  }

 private:
  /// @param after Is called after each epoch, with the server's count before it.
  template <class After>
  void read(const remote_options& options, const feedline::shard& shard, After after) const {
    mount_remote_files(options);
    const destination to{how_.gpu};
    loader loader{data_.open("http://127.0.0.1:" + std::to_string(server_.port()) + "/"),
                  data_.order,
                  to.device(),
                  {.batch_size = how_.batch, .shard = shard, .readers = how_.readers}};
    for (int epoch = 0; epoch < how_.epochs; ++epoch) {
      detail::object_cache::settle_all();
      const std::uint64_t before = server_.body_bytes();
      for (const batch& each : loader.epoch(static_cast<std::uint64_t>(epoch), to.stream()))
        (void)each;
      to.wait();
      after(before);
    }
    detail::object_cache::settle_all();
  }

  const written_form& data_;
  const file_server& server_;
  const cache_runs& how_;
};

}  // namespace

void run_caches(const written_form& data, const file_server& server, const cache_runs& how) {
  const measured runs{data, server, how};
  std::printf("%-34s %9s   parts that the server sent in each epoch, in %%\n", "cache",
              "processes");
  const auto apart = [&](auto body) {
    in_process([&] {
      stay_on(how.cores);
      body();
    });
  };
  apart([&] { runs.in_memory(how.share); });
  apart([&] { runs.simulated_lru(how.share); });
  apart([&] { runs.in_memory(1); });
  for (const int processes : how.processes) runs.in_folder(processes);
}

}  // namespace feedline::bench
