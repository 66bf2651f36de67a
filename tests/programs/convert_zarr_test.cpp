#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/zarr.hpp>
#include <feedline/hdf5/dataset.hpp>

#include "programs/convert/conversion.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/files/temporary_directory.hpp"

#include <filesystem>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;

namespace {

constexpr auto ignore = [](convert::step, std::uint64_t, std::uint64_t) {};

convert::job job_to(convert::format to, const std::filesystem::path& output) {
  convert::job job{.output = output, .to = to};
  job.layout.level = 1;
  job.source = "a test's\n";
  return job;
}

}  // namespace

TEST_CASE("convert: a Zarr store has the input's chunks, and HDF5 made of it the same samples",
          "[samples][host]") {
  const temporary_directory folder;
  auto job = job_to(convert::format::hdf5, folder.path() / "a.h5");
  job.layout.chunk_rows = 48;
  const auto first = make_identity_dataset(1000, 24);
  const auto sums = convert::run(first, job, ignore).checksums;
  const auto file = open_hdf5(job.output, {{"id"}, {"row"}}, {.max_resident_bytes = 0});
  auto to_zarr = job_to(convert::format::zarr, folder.path() / "a.zarr");
  CHECK(convert::run(file, to_zarr, ignore).checksums == sums);
  const auto store = open_zarr(to_zarr.output, {{"id"}, {"row"}}, {.max_resident_bytes = 0});
  CHECK(store->chunks().samples == 48);
  auto back = job_to(convert::format::hdf5, folder.path() / "b.h5");
  CHECK(convert::run(store, back, ignore).checksums == sums);
  to_zarr.output = folder.path() / "c.zarr";
  to_zarr.layout.chunk_rows = 7;
  CHECK(convert::run(file, to_zarr, ignore).checksums == sums);
  CHECK(open_zarr(to_zarr.output, {{"row"}}, {.max_resident_bytes = 0})->chunks().samples == 7);
}

TEST_CASE("convert: fields that a Zarr store cannot hold are refused", "[samples][host]") {
  const temporary_directory folder;
  const auto refusal = [&](const field& spec, convert::format to) {
    static const std::vector<std::byte> bytes(64);
    const auto from = make_memory_dataset({{spec, std::span{bytes}.first(4 * sample_bytes(spec))}});
    return message_of<usage_error>(
        [&] { (void)convert::run(from, job_to(to, folder.path() / "out"), ignore); });
  };
  CHECK(refusal({"x", element_type::bf16, {}}, convert::format::zarr2).find("take --to zarr") !=
        std::string::npos);
  for (const char* const name :
       {"a//b", "/a", "a/.b", ".x", "zarr\"y", "__x", "zarr.json", "a/zarr.json"})
    CHECK(refusal({name, element_type::u8, {}}, convert::format::zarr).find("rename it") !=
          std::string::npos);
  auto job = job_to(convert::format::zarr, folder.path() / "out");
  job.layout.contiguous = true;
  CHECK(message_of<usage_error>([&] {
          (void)convert::run(make_identity_dataset(4, 1), job, ignore);
        }).find("--contiguous: a Zarr store has chunks") != std::string::npos);
}
