/// A training that can be killed: `resume_program CHECKPOINT READERS BATCHES_PER_SLOT`. Before each
/// batch it reads a byte, and writes one when the batch is done, so that its parent knows how far
/// it is. It continues from the checkpoint if there is one. At its end the checkpoint's epoch is 4.

#include <feedline/device/host_device.hpp>
#include <feedline/loader/loader.hpp>
#include <feedline/sampler/shuffle.hpp>

#include "support/datasets/identity_dataset.hpp"

#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>

using namespace feedline;

namespace {

/// Weights that depend on all batches and their order.
using weights = std::array<float, 16>;

void step(weights& of, const batch& by) {
  const auto rows = by["row"].values<std::uint8_t>();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    float& weight = of.at(i % of.size());
    weight = weight * 0.999F + static_cast<float>(rows[i]) / 255.0F;
  }
}

void save(const std::string& path, const loader_state& state, const weights& of) {
  std::ofstream file{path + ".new", std::ios::binary};
  file.write(reinterpret_cast<const char*>(of.data()), sizeof of);
  file << to_json(state);
  file.close();
  if (!file || std::rename((path + ".new").c_str(), path.c_str()) != 0) ::_exit(3);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  const std::string path = argv[1];
  loader loader{test::make_identity_dataset(500, 16),
                shuffle{.seed = 6},
                make_host_device(),
                {.batch_size = 8,
                 .epochs = 4,
                 .readers = std::stoi(argv[2]),
                 .expert = {.batches_per_slot = std::stoull(argv[3])}}};
  weights trained{};
  std::uint64_t epoch = 0;
  if (std::ifstream file{path, std::ios::binary}; file) {
    file.read(reinterpret_cast<char*>(trained.data()), sizeof trained);
    std::string text;
    std::getline(file, text);
    const auto state = loader_state::from_json(text);
    loader.seek(state);
    epoch = state.epoch;
  }
  for (; epoch < 4; ++epoch) {
    for (const batch& batch : loader.epoch(epoch)) {
      char byte = 0;
      if (::read(STDIN_FILENO, &byte, 1) != 1) return 4;
      step(trained, batch);
      if (batch.index() % 3 == 2) save(path, loader.state(), trained);
      if (::write(STDOUT_FILENO, &byte, 1) != 1) return 4;
    }
  }
  save(path, loader.state(), trained);
  return 0;
}
