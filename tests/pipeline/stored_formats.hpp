#pragma once

#include <feedline/dataset/dataset.hpp>
#include <feedline/formats/array_files.hpp>
#include <feedline/formats/csv.hpp>
#include <feedline/formats/open.hpp>
#include <feedline/formats/records.hpp>
#include <feedline/formats/tokens.hpp>
#ifdef FEEDLINE_TEST_HDF5
#include <feedline/hdf5/dataset.hpp>
#endif
#include <feedline/loader/loader.hpp>

#include "support/checks/catch.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/numbered_bytes.hpp"
#include "support/files/idx_bytes.hpp"
#include "support/files/npy_bytes.hpp"
#include "support/files/tar_bytes.hpp"
#include "support/files/temporary_directory.hpp"
#ifdef FEEDLINE_TEST_NPZ
#include "support/files/zip_bytes.hpp"
#endif
#ifdef FEEDLINE_TEST_HDF5
#include "support/hdf5/writer.hpp"
#endif

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <set>
#include <span>
#include <string>
#include <vector>

/// Files of every format, for tests of other storage than this machine's disks.

namespace feedline::test {

inline constexpr std::uint64_t samples = 60;
inline constexpr std::uint64_t row_bytes = 300;

/// A format's files in a folder, and how they are opened.
struct stored_format {
  std::string name;
  std::function<std::string(const temporary_directory&)> write;  ///< gives the path or pattern
  std::function<dataset_ptr(const std::string&)> open = [](const std::string& path) {
    return feedline::open(path);
  };
};

inline std::vector<std::byte> npy_rows() {
  return npy_bytes(npy_dictionary("|u1", "(60, 300)"), numbered(samples * row_bytes));
}

inline std::string write_tar(const temporary_directory& folder) {
  tar_bytes shard;
  for (std::uint64_t i = 0; i < samples; ++i)
    shard.add(std::to_string(100 + i) + ".x.npy",
              npy_bytes(npy_dictionary("|u1", "(300,)"), numbered(row_bytes)));
  (void)folder.write("shard-1.tar", shard.ended());
  return folder.path() / "shard-*.tar";
}

/// Rows of numbers as text. @param begin, end Around each.
inline std::string write_rows(const temporary_directory& folder, const std::string& begin,
                              const std::string& end) {
  std::string text;
  for (std::uint64_t i = 0; i < samples; ++i) {
    text += begin;
    for (std::uint64_t k = 0; k < row_bytes; ++k)
      text += (k == 0 ? "" : ",") + std::to_string(i * k % 251);
    text += end + '\n';
  }
  return folder.write("rows.txt", std::as_bytes(std::span{text})).string();
}

inline std::string write_array_files(const temporary_directory& folder) {
  for (std::uint64_t i = 0; i < samples; ++i)
    (void)folder.write(std::to_string(100 + i) + ".npy",
                       npy_bytes(npy_dictionary("|u1", "(300,)"), numbered(row_bytes)));
  return folder.path() / ("{100.." + std::to_string(99 + samples) + "}.npy");
}

#ifdef FEEDLINE_TEST_HDF5
inline std::string write_hdf5(const temporary_directory& folder, const hdf5_layout& layout) {
  hdf5_writer writer{folder.path() / "rows.h5"};
  const auto bytes = numbered(samples * row_bytes);
  writer.write("rows", H5T_STD_U8LE, {samples, row_bytes}, H5T_NATIVE_UINT8, bytes.data(), layout);
  return writer.close();
}

inline dataset_ptr open_not_resident(const std::string& path) {
  return open_hdf5(path, {{"rows"}}, {.max_resident_bytes = 0});
}
#endif

/// Formats whose samples are read from files when they are wanted.
inline std::vector<stored_format> read_later() {
  std::vector<stored_format> formats{
      {"npy", [](const auto& folder) { return folder.write("a.npy", npy_rows()).string(); }},
      {"records",
       [](const auto& folder) {
         (void)folder.write("r-1.bin", numbered(30 * (row_bytes + 4)));
         (void)folder.write("r-2.bin", numbered(30 * (row_bytes + 4)));
         return (folder.path() / "r-{1..2}.bin").string();
       },
       [](const std::string& path) {
         return open_records(
             {path}, {{"label", element_type::u8, {4}}, {"image", element_type::u8, {row_bytes}}});
       }},
      {"cifar",
       [](const auto& folder) {
         auto bytes = numbered(samples * 3073);
         for (std::uint64_t i = 0; i < samples; ++i) bytes[i * 3073] = std::byte(i % 10);
         return folder.write("batch.bin", bytes).string();
       }},
      {"tokens",
       [](const auto& folder) {
         return folder.write("t.bin", numbered(2 * (150 * samples + 1))).string();
       },
       [](const std::string& path) {
         return open_tokens({path}, {.tokens_per_sample = 150, .type = element_type::u16});
       }},
      {"tar", write_tar},
      {"csv", [](const auto& folder) { return write_rows(folder, "", ""); },
       [](const std::string& path) {
         return open_csv({path}, {.merge = {{"x", {"*"}}}});
       }},
      {"array files", write_array_files,
       [](const std::string& path) { return open_array_files({path}); }},
  };
#ifdef FEEDLINE_TEST_JSON
  formats.push_back(
      {"json lines", [](const auto& folder) { return write_rows(folder, "{\"x\": [", "]}"); }});
#endif
#ifdef FEEDLINE_TEST_NPZ
  formats.push_back({"npz", [](const auto& folder) {
                       return folder.write("a.npz", zip_bytes({{"rows.npy", npy_rows()}})).string();
                     }});
#endif
#ifdef FEEDLINE_TEST_HDF5
  formats.push_back({"hdf5, contiguous", [](const auto& folder) { return write_hdf5(folder, {}); },
                     open_not_resident});
  formats.push_back({"hdf5, chunks",
                     [](const auto& folder) {
                       return write_hdf5(folder, chunked("", {5, row_bytes}));
                     },
                     open_not_resident});
#endif
  return formats;
}

/// Formats whose samples are all read when they are opened.
inline std::vector<stored_format> read_at_once() {
  return {
      {"idx",
       [](const auto& folder) {
         return folder.write("a.idx", idx_file_bytes(8, {60, 300}, samples * row_bytes)).string();
       }},
      {"idx, compressed",
       [](const auto& folder) {
         const auto bytes = gzip_bytes(idx_file_bytes(8, {60, 300}, samples * row_bytes));
         return folder.write("a.idx.gz", bytes).string();
       }},
      {"npy, by columns",
       [](const auto& folder) {
         const auto bytes =
             npy_bytes(npy_dictionary("|u1", "(60, 300)", true), numbered(samples * row_bytes));
         return folder.write("a.npy", bytes).string();
       }},
  };
}

/// Each sample's fields: their bytes.
using sample_list = std::vector<std::vector<std::vector<std::byte>>>;

inline sample_list all_samples(const dataset& from) {
  sample_list all;
  for (std::uint64_t i = 0; i < from.size(); ++i) all.push_back(read_sample(from, {i}));
  return all;
}

/// Takes an epoch's batches, and checks each sample. @return The samples that came, each once.
inline std::set<std::uint64_t> take_epoch(loader& from, const std::vector<field>& fields,
                                          const sample_list& expected) {
  std::set<std::uint64_t> came;
  bool right = true;
  for (batch& batch : from.epoch(0)) {
    const auto numbers = batch.samples();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      right = right && came.insert(numbers[i].value).second;
      for (std::size_t at = 0; at < fields.size(); ++at) {
        const auto& bytes = expected[numbers[i].value][at];
        const auto row = batch[fields[at].name].bytes().subspan(i * bytes.size(), bytes.size());
        right = right && std::ranges::equal(row, bytes);
      }
    }
  }
  CHECK(right);
  return came;
}

inline std::set<std::uint64_t> all_but(const std::set<std::uint64_t>& left_out) {
  std::set<std::uint64_t> numbers;
  for (std::uint64_t i = 0; i < samples; ++i)
    if (!left_out.contains(i)) numbers.insert(i);
  return numbers;
}

}  // namespace feedline::test
