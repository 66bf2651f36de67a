/// Records of JSON lines and CSV files a second, through a loader on the host device whose consumer
/// does nothing.
///
///     feedline_bench_text_tables --make FOLDER        # records.jsonl and records.csv, no more
///     feedline_bench_text_tables --folder FOLDER --readers 1,4,16 --form json,csv
///     python3 tests/bench/text_tables_peer.py FOLDER  # the loop of Hugging Face's datasets
///
/// Method: a record has a number, a class, 16 features with 7 digits and a text of some 200
/// characters; files are in the page cache after the first pass, which is not counted. Batches are
/// shuffled, and have all fields; the text is padded to 256. Passes follow one another for the time
/// asked; the median of the runs. "a core" is records by CPU seconds of all threads. "MB/s" are of
/// stored bytes.

#include <feedline/device/host_device.hpp>
#include <feedline/formats/csv.hpp>
#include <feedline/formats/json_lines.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "bench/processor.hpp"
#include "bench/support/delivered.hpp"
#include "bench/support/program.hpp"
#include "support/command_line.hpp"
#include "support/files/temporary_directory.hpp"

#include <spdlog/spdlog.h>

#include <array>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

using namespace feedline;
using namespace feedline::bench;

namespace {

constexpr std::size_t features = 16;
constexpr std::uint64_t text_bytes = 256;

struct options : common_options {
  std::string make;
  std::string folder;
  std::uint64_t records = 200'000;
  std::vector<std::string> forms{"json", "csv"};
  std::vector<int> readers{1, 4};
  std::uint64_t batch_size = 256;
};

/// Writes both files.
void write_records(const std::filesystem::path& folder, std::uint64_t records) {
  std::ofstream json{folder / "records.jsonl"};
  std::ofstream csv{folder / "records.csv"};
  constexpr std::array words{"feed", "ring", "slot", "copy", "stream", "device", "reader", "batch"};
  std::mt19937_64 random{1};
  csv << "id,label";
  for (std::size_t i = 0; i < features; ++i) csv << ",f" << i;
  csv << ",text\n";
  for (std::uint64_t id = 0; id < records; ++id) {
    const std::uint64_t label = random() % 1000;
    json << R"({"id": )" << id << R"(, "label": )" << label << R"(, "features": [)";
    csv << id << ',' << label;
    for (std::size_t i = 0; i < features; ++i) {
      std::array<char, 32> number{};
      (void)std::snprintf(number.data(), number.size(), "%.7f",
                          static_cast<double>(random() >> 11U) / 9007199254740992.0);
      json << (i == 0 ? "" : ", ") << number.data();
      csv << ',' << number.data();
    }
    std::string text;
    const std::size_t length = 150 + random() % 100;
    while (text.size() < length) {
      text += words[random() % words.size()];
      text += ' ';
    }
    json << R"(], "text": ")" << text << "\"}\n";
    csv << ',' << text << '\n';
  }
  if (!json.flush() || !csv.flush())
    throw std::runtime_error{"cannot write records in " + folder.string()};
}

dataset_ptr open_form(const std::string& form, const std::filesystem::path& folder) {
  const std::map<std::string, pad_options> pad{{"text", {.length = text_bytes}}};
  if (form == "json") return open_json_lines({(folder / "records.jsonl").string()}, {.pad = pad});
  csv_options how;
  how.table.pad = pad;
  for (std::size_t i = 0; i < features; ++i)
    how.merge["features"].push_back("f" + std::to_string(i));
  return open_csv({(folder / "records.csv").string()}, how);
}

void measure(const dataset_ptr& records, const std::string& form, int readers, double mean_bytes,
             const options& how) {
  loader from{records,
              shuffle{.seed = 1},
              make_host_device(),
              {.batch_size = how.batch_size, .epochs = UINT64_MAX, .readers = readers}};
  std::uint64_t pass = 0;
  const auto run_for = [&](double seconds) {
    const meter clock;
    std::uint64_t batches = 0;
    do {
      for (auto range = from.epoch(pass++); range.next();) ++batches;
    } while (clock.seconds() < seconds);
    return clock.stop(batches, batches);
  };
  (void)run_for(0);
  const spread runs = repeat(how.runs, [&] { return run_for(how.seconds); });
  const auto records_of = [&](const delivered& run) {
    return static_cast<double>(run.batches * how.batch_size);
  };
  const delivered& median = runs.median();
  const double rate = records_of(median) / median.seconds;
  std::printf("%-5s %8d %12.0f [%8.0f, %8.0f] %12.0f %10.2f %8.0f\n", form.c_str(), readers, rate,
              records_of(runs.least()) / runs.least().seconds,
              records_of(runs.most()) / runs.most().seconds,
              records_of(median) / median.cpu_seconds, median.busy_cores(),
              rate * mean_bytes / 1e6);
  std::fflush(stdout);
}

void run(const options& how) {
  if (!how.make.empty()) {
    std::filesystem::create_directories(how.make);
    return write_records(how.make, how.records);
  }
  std::optional<test::temporary_directory> own;
  std::filesystem::path folder = how.folder;
  if (how.folder.empty()) {
    folder = own.emplace().path();
    write_records(folder, how.records);
  }
  std::printf("%s, %u hardware threads; batches of %ju, shuffled, host device\n",
              processor().c_str(), std::thread::hardware_concurrency(),
              std::uintmax_t{how.batch_size});
  std::printf("%-5s %8s %12s %20s %12s %10s %8s\n", "form", "readers", "records/s", "", "a core",
              "busy cores", "MB/s");
  for (const std::string& form : how.forms) {
    const dataset_ptr records = open_form(form, folder);
    const auto file = folder / (form == "json" ? "records.jsonl" : "records.csv");
    const double mean_bytes = static_cast<double>(std::filesystem::file_size(file)) /
                              static_cast<double>(records->size());
    for (const int readers : how.readers) measure(records, form, readers, mean_bytes, how);
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  test::command_line line{"Records of JSON lines and CSV files a second"};
  options how;
  add_run_options(line, how);
  line.add_option("--make", how.make, "write the files into this folder, and end");
  line.add_option("--folder", how.folder, "files that --make wrote; without it: files of its own");
  line.add_option("--records", how.records, "of files that are written").positive();
  line.add_option("--form", how.forms, "some of json, csv").one_of({"json", "csv"});
  line.add_option("--readers", how.readers, "numbers of readers to try");
  line.add_option("--batch-size", how.batch_size, "records").positive();
  spdlog::set_level(spdlog::level::warn);
  return run_program(
      line, argc, argv, [] { return true; }, [&] { run(how); });
}
