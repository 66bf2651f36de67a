#include "decoding/decoded_slots.hpp"

#include <feedline/error.hpp>

#include "decoding/carried_blocks.hpp"
#include "detail/notifier.hpp"
#include "detail/threads.hpp"
#include "reader/run_failure.hpp"

#include <cstddef>
#include <exception>
#include <span>
#include <utility>
#include <vector>

namespace feedline::detail {

bool decoded_slots::is_checked(const slot_content& content) noexcept {
  return content.samples != 0 && content.blocks &&
         carried_blocks::of(*content.blocks).first_bad != nullptr &&
         !content.pass->abandoned.load();
}

bool decoded_slots::await(const device_slot& taken, const std::function<bool()>& given_up) const {
  const auto decoded = [&] { return device_.is_done(taken.ready.get()); };
  if (!spin_until(decoded, pauses_between_polls))
    poll_until([&] { return given_up() || decoded(); });
  return decoded();
}

void decoded_slots::drop_missing(slot_content& content) const {
  if (!is_checked(content)) return;
  const std::uint64_t bad = *carried_blocks::of(*content.blocks).first_bad;
  if (bad >= content.samples) return;
  content.failure = failure_of(content, bad);
  content.batches = bad / rows_.batch_size();
  content.samples = content.batches * rows_.batch_size();
}

failure decoded_slots::failure_of(const slot_work& work, std::uint64_t bad) const {
  try {
    const position at{work.first.value + bad};
    sample_index sample{};
    source_.indices(work.pass->epoch, at, {&sample, 1});
    const auto size = work.size_at(bad);
    std::vector<std::byte> row(rows_.sample_bytes());
    std::vector<std::span<std::byte>> out;
    std::size_t begin = 0;
    for (std::size_t place = 0; place < rows_.fields().size(); ++place) {
      const std::size_t bytes = rows_.row_bytes(place, size);
      out.push_back(std::span{row}.subspan(begin, bytes));
      begin += bytes;
    }
    std::vector<unreadable_sample> none;
    const std::span samples{&sample, 1};
    const read_context context{source_.seed(), work.pass->epoch, samples, at};
    source_.read(*work.pass, {samples, out, context.with(size)}, none);
    if (const auto why = reader_.failure(work.pass->epoch, sample)) std::rethrow_exception(why);
    throw dataset_error{{.path = {}, .field = {}, .sample = sample.value, .offset = {}},
                        device_.capabilities().name +
                            " did not decode the sample's block, but the CPU does: set "
                            "loader_options::decode_on to cpu"};
  } catch (...) {
    slot_failure why = current_failure(work, bad, rows_.batch_size());
    return {std::move(why.where), why.cause};
  }
}

}  // namespace feedline::detail
