#include <feedline/arrays/csr.hpp>
#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/dataset/zip.hpp>
#include <feedline/formats/zarr.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/arrays/cases.hpp"
#include "bench/arrays/noise.hpp"
#include "bench/arrays/zarr_writer.hpp"

#include <algorithm>
#include <bit>
#include <random>

namespace feedline::bench {
namespace {

constexpr std::uint32_t genes = 30'000;
constexpr std::uint32_t mean_gap = 20;  ///< between columns with a value
constexpr std::uint64_t block_cells = 500;
constexpr std::uint64_t drawn_blocks = 200;
constexpr std::uint64_t chunk_values = std::uint64_t{1} << 18U;
constexpr std::uint64_t window_chunks_of_cells = 128;  ///< chunks
constexpr std::uint64_t batch_cells = 1024;

/// A sparse matrix by rows.
struct drawn_matrix {
  std::vector<float> data;
  std::vector<std::int32_t> indices;
  std::vector<std::int64_t> indptr{0};
};

/// Counts of molecules: most are 1, and genes differ in how often they have one.
drawn_matrix draw_block(std::uint64_t block) {
  drawn_matrix drawn;
  std::mt19937_64 random{block};
  for (std::uint64_t cell = 0; cell < block_cells; ++cell) {
    for (std::uint32_t gene = static_cast<std::uint32_t>(random() % mean_gap); gene < genes;) {
      const std::uint64_t bits = random();
      drawn.indices.push_back(static_cast<std::int32_t>(gene));
      drawn.data.push_back(1 + static_cast<float>(std::countl_zero(bits | 1U) / 2));
      gene += 1 + static_cast<std::uint32_t>(bits % (2 * mean_gap - 1));
    }
    drawn.indptr.push_back(static_cast<std::int64_t>(drawn.data.size()));
  }
  return drawn;
}

drawn_matrix draw_cells(std::uint64_t cells) {
  std::vector<drawn_matrix> blocks(drawn_blocks);
  on_all_cores(blocks.size(), [&](std::size_t at) { blocks[at] = draw_block(at); });
  drawn_matrix all;
  const std::uint64_t values = blocks.front().data.size() * (cells / block_cells) / 50 * 51;
  all.data.reserve(values + chunk_values);
  all.indices.reserve(values + chunk_values);
  for (std::uint64_t at = 0; at < cells / block_cells; ++at) {
    const drawn_matrix& block = blocks[at % drawn_blocks];
    const auto before = static_cast<std::int64_t>(all.data.size());
    all.data.insert(all.data.end(), block.data.begin(), block.data.end());
    all.indices.insert(all.indices.end(), block.indices.begin(), block.indices.end());
    for (std::size_t i = 1; i < block.indptr.size(); ++i)
      all.indptr.push_back(before + block.indptr[i]);
  }
  return all;
}

template <class Value>
zarr_bytes write_values(const std::filesystem::path& store, const std::string& path,
                        const std::string& type, std::vector<Value> values) {
  const zarr_encoding as = zarr_encodings(sizeof(Value)).front();
  const std::uint64_t count = values.size();
  const std::uint64_t chunk = std::min(chunk_values, count);
  values.resize((count + chunk - 1) / chunk * chunk);
  std::vector<std::vector<std::byte>> encoded(values.size() / chunk);
  on_all_cores(encoded.size(), [&](std::size_t at) {
    encoded[at] = as.encode(std::as_bytes(std::span{values}.subspan(at * chunk, chunk)));
  });
  return write_zarr(store,
                    {.path = path,
                     .type = type,
                     .shape = {count},
                     .chunk = {chunk},
                     .dimensions = {path.substr(path.find('/') + 1)}},
                    as, encoded);
}

}  // namespace

void measure_cells(const array_run& run) {
  const auto store = run.options.folder / "cells.zarr";
  {
    drawn_matrix drawn = draw_cells(run.options.cells);
    write_zarr_group(store);
    write_zarr_group(store / "X");
    (void)write_values(store, "X/data", "float32", std::move(drawn.data));
    (void)write_values(store, "X/indices", "int32", std::move(drawn.indices));
    (void)write_values(store, "X/indptr", "int64", std::move(drawn.indptr));
  }
  const auto arrays =
      open_zarr_arrays(store.string(), {"X/data", "X/indices", "X/indptr"},
                       {.max_host_cache_bytes =
                            3 * window_chunks_of_cells * 2 * (chunk_values * sizeof(float) + 512)});
  const dataset_ptr rows = make_csr_dataset("X", {arrays[0], arrays[1], arrays[2], genes});
  array_feed feed{.data = "cells",
                  .samples = rows,
                  .order = shuffle{.seed = 1, .within = feedline::chunks(window_chunks_of_cells)},
                  .loading = {.batch_size = batch_cells},
                  .ratio = 1,
                  .chunks = 2 * (arrays[0]->spec().shape[0] + chunk_values - 1) / chunk_values};
  measure_feed(run, feed);
  feed.data = "cells, labels";
  feed.samples =
      zip({rows, make_memory_dataset({own("label", std::vector<std::int32_t>(rows->size(), 3))})});
  measure_feed(run, feed);
  drop_store(run.options, store);
}

}  // namespace feedline::bench
