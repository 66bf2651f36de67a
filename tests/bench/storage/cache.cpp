/// feedline_bench_cache: how much epochs download with a cache of a part of the data, on one
/// machine and on several, by feedline's rules and by those of a cache that drops what was used
/// least recently. A simulation: it reads nothing. Prints the method and tables.

#include <feedline/sampler/sampler.hpp>
#include <feedline/sampler/sequential.hpp>

#include "remote/cache/cache_folder.hpp"
#include "sampler/chunk_order.hpp"
#include "support/command_line.hpp"
#include "support/datasets/simulated_reads.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

using namespace feedline;

namespace {

struct setting {
  std::uint64_t rows = 16384;
  std::uint64_t row_kib = 128;
  std::uint64_t block_kib = 4096;
  std::uint64_t window = 64;  ///< blocks that are mixed
  std::uint64_t batch = 256;
  std::uint64_t epochs = 6;

  [[nodiscard]] std::uint64_t bytes() const { return rows * row_kib << 10; }
  [[nodiscard]] std::uint64_t in_block() const { return block_kib / row_kib; }
  [[nodiscard]] std::uint64_t blocks() const { return rows / in_block(); }
  [[nodiscard]] test::simulated_reads reads(const sampler& order, std::uint64_t world = 1) const {
    return {rows, row_kib << 10, block_kib << 10, order, batch / world};
  }
  /// Room of a folder for a part of the blocks.
  [[nodiscard]] detail::download_simulation::room room(double part) const {
    const auto kept = static_cast<std::uint64_t>(part * static_cast<double>(blocks()));
    return {.folder = kept * detail::cache_folder::counted(block_kib << 10)};
  }
};

/// The first epoch, and the last one.
std::string parts(const std::vector<std::uint64_t>& downloads, std::size_t epochs, double whole) {
  char text[48];  // NOLINT(modernize-avoid-c-arrays)
  (void)std::snprintf(text, sizeof text, "%5.0f %% %5.0f %%",
                      100 * static_cast<double>(downloads.front()) / whole,
                      100 * static_cast<double>(downloads.at(epochs - 1)) / whole);
  return text;
}

void one_machine(const setting& of) {
  const std::uint64_t windows = std::max<std::uint64_t>(of.blocks() / of.window, 1);
  const std::vector<std::pair<const char*, sampler>> orders{
      {"full shuffle", detail::chunk_order{1, 1, 1}},
      {"windows of blocks", detail::chunk_order{1, of.in_block(), windows}},
      {"as stored", sequential{}}};
  std::printf(
      "\nOne machine: downloads of the first epoch and of epoch %llu, as parts of the data\n",
      static_cast<unsigned long long>(of.epochs - 1));
  std::printf("%-18s %6s  %-16s %-16s %-16s\n", "order", "cache", "feedline", "LRU of samples",
              "LRU of blocks");
  for (const auto& [name, order] : orders) {
    const auto reads = of.reads(order);
    const detail::download_simulation simulation{reads.tables(of.epochs + 2), of.rows, 0, false};
    for (const double part : {0.25, 0.5, 0.75, 1.0}) {
      const auto room = of.room(part);
      const auto bytes = static_cast<std::uint64_t>(part * static_cast<double>(of.bytes()));
      const auto whole = static_cast<double>(of.bytes());
      const auto text = [&](const std::vector<std::uint64_t>& downloads) {
        return parts(downloads, of.epochs, whole);
      };
      std::printf("%-18s %4.0f %%  %-16s %-16s %-16s\n", name, 100 * part,
                  text(simulation.run(room, {})).c_str(),
                  text(reads.with_lru(bytes, of.row_kib << 10, of.epochs)).c_str(),
                  text(reads.with_lru(bytes, of.block_kib << 10, of.epochs)).c_str());
    }
  }
}

void machines(const setting& of) {
  std::printf(
      "\nSeveral machines, each with a cache of half of the data: downloads of one machine in the\n"
      "first epoch and in epoch %llu, as parts of the whole data\n",
      static_cast<unsigned long long>(of.epochs - 1));
  std::printf("%-18s %8s  %-16s %-16s\n", "order", "machines", "feedline", "LRU of blocks");
  const std::uint64_t lanes = 16;
  const std::uint64_t windows = std::max<std::uint64_t>(of.blocks() / of.window, 1);
  const std::vector<std::pair<const char*, sampler>> orders{
      {"full shuffle", detail::chunk_order{1, 1, 1}},
      {"lanes of blocks", detail::chunk_order{1, of.in_block(), windows, {lanes, of.batch}}}};
  for (const auto& [name, order] : orders)
    for (const std::uint64_t world : {1U, 2U, 4U, 8U, 16U}) {
      const auto reads = of.reads(order, world);
      const detail::download_simulation simulation{of.reads(order).tables(of.epochs + 2), of.rows,
                                                   0, world > 1};
      const auto whole = static_cast<double>(of.bytes());
      const auto own = reads.tables(of.epochs, 0, world);
      std::printf("%-18s %8llu  %-16s %-16s\n", name, static_cast<unsigned long long>(world),
                  parts(simulation.run(of.room(0.5), {}, own), of.epochs, whole).c_str(),
                  parts(reads.with_lru(of.bytes() / 2, of.block_kib << 10, of.epochs, 0, world),
                        of.epochs, whole)
                      .c_str());
    }
}

}  // namespace

int main(int argc, char** argv) {
  setting of;
  test::command_line line{"How much epochs download with a cache: a simulation"};
  line.add_option("--rows", of.rows, "samples").positive();
  line.add_option("--row-kib", of.row_kib, "KiB of a sample").positive();
  line.add_option("--block-kib", of.block_kib, "KiB of a cache's block").positive();
  line.add_option("--window", of.window, "blocks whose samples are mixed").positive();
  line.add_option("--batch", of.batch, "samples of a global batch").positive();
  line.add_option("--epochs", of.epochs, "epochs").positive();
  if (const auto exit_code = line.parse(argc, argv)) return *exit_code;
  std::printf(
      "%llu samples of %llu KiB (%.1f GB), blocks of %llu KiB, windows of %llu blocks, batches of "
      "%llu\nfeedline: the rules of its cache, over the order of the samples. LRU: what was used "
      "least recently goes;\na miss fetches a sample, or a whole block. 100 %% are %.1f GB.\n",
      static_cast<unsigned long long>(of.rows), static_cast<unsigned long long>(of.row_kib),
      static_cast<double>(of.bytes()) / 1e9, static_cast<unsigned long long>(of.block_kib),
      static_cast<unsigned long long>(of.window), static_cast<unsigned long long>(of.batch),
      static_cast<double>(of.bytes()) / 1e9);
  one_machine(of);
  machines(of);
  return 0;
}
