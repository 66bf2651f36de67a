// Makes a set of digits to train on without MNIST. This program draws them and writes IDX files
// under MNIST's names, so that programs that read MNIST read them too. See README.md in this
// folder.
//
//   make_digits data/digits
//   make_digits --train 2000 --test 500 --seed 7 /tmp/few_digits
//
// The same arguments give the same bytes on every machine.

#include "digit_painter.hpp"
#include "idx_writer.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

namespace {

struct digit_set {
  std::vector<std::uint8_t> images;
  std::vector<std::uint8_t> labels;
};

/// Each digit has its own random stream, so that threads can share the work and a longer set begins
/// with the shorter one.
digit_set draw(std::uint64_t seed, std::uint64_t first_sequence, std::size_t count) {
  digit_set set{std::vector<std::uint8_t>(count * digits::side * digits::side),
                std::vector<std::uint8_t>(count)};
  const std::size_t workers = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::jthread> threads;
  for (std::size_t worker = 0; worker < workers; ++worker)
    threads.emplace_back([&set, seed, first_sequence, count, worker, workers] {
      for (std::size_t i = worker; i < count; i += workers) {
        digits::random_stream random{seed, first_sequence + i};
        const int digit = random.below(10);
        const digits::picture image = digits::paint_digit(digit, random);
        std::ranges::copy(image, set.images.data() + i * image.size());
        set.labels[i] = static_cast<std::uint8_t>(digit);
      }
    });
  threads.clear();  // joins
  return set;
}

void write(const digit_set& set, const std::filesystem::path& folder, const std::string& prefix) {
  const auto count = static_cast<std::uint32_t>(set.labels.size());
  digits::write_idx(folder / (prefix + "-images-idx3-ubyte"), {count, digits::side, digits::side},
                    set.images);
  digits::write_idx(folder / (prefix + "-labels-idx1-ubyte"), {count}, set.labels);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Draws digits and writes them as MNIST's four IDX files. These are not MNIST."};
  app.option_defaults()->always_capture_default();
  std::filesystem::path folder;
  std::uint64_t seed = 1;
  std::uint32_t train = 60000;
  std::uint32_t test = 10000;
  app.add_option("folder", folder, "Where the files go; made if it is not there")
      ->required()
      ->type_name("DIR");
  app.add_option("--train", train, "Digits to train on")->check(CLI::PositiveNumber);
  app.add_option("--test", test, "Digits to test with")->check(CLI::PositiveNumber);
  app.add_option("--seed", seed, "Another seed, other digits");
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }

  try {
    constexpr std::uint64_t test_sequences = 1ULL << 40;  // no digit is in both sets
    std::filesystem::create_directories(folder);
    write(draw(seed, 0, train), folder, "train");
    write(draw(seed, test_sequences, test), folder, "t10k");
    std::cout << "made " << train << " digits to train on and " << test << " to test with in "
              << folder.string() << " (seed " << seed << ")\n";
  } catch (const std::exception& error) {
    std::cerr << "make_digits: " << error.what() << '\n';
    return 1;
  }
  return 0;
}
