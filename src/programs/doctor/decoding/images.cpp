#include "programs/doctor/decoding/images.hpp"

#include <feedline/dataset/encoded_blocks.hpp>
#include <feedline/error.hpp>

#include <algorithm>

namespace doctor {
namespace {

/// Most images of a field that are looked at.
constexpr std::uint64_t max_looks = 128;

bool decodes_images(const feedline::encoded_blocks& blocks, std::size_t field) {
  const auto steps = blocks.steps(field);
  return !steps.empty() && steps.front().filter == feedline::block_filter::image;
}

image_decoding sampled(const feedline::encoded_blocks& blocks, std::size_t field,
                       std::uint64_t samples) {
  image_decoding seen;
  const std::uint64_t looks = std::min(samples, max_looks);
  for (std::uint64_t i = 0; i < looks; ++i) try {
      const std::string kind = blocks.left_to_readers(field, i * samples / looks);
      ++seen.looked_at;
      if (!kind.empty()) ++seen.by_readers[kind];
    } catch (const feedline::dataset_error&) {  // NOLINT(bugprone-empty-catch): the loops meet it
    }
  return seen;
}

}  // namespace

std::vector<image_decoding> look_at_images(const feedline::dataset& samples) {
  std::vector<image_decoding> all;
  const auto blocks = samples.encoded();
  if (!blocks) return all;
  const auto fields = samples.fields();
  for (std::size_t field = 0; field < fields.size(); ++field) {
    if (!decodes_images(*blocks, field)) continue;
    all.push_back(sampled(*blocks, field, samples.size()));
    all.back().field = fields[field].name;
  }
  return all;
}

std::string kinds_text(const image_decoding& seen) {
  std::string text;
  for (const auto& [kind, count] : seen.by_readers)
    text += (text.empty() ? "" : ", ") + kind + ": " + std::to_string(count);
  return text;
}

}  // namespace doctor
