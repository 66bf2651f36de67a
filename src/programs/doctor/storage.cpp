// Reads of the storage itself.

#include "io/local/descriptor.hpp"
#include "io/local/watch.hpp"
#include "programs/doctor/measure.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <thread>

namespace doctor {
namespace {

namespace fs = std::filesystem;
using feedline::detail::descriptor;
using steady = std::chrono::steady_clock;

constexpr std::uint64_t block_bytes = std::uint64_t{1} << 20;
constexpr std::uint64_t max_blocks = 256;
constexpr int shared_threads = 8;
/// Upper limit of the files of a folder that are checked for their share in the page cache.
constexpr std::size_t max_examined = 256;

struct file_size {
  std::string path;
  std::uint64_t bytes = 0;
};

std::vector<file_size> files_in(const std::vector<std::string>& paths) {
  std::vector<file_size> files;
  std::error_code skipped;
  for (const std::string& path : paths) {
    if (!fs::is_directory(path, skipped)) files.push_back({path, fs::file_size(path, skipped)});
    for (fs::recursive_directory_iterator at{path, skipped}, end; !skipped && at != end;
         at.increment(skipped))
      if (at->is_regular_file(skipped))
        files.push_back({at->path().string(), at->file_size(skipped)});
  }
  std::erase_if(files, [](const file_size& each) { return each.bytes + 1 <= 1; });
  return files;
}

/// The blocks of files, to be read at random.
class block_reads {
 public:
  explicit block_reads(const std::vector<file_size>& files) : files_{files} {
    for (const file_size& file : files)
      ends_.push_back(size() + (file.bytes + block_bytes - 1) / block_bytes);
  }

  [[nodiscard]] std::uint64_t size() const { return ends_.empty() ? 0 : ends_.back(); }

  /// Reads this many blocks, or until the time is over; at least one a thread.
  work_rate read(std::uint64_t count, int threads, seconds time) const {
    std::atomic<std::uint64_t> next{0};
    std::atomic<std::uint64_t> bytes{0};
    const steady::time_point begin = steady::now();
    const auto work = [&] {
      const std::unique_ptr<void, decltype(&std::free)> memory{
          std::aligned_alloc(4096, block_bytes), &std::free};
      do {
        const std::uint64_t at = next.fetch_add(1);
        if (at >= count || !memory) break;
        bytes += read_one(std::mt19937_64{at + static_cast<std::uint64_t>(threads)}() % size(),
                          memory.get());
      } while (steady::now() - begin < time);
    };
    {
      std::vector<std::jthread> others;
      for (int i = 1; i < threads; ++i) others.emplace_back(work);
      work();
    }
    return {threads, bytes.load(), steady::now() - begin};
  }

 private:
  /// Past the page cache. @return Bytes; 0 where the file system has no such reads.
  std::uint64_t read_one(std::uint64_t number, void* memory) const {
    const auto found = std::ranges::upper_bound(ends_, number);
    const std::uint64_t first = found == ends_.begin() ? 0 : *std::prev(found);
    const file_size& from = files_[static_cast<std::size_t>(found - ends_.begin())];
    const descriptor file{from.path.c_str(), O_NONBLOCK | O_DIRECT};
    const ssize_t got = file.number() < 0
                            ? 0
                            : ::pread(file.number(), memory, block_bytes,
                                      static_cast<off_t>((number - first) * block_bytes));
    return got < 0 ? 0 : static_cast<std::uint64_t>(got);
  }

  const std::vector<file_size>& files_;
  std::vector<std::uint64_t> ends_;  ///< one past each file's last block, counted over all files
};

/// Share of the files that is in the page cache, estimated from the files checked.
void look_at_cache(const std::vector<file_size>& files, storage_facts& facts) {
  double cached = 0;
  double bytes = 0;
  const std::size_t stride = (files.size() + max_examined - 1) / max_examined;
  for (std::size_t i = 0; i < files.size(); i += stride) {
    const descriptor file{files[i].path.c_str(), O_NONBLOCK};
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

storage_facts examine_storage(const std::vector<std::string>& paths, seconds time) {
  storage_facts facts;
  const std::vector<file_size> files = files_in(paths);
  facts.files = files.size();
  for (const file_size& file : files) facts.bytes += file.bytes;
  facts.not_measured = "there is no regular file with bytes in it";
  if (files.empty()) return facts;
  look_at_cache(files, facts);
  const block_reads blocks{files};
  const std::uint64_t count = std::min(blocks.size(), max_blocks);
  const std::uint64_t alone = std::max<std::uint64_t>(count / 4, 1);
  facts.rates.push_back(blocks.read(alone, 1, time / 2));
  if (alone < count) facts.rates.push_back(blocks.read(count - alone, shared_threads, time / 2));
  facts.not_measured.clear();
  if (facts.rates.front().done != 0) return facts;
  facts.rates.clear();
  facts.not_measured = "its file system has no reads past the page cache (O_DIRECT)";
  return facts;
}

}  // namespace doctor
