#include <feedline/dataset/memory_dataset.hpp>
#include <feedline/error.hpp>
#include <feedline/formats/npy.hpp>
#include <feedline/formats/records.hpp>
#include <feedline/formats/zarr.hpp>
#include <feedline/hdf5/dataset.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "programs/convert/conversion.hpp"
#include "programs/convert/output/compress.hpp"
#include "programs/convert/work/work_folder.hpp"
#include "support/checks/catch.hpp"
#include "support/checks/message_of.hpp"
#include "support/datasets/dataset_contract.hpp"
#include "support/datasets/failing_dataset.hpp"
#include "support/datasets/identity_dataset.hpp"
#include "support/files/temporary_directory.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <fstream>
#include <functional>
#include <iterator>
#include <numeric>
#include <random>
#include <string>
#include <vector>

using namespace feedline;
using namespace feedline::test;
namespace fs = std::filesystem;

namespace {

constexpr auto ignore = [](convert::step, std::uint64_t, std::uint64_t) {};

/// Samples of 1 KiB, so that a conversion takes many batches and checkpoints.
constexpr std::uint64_t many = 20'000;
dataset_ptr large() {
  return make_identity_dataset(many, 1016);
}

convert::job job_to(convert::format to, const fs::path& output) {
  convert::job job{.output = output, .to = to};
  job.layout.level = 1;
  job.checkpoint_bytes = 1;  // after each batch
  job.source = "a test's\n";
  return job;
}

dataset_ptr open_output(const convert::job& job, const std::vector<field>& fields) {
  if (job.to == convert::format::hdf5) {
    std::vector<hdf5_field> names;
    for (const field& field : fields) names.push_back({field.name, field.name});
    return open_hdf5(job.output, names);
  }
  if (job.to == convert::format::npy) {
    std::vector<npy_field> files;
    for (const field& field : fields)
      files.push_back({job.output / (field.name + ".npy"), field.name});
    return open_npy(files);
  }
  if (job.to == convert::format::zarr || job.to == convert::format::zarr2) {
    std::vector<zarr_field> arrays;
    for (const field& field : fields) arrays.push_back({field.name, field.name});
    return open_zarr(job.output, arrays);
  }
  std::vector<record_field> layout;
  for (const field& field : fields) layout.push_back({field.name, field.type, field.shape});
  return open_records({job.output}, layout);
}

std::vector<std::vector<std::byte>> all_of(const dataset& from) {
  std::vector<sample_index> samples(from.size());
  for (std::uint64_t i = 0; i < samples.size(); ++i) samples[i] = {i};
  return read_samples(from, samples);
}

/// Adds 1 to a byte of a file; counted from its end if negative.
void damage(const fs::path& path, std::int64_t at) {
  std::fstream file{path, std::ios::in | std::ios::out | std::ios::binary};
  const auto place = at < 0 ? static_cast<std::int64_t>(fs::file_size(path)) + at : at;
  file.seekg(place);
  const auto byte = static_cast<char>(file.get() + 1);
  file.seekp(place);
  file.put(byte);
}

const auto every_format =
    std::vector{convert::format::hdf5, convert::format::npy, convert::format::zarr,
                convert::format::zarr2, convert::format::records};

fs::path unfinished(const convert::job& job) {
  return job.work() / "unfinished";
}

fs::path journal_of(const convert::job& job) {
  return job.work() / "journal";
}

/// The file that holds most of an unfinished output.
fs::path data_of(const convert::job& job) {
  if (job.to == convert::format::zarr) return unfinished(job) / "row/c/0/0";
  if (job.to == convert::format::zarr2) return unfinished(job) / "row/0.0";
  return job.to == convert::format::npy ? unfinished(job) / "row.npy" : unfinished(job);
}

/// Damages it at this byte, or in the middle of a chunk's file.
void damage_data(const convert::job& job, std::int64_t at) {
  const bool is_zarr = job.to == convert::format::zarr || job.to == convert::format::zarr2;
  damage(data_of(job), is_zarr ? static_cast<std::int64_t>(fs::file_size(data_of(job)) / 2) : at);
}

}  // namespace

TEST_CASE("convert: every type comes back byte for byte from every format and layout",
          "[samples][host]") {
  const temporary_directory folder;
  std::vector<memory_field> columns;
  std::vector<std::uint8_t> bytes(1000 * 6 * 8);
  std::iota(bytes.begin(), bytes.end(), std::uint8_t{0});
  const auto type = GENERATE(
      element_type::u8, element_type::i8, element_type::u16, element_type::i16, element_type::u32,
      element_type::i32, element_type::u64, element_type::i64, element_type::f16,
      element_type::bf16, element_type::f32, element_type::f64, element_type::boolean);
  if (type == element_type::boolean)
    for (auto& byte : bytes) byte &= 1;
  columns.push_back(
      {{"x", type, {2, 3}}, std::as_bytes(std::span{bytes}).first(1000 * 6 * size_bytes(type))});
  columns.push_back(own("y", std::vector<std::uint8_t>(1000, 7)));
  const auto from = make_memory_dataset(columns);
  const auto expected = all_of(*from);

  std::vector<convert::job> jobs;
  for (const auto to : every_format) {
    const bool has_bf16 = to != convert::format::npy && to != convert::format::zarr2;
    if (!has_bf16 && type == element_type::bf16) continue;
    jobs.push_back(job_to(to, folder.path() / "out"));
  }
  for (const auto to : {convert::format::zarr, convert::format::zarr2})
    for (const auto filter : {convert::compression::none, convert::compression::lz4,
                              convert::compression::zstd, convert::compression::deflate}) {
      if (to == convert::format::zarr2 && type == element_type::bf16) continue;
      if (!convert::can_compress(filter)) continue;
      jobs.push_back(job_to(to, folder.path() / "out"));
      jobs.back().layout.chunk_rows = 300;
      jobs.back().layout.filter = filter;
    }
  jobs.push_back(jobs.front());
  jobs.back().layout.contiguous = true;
  jobs.push_back(jobs.front());
  jobs.back().layout.chunk_rows = 7;
  jobs.push_back(jobs.back());
  jobs.back().layout.filter = convert::compression::none;
  for (const auto filter : {convert::compression::lz4, convert::compression::zstd}) {
    if (!convert::can_compress(filter)) continue;
    jobs.push_back(jobs.front());
    jobs.back().layout.chunk_rows = 300;
    jobs.back().layout.filter = filter;
  }
  std::vector<std::uint32_t> checksums;
  for (convert::job& job : jobs) {
    job.force = true;  // replaces the last one's
    const auto done = convert::run(from, job, ignore);
    CHECK(done.samples == 1000);
    if (checksums.empty()) checksums = done.checksums;
    CHECK(done.checksums == checksums);
    const auto back = open_output(job, from->fields());
    CHECK(back->fields() == from->fields());
    CHECK(all_of(*back) == expected);
    CHECK_FALSE(fs::exists(job.work()));
  }
}

TEST_CASE("convert: chunks that do not compress are stored as they are, and read back",
          "[samples][host]") {
  const temporary_directory folder;
  std::vector<std::uint32_t> noise(30'000);
  std::mt19937 random{1};
  std::generate(noise.begin(), noise.end(), std::ref(random));
  std::fill(noise.begin() + 10'000, noise.begin() + 20'000, 7U);  // some that do
  const bool wide = GENERATE(false, true);
  const auto bytes = std::as_bytes(std::span{noise});
  const field spec{"x", wide ? element_type::u32 : element_type::u8, {wide ? 30U : 120U}};
  const auto from = make_memory_dataset({{spec, bytes}});
  auto job = job_to(convert::format::hdf5, folder.path() / "out");
  job.layout.chunk_rows = 64;  // the last has 40
  job.layout.filter = GENERATE(convert::compression::deflate, convert::compression::lz4,
                               convert::compression::zstd);
  if (!convert::can_compress(job.layout.filter)) return;
  (void)convert::run(from, job, ignore);
  CHECK(all_of(*open_output(job, from->fields())) == all_of(*from));
  CHECK(fs::file_size(job.output) < 100'000);
}

TEST_CASE("convert: from format to format the checksums stay, and are CRC-32", "[samples][host]") {
  const temporary_directory folder;
  const std::vector<std::uint8_t> digits{'1', '2', '3', '4', '5', '6', '7', '8', '9'};
  const auto first = make_memory_dataset({own("digit", digits)});
  auto job = job_to(convert::format::hdf5, folder.path() / "a.h5");
  dataset_ptr from = first;
  for (const auto to : {convert::format::hdf5, convert::format::npy, convert::format::records,
                        convert::format::hdf5}) {
    job = job_to(to, folder.path() / ("step" + std::to_string(static_cast<int>(job.to) * 4 +
                                                              static_cast<int>(to))));
    const auto done = convert::run(from, job, ignore);
    CHECK(done.checksums == std::vector<std::uint32_t>{0xCBF43926});  // the check value of CRC-32
    from = open_output(job, first->fields());
  }
}

TEST_CASE("convert: shuffled, the samples stand in the order of shuffle's epoch 0",
          "[samples][host]") {
  const temporary_directory folder;
  const auto from = make_identity_dataset(1000, 8);
  auto job = job_to(convert::format::records, folder.path() / "out");
  job.shuffle = 5;
  (void)convert::run(from, job, ignore);
  std::vector<sample_index> order(1000);
  shuffle{.seed = 5}.indices(1000, 0, position{0}, order);
  CHECK(all_of(*open_output(job, from->fields())) == read_samples(*from, order));
}

TEST_CASE("convert: a conversion that an error cut short continues from its last checkpoint",
          "[samples][host]") {
  const temporary_directory folder;
  const auto to = GENERATE(from_range(every_format));
  auto job = job_to(to, folder.path() / "out");
  if (GENERATE(false, true)) job.shuffle = 9;
  const auto whole = large();
  std::vector<sample_index> bad(1, sample_index{15'000});
  if (job.shuffle) shuffle{.seed = 9}.indices(many, 0, position{15'000}, bad);

  std::uint64_t written = 0;
  const auto note = [&](convert::step now, std::uint64_t done, std::uint64_t) {
    if (now == convert::step::writing) written = done;
  };
  CHECK(message_of<stage_error>([&] {
          (void)convert::run(make_damaged(whole, bad.front()), job, note);
        }).find("checksum mismatch") != std::string::npos);
  CHECK(written > 0);
  CHECK_FALSE(fs::exists(job.output));

  std::uint64_t checked = 0;
  std::uint64_t least_written = many;
  const auto done =
      convert::run(whole, job, [&](convert::step now, std::uint64_t samples, std::uint64_t) {
        if (now == convert::step::checking) checked = samples;
        if (now == convert::step::writing) least_written = std::min(least_written, samples);
      });
  CHECK(done.resumed_from == written);
  CHECK(checked == written);
  CHECK(least_written > written);

  job.output = folder.path() / "at once";
  CHECK(convert::run(whole, job, ignore).checksums == done.checksums);
}

TEST_CASE("convert: a conversion that a signal killed continues from its last checkpoint",
          "[samples][host]") {
  const temporary_directory folder;
  const auto to = GENERATE(from_range(every_format));
  const auto job = job_to(to, folder.path() / "out");
  const pid_t child = ::fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    try {
      (void)convert::run(large(), job, [](convert::step, std::uint64_t done, std::uint64_t) {
        if (done > many / 2) (void)::raise(SIGKILL);
      });
    } catch (...) {
    }
    ::_exit(0);
  }
  int status = 0;
  REQUIRE(::waitpid(child, &status, 0) == child);
  REQUIRE(WIFSIGNALED(status));
  CHECK_FALSE(fs::exists(job.output));

  const auto done = convert::run(large(), job, ignore);
  CHECK(done.resumed_from > many / 2);
  CHECK(all_of(*open_output(job, large()->fields())) == all_of(*large()));
}

TEST_CASE("convert: an unfinished output that was damaged is begun again", "[samples][host]") {
  const temporary_directory folder;
  const auto to = GENERATE(from_range(every_format));
  const auto job = job_to(to, folder.path() / "out");
  CHECK_THROWS_AS(convert::run(make_damaged(large(), sample_index{19'000}), job, ignore),
                  stage_error);
  SECTION("in its data") {
    damage_data(job, 2'000'000);
  }
  SECTION("in its journal") {
    damage(journal_of(job), 3);
  }
  SECTION("or cut") {
    fs::resize_file(data_of(job), 5000);
  }
  const auto done = convert::run(large(), job, ignore);
  CHECK(done.resumed_from == 0);
  CHECK(all_of(*open_output(job, large()->fields())) == all_of(*large()));
}

TEST_CASE("convert: an output that reads back differently is not renamed to its final name",
          "[samples][host]") {
  const temporary_directory folder;
  const auto to = GENERATE(from_range(every_format));
  auto job = job_to(to, folder.path() / "out");
  job.layout.filter = convert::compression::none;  // else deflate's own checksum speaks first
  folder.write("out", std::vector<std::byte>(3));  // something to be replaced
  job.force = true;
  const auto words = message_of<std::runtime_error>([&] {
    (void)convert::run(large(), job, [&](convert::step now, std::uint64_t done, std::uint64_t) {
      if (now == convert::step::writing && done == many) damage_data(job, 5'000'000);
    });
  });
  CHECK(words.find("out.part/unfinished: field '") != std::string::npos);
  CHECK(words.find("' reads back with checksum 0x") != std::string::npos);
  CHECK(fs::file_size(job.output) == 3);

  // Found again when it is tried again, and repaired.
  CHECK(convert::run(large(), job, ignore).resumed_from == 0);
  CHECK(all_of(*open_output(job, large()->fields())) == all_of(*large()));
}

TEST_CASE("convert: another conversion's unfinished output is not continued, but can be discarded",
          "[samples][host]") {
  const temporary_directory folder;
  auto job = job_to(convert::format::records, folder.path() / "out");
  const auto damaged = make_damaged(large(), sample_index{19'000});
  CHECK_THROWS_AS(convert::run(damaged, job, ignore), stage_error);
  job.shuffle = 1;
  CHECK(message_of<usage_error>([&] { (void)convert::run(large(), job, ignore); }) ==
        unfinished(job).string() +
            ": was left unfinished by another conversion, of\na test's\nfield id: uint64[]\nfield "
            "row: "
            "uint8[1016]\nof 20000 samples, in order\nto records\nnot of\na test's\nfield id: "
            "uint64[]\nfield row: uint8[1016]\nof 20000 samples, shuffled with seed 1 within 0 "
            "chunks\nto records\n--restart discards it");
  job.restart = true;
  CHECK(convert::run(large(), job, ignore).resumed_from == 0);
}

TEST_CASE("convert: fields that a format cannot hold are refused before anything is written",
          "[samples][host]") {
  const temporary_directory folder;
  const auto refusal = [&](const field& spec) {
    const std::vector<std::byte> bytes(sample_bytes(spec));
    return message_of<usage_error>([&] {
      (void)convert::run(make_memory_dataset({{spec, bytes}}),
                         job_to(convert::format::npy, folder.path() / "out"), ignore);
    });
  };
  CHECK(refusal({"x", element_type::bf16, {2}}) ==
        "field x: bfloat16[2] cannot be written as .npy: NumPy has no such type; take --to hdf5 or "
        "--to records");
  CHECK(refusal({"../x", element_type::u8, {}}) ==
        "field '../x' cannot name a .npy file: rename it with NAME=PATH");
  CHECK(fs::is_empty(folder.path()));
}

TEST_CASE("convert: a journal reads back as it was written, and half a journal is refused",
          "[samples][host]") {
  const temporary_directory folder;
  const auto path = folder.path() / "state";
  CHECK_FALSE(convert::journal::read(path));
  const convert::journal written{"a\nb\n", 12, {0, 0xffffffff, 7}};
  written.write(path);
  const auto read = convert::journal::read(path);
  REQUIRE(read);
  CHECK(read->identity == written.identity);
  CHECK(read->samples == written.samples);
  CHECK(read->checksums == written.checksums);
  for (auto bytes = fs::file_size(path) - 2; bytes != 0; bytes /= 2) {
    fs::resize_file(path, bytes);
    CHECK_FALSE(convert::journal::read(path));
  }
}
