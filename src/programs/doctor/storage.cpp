#include "programs/doctor/storage.hpp"

#include "io/descriptor.hpp"
#include "io/file_watch.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <filesystem>
#include <numeric>
#include <random>
#include <thread>
#include <utility>

namespace doctor {
namespace {

namespace fs = std::filesystem;
using steady = std::chrono::steady_clock;

constexpr std::uint64_t block_bytes = std::uint64_t{1} << 20;
constexpr std::size_t alone_blocks = 64;
constexpr std::size_t shared_blocks = 192;
constexpr unsigned shared_threads = 8;
/// Of a folder of a million files, so many are looked at for what is in the page cache.
constexpr std::size_t max_examined = 256;

struct file_size {
  std::string path;
  std::uint64_t bytes = 0;
};

struct block {
  std::size_t file = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

std::vector<file_size> files_in(const std::vector<std::string>& paths) {
  std::vector<file_size> files;
  std::error_code skipped;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path, skipped)) {
      files.push_back({path, fs::file_size(path, skipped)});
      continue;
    }
    for (fs::recursive_directory_iterator at{path, skipped}, end; !skipped && at != end;
         at.increment(skipped))
      if (at->is_regular_file(skipped))
        files.push_back({at->path().string(), at->file_size(skipped)});
  }
  std::erase_if(files, [](const file_size& each) { return each.bytes + 1 <= 1; });
  return files;
}

/// Different blocks in a random order; the same for the same files.
std::vector<block> choose_blocks(const std::vector<file_size>& files) {
  std::vector<std::uint64_t> ends;  // of each file's blocks, counted over all
  std::uint64_t blocks = 0;
  for (const file_size& file : files)
    ends.push_back(blocks += (file.bytes + block_bytes - 1) / block_bytes);
  std::vector<std::uint64_t> numbers;
  std::mt19937_64 random{42};
  if (blocks <= 4 * (alone_blocks + shared_blocks)) {
    numbers.resize(blocks);
    std::iota(numbers.begin(), numbers.end(), std::uint64_t{0});
  } else {
    for (std::size_t i = 0; i < 2 * (alone_blocks + shared_blocks); ++i)
      numbers.push_back(random() % blocks);
    std::ranges::sort(numbers);
    numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  }
  std::ranges::shuffle(numbers, random);
  numbers.resize(std::min(numbers.size(), alone_blocks + shared_blocks));
  std::vector<block> chosen;
  for (const std::uint64_t number : numbers) {
    const auto end = std::ranges::upper_bound(ends, number);
    const auto file = static_cast<std::size_t>(end - ends.begin());
    const std::uint64_t first = file == 0 ? 0 : ends[file - 1];
    const std::uint64_t offset = (number - first) * block_bytes;
    chosen.push_back({file, offset, std::min(block_bytes, files[file].bytes - offset)});
  }
  return chosen;
}

/// Pages of a part of a file that are in the page cache, and those that could be.
std::optional<std::pair<std::uint64_t, std::uint64_t>> cached_pages(int file, const block& of) {
  struct {
    std::uint64_t offset, bytes;
  } range{of.offset, of.bytes};
  std::uint64_t counts[5] = {};  // cached, and four kinds that are not asked for
  constexpr long cachestat_number = 451;
  if (::syscall(cachestat_number, file, &range, counts, 0U) != 0) return std::nullopt;
  const auto page = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  return std::pair{counts[0], (of.bytes + page - 1) / page};
}

class reads {
 public:
  reads(const std::vector<file_size>& files, std::vector<block> blocks)
      : files_{files}, blocks_{std::move(blocks)} {}

  [[nodiscard]] std::size_t size() const { return blocks_.size(); }

  /// Drops all blocks from the page cache. @return What share of them is left; empty: not known.
  std::optional<double> drop() const {
    std::uint64_t left = 0;
    std::uint64_t pages = 0;
    for (const block& each : blocks_) {
      const feedline::detail::descriptor file{files_[each.file].path.c_str(), O_NONBLOCK};
      if (file.number() < 0) continue;
      (void)::fdatasync(file.number());  // pages that are not written yet would stay
      (void)::posix_fadvise(file.number(), static_cast<off_t>(each.offset),
                            static_cast<off_t>(each.bytes), POSIX_FADV_DONTNEED);
      const auto found = cached_pages(file.number(), each);
      if (!found) return std::nullopt;
      left += found->first;
      pages += found->second;
    }
    if (pages == 0) return std::nullopt;
    return static_cast<double>(left) / static_cast<double>(pages);
  }

  /// Reads some blocks, in order, until all are read or the time is over; at least one a thread.
  storage_rate read(std::size_t first, std::size_t count, unsigned threads, seconds time) const {
    std::atomic<std::size_t> next{first};
    std::atomic<std::uint64_t> bytes{0};
    const std::size_t end = std::min(first + count, blocks_.size());
    const steady::time_point begin = steady::now();
    const auto work = [&] {
      std::vector<std::byte> memory(block_bytes);
      do {
        const std::size_t at = next.fetch_add(1);
        if (at >= end) break;
        bytes += read_block(blocks_[at], memory);
      } while (steady::now() - begin < time);
    };
    {
      std::vector<std::jthread> others;
      for (unsigned i = 1; i < threads; ++i) others.emplace_back(work);
      work();
    }
    return {threads, bytes.load(), steady::now() - begin};
  }

 private:
  std::uint64_t read_block(const block& each, std::vector<std::byte>& memory) const {
    const feedline::detail::descriptor file{files_[each.file].path.c_str(), O_NONBLOCK};
    if (file.number() < 0) return 0;
    // So that one call is one wait, and what lies behind is not brought in.
    (void)::posix_fadvise(file.number(), 0, 0, POSIX_FADV_RANDOM);
    std::uint64_t done = 0;
    while (done < each.bytes) {
      const ssize_t got = ::pread(file.number(), memory.data() + done, each.bytes - done,
                                  static_cast<off_t>(each.offset + done));
      if (got <= 0) break;  // what is wrong with it is told by those who read samples
      done += static_cast<std::uint64_t>(got);
    }
    return done;
  }

  const std::vector<file_size>& files_;
  std::vector<block> blocks_;
};

/// What share of the files is in the page cache, by those that are looked at.
void look_at_cache(const std::vector<file_size>& files, storage_facts& facts) {
  double cached = 0;
  double bytes = 0;
  const std::size_t stride = (files.size() + max_examined - 1) / max_examined;
  for (std::size_t i = 0; i < files.size(); i += stride) {
    const feedline::detail::descriptor file{files[i].path.c_str(), O_NONBLOCK};
    if (file.number() < 0) continue;
    if (i == 0) facts.local = feedline::detail::is_on_local_file_system(file.number());
    const auto share = feedline::detail::resident_share(file.number(), files[i].bytes);
    if (!share) return;
    cached += *share * static_cast<double>(files[i].bytes);
    bytes += static_cast<double>(files[i].bytes);
  }
  if (bytes > 0) facts.cached = cached / bytes;
}

}  // namespace

storage_facts examine_storage(const std::vector<std::string>& paths, const storage_limits& limits) {
  storage_facts facts;
  const std::vector<file_size> files = files_in(paths);
  facts.files = files.size();
  for (const file_size& file : files) facts.bytes += file.bytes;
  if (files.empty()) {
    facts.not_measured = "there is no regular file with bytes in it";
    return facts;
  }
  look_at_cache(files, facts);
  const reads blocks{files, choose_blocks(files)};
  const std::size_t alone = std::clamp<std::size_t>(blocks.size() / 4, 1, alone_blocks);
  if (!limits.keep_cache) {
    facts.dropped = true;
    facts.left = blocks.drop();
  }
  facts.first.push_back(blocks.read(0, alone, 1, 0.4 * limits.time));
  if (alone < blocks.size())
    facts.first.push_back(
        blocks.read(alone, blocks.size() - alone, shared_threads, 0.4 * limits.time));
  const auto read = static_cast<std::size_t>(facts.first.front().bytes / block_bytes);
  facts.again = blocks.read(0, std::clamp<std::size_t>(read, 1, alone), 1, 0.2 * limits.time);
  return facts;
}

}  // namespace doctor
