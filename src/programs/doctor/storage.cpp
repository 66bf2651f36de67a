#include "programs/doctor/storage.hpp"

#include "io/descriptor.hpp"
#include "io/file_watch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <set>
#include <thread>

namespace doctor {
namespace {

namespace fs = std::filesystem;
using feedline::detail::descriptor;
using steady = std::chrono::steady_clock;

constexpr std::uint64_t block_bytes = std::uint64_t{1} << 20;
constexpr std::size_t max_alone = 64;  ///< blocks that one thread reads
constexpr std::size_t max_blocks = 256;
constexpr int shared_threads = 8;
/// Of a folder of a million files, so many are looked at for what is in the page cache.
constexpr std::size_t max_examined = 256;

struct file_size {
  std::string path;
  std::uint64_t bytes = 0;
};

struct block {
  std::string path;
  std::uint64_t offset = 0;
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

/// Different blocks in a random order; the same for the same files.
std::vector<block> choose_blocks(const std::vector<file_size>& files) {
  const auto blocks_of = [](const file_size& file) {
    return (file.bytes + block_bytes - 1) / block_bytes;
  };
  std::uint64_t all = 0;
  for (const file_size& file : files) all += blocks_of(file);
  std::mt19937_64 random{42};
  std::set<std::uint64_t> numbers;  // counted over all files
  while (numbers.size() < std::min<std::uint64_t>(all, max_blocks)) numbers.insert(random() % all);
  std::vector<block> chosen;
  std::uint64_t first = 0;
  auto file = files.begin();
  for (const std::uint64_t number : numbers) {
    for (; number >= first + blocks_of(*file); ++file) first += blocks_of(*file);
    chosen.push_back({file->path, (number - first) * block_bytes});
  }
  std::ranges::shuffle(chosen, random);
  return chosen;
}

/// Past the page cache. @return Bytes that were read; 0 where the file system has no such reads.
std::uint64_t read_block(const block& each, std::byte* memory) {
  const descriptor file{each.path.c_str(), O_NONBLOCK | O_DIRECT};
  const ssize_t got = file.number() < 0 ? 0
                                        : ::pread(file.number(), memory, block_bytes,
                                                  static_cast<off_t>(each.offset));
  return got < 0 ? 0 : static_cast<std::uint64_t>(got);
}

/// Reads blocks in order, until all are read or the time is over; at least one a thread.
work_rate read(std::span<const block> blocks, int threads, seconds time) {
  std::atomic<std::size_t> next{0};
  std::atomic<std::uint64_t> bytes{0};
  const steady::time_point begin = steady::now();
  const auto work = [&] {
    const std::unique_ptr<void, decltype(&std::free)> memory{std::aligned_alloc(4096, block_bytes),
                                                             &std::free};
    do {
      const std::size_t at = next.fetch_add(1);
      if (at >= blocks.size() || !memory) break;
      bytes += read_block(blocks[at], static_cast<std::byte*>(memory.get()));
    } while (steady::now() - begin < time);
  };
  {
    std::vector<std::jthread> others;
    for (int i = 1; i < threads; ++i) others.emplace_back(work);
    work();
  }
  return {threads, bytes.load(), steady::now() - begin};
}

/// What share of the files is in the page cache, by those that are looked at.
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
  const std::vector<block> blocks = choose_blocks(files);
  const std::size_t alone = std::clamp<std::size_t>(blocks.size() / 4, 1, max_alone);
  const std::span all{blocks};
  facts.rates.push_back(read(all.first(alone), 1, time / 2));
  if (alone < all.size()) facts.rates.push_back(read(all.subspan(alone), shared_threads, time / 2));
  facts.not_measured.clear();
  if (facts.rates.front().done != 0) return facts;
  facts.rates.clear();
  facts.not_measured = "its file system has no reads past the page cache (O_DIRECT)";
  return facts;
}

}  // namespace doctor
