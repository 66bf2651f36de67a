// Reads of `object_file` where there is a cache.

#include "detail/threads.hpp"
#include "remote/cache/cache_counts.hpp"
#include "remote/object_file.hpp"
#include "remote/request/network_wait.hpp"

#include <algorithm>
#include <chrono>
#include <memory>

namespace feedline::detail {
namespace {

/// A part of one block; takes it off the whole.
byte_read next_piece(byte_read& whole, std::uint64_t block_bytes) {
  const std::uint64_t end = (whole.offset / block_bytes + 1) * block_bytes;
  const auto bytes =
      static_cast<std::size_t>(std::min<std::uint64_t>(end - whole.offset, whole.out.size()));
  const byte_read piece{whole.offset, whole.out.first(bytes)};
  whole = {whole.offset + bytes, whole.out.subspan(bytes)};
  return piece;
}

/// Joins it to the last one, if it follows that in the object and in memory.
void add(std::vector<byte_read>& all, const byte_read& piece) {
  if (!all.empty() && all.back().end() == piece.offset &&
      all.back().out.data() + all.back().out.size() == piece.out.data())
    all.back().out = {all.back().out.data(), all.back().out.size() + piece.out.size()};
  else
    all.push_back(piece);
}

}  // namespace

void object_file::read_blocks(const byte_read& part, std::vector<byte_read>& left,
                              std::vector<byte_read>& awaited) const {
  for (byte_read rest = part; !rest.out.empty();) {
    const byte_read piece = next_piece(rest, identity_->block_bytes);
    const std::uint64_t number = piece.offset / identity_->block_bytes;
    // A wait for this block must not hold up the requests of the others.
    if (!awaited.empty() && awaited.back().offset / identity_->block_bytes == number) {
      awaited.push_back(piece);
      continue;
    }
    if (read_block(piece)) continue;
    if (claim(number, transfer_loop::urgency::now) == object_cache::claim::refused)
      add(left, piece);
    else
      awaited.push_back(piece);
  }
}

/// First what is fetched ahead: a block goes there only after it is in the cache.
bool object_file::read_block(const byte_read& piece) const {
  if (read_ahead(piece)) return true;
  const block_ref block{identity_.get(), piece.offset / identity_->block_bytes};
  return object_cache::of_this_process(access_.cache)
      .read(block, piece.offset - block.begin(), piece.out);
}

void object_file::await_block(const byte_read& piece) const {
  const auto until = std::chrono::steady_clock::now() + access_.target->deadline;
  std::unique_ptr<network_wait> measured;  // for another process, which waits for the network
  bool is_refused = false;
  poll_until([&] {
    if (read_block(piece)) return true;
    const auto how = claim(piece.offset / identity_->block_bytes, transfer_loop::urgency::now);
    // One that neither ends nor dies must not hold others up.
    is_refused = how == object_cache::claim::refused ||
                 (how == object_cache::claim::busy && std::chrono::steady_clock::now() > until);
    if (how == object_cache::claim::busy && !measured) {
      measured = std::make_unique<network_wait>();
      cache_counts().waits.fetch_add(1, std::memory_order_relaxed);
    }
    return is_refused;
  });
  measured.reset();
  if (is_refused) request({&piece, 1});
}

object_cache::claim object_file::claim(std::uint64_t number, transfer_loop::urgency when) const {
  // It may ask a service, which must not happen with the cache's lock.
  if (access_.target->identity) access_.target->identity->keep_fresh();
  object_cache& cache = object_cache::of_this_process(access_.cache);
  const block_ref block{identity_.get(), number};
  const std::uint64_t end = block.begin() + block.bytes();
  return cache.begin(block, [&] {
    // The cache may keep it longer than this object lives.
    const auto coming = std::make_shared<object_cache::arrival>(object_cache::arrival{
        .of = identity_,
        .number = number,
        .done = [object = this, end](const object_cache::arrival& came, bool is_kept) {
          ahead_store::kept(object, end, came.owner.get(), is_kept);
        }});
    const auto keep = [&cache, coming](const std::shared_ptr<const void>& owner,
                                       std::span<const std::byte> bytes) {
      coming->owner = owner;
      coming->bytes = bytes;
      cache.arrived(coming);
    };
    return ahead_store::of_this_process().fetch_whole(
        this, access_.target, pin_, {block.begin(), end}, when, access_.max_ahead_bytes, keep);
  });
}

void object_file::block_will_need(const byte_range& range) const {
  object_cache& cache = object_cache::of_this_process(access_.cache);
  ahead_store& ahead = ahead_store::of_this_process();
  byte_range left{range.begin, range.begin};  // consecutive pieces that are not kept
  const auto fetch_left = [&] {
    if (left.begin < left.end)
      ahead.fetch(this, access_.target, pin_, left, access_.max_ahead_bytes);
  };
  for (std::uint64_t at = range.begin; at < range.end;) {
    const block_ref block{identity_.get(), at / identity_->block_bytes};
    const std::uint64_t end = std::min(range.end, block.begin() + block.bytes());
    const bool is_left = !cache.has(block) && claim(block.number, transfer_loop::urgency::ahead) ==
                                                  object_cache::claim::refused;
    if (is_left) {
      left.end = end;
    } else {
      fetch_left();
      left = {end, end};
    }
    at = end;
  }
  fetch_left();
}

}  // namespace feedline::detail
