// Tries of `attempt` that are made by a direct connection.

#include "remote/request/attempt.hpp"
#include "remote/request/counts.hpp"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

namespace feedline::detail {

std::optional<direct_address> attempt::direct_to(const remote_transfer& of) noexcept {
  const bool may = of.tries == 1 && of.target->identity == nullptr &&
                   of.wanted.what == wanted_bytes::kind::range &&
                   of.wanted.bytes >= direct_servers::least_bytes();
  return may ? direct_address::of(of.target->url) : std::nullopt;
}

std::string attempt::direct_head(const remote_transfer& of, const direct_address& to) {
  const wanted_bytes& wanted = of.wanted;
  std::string head;
  head.reserve(256 + to.path.size() + to.host.size());
  head.append("GET ").append(to.path).append(" HTTP/1.1\r\nHost: ").append(to.host);
  head.append("\r\nUser-Agent: ").append(user_agent()).append("\r\nAccept: */*\r\nRange: bytes=");
  head.append(std::to_string(wanted.begin)).append("-");
  head.append(std::to_string(wanted.begin + wanted.bytes - 1)).append("\r\n");
  if (const std::string condition = condition_of(wanted.pin); !condition.empty())
    head.append(condition).append("\r\n");
  return head.append("\r\n");
}

attempt::attempt(transfer_ptr of, std::size_t index)
    : of_{std::move(of)}, index_{index}, out_{of_->out} {}

direct_receiver::next attempt::take_head(std::string_view head) {
  first_byte_ = last_byte_ = clock::now();
  while (!head.empty()) {
    const std::string_view line = head.substr(0, head.find("\r\n"));
    answer_.add(line);
    head.remove_prefix(std::min(head.size(), line.size() + 2));
  }
  const bool is_other = answer_.status < 200 || (answer_.status >= 300 && answer_.status < 400);
  if (is_other) return next::unfit;  // libcurl follows redirects
  judge();
  if (verdict_.fault == remote_fault::refused) return next::unfit;  // its body may have words
  if (verdict_.fault != remote_fault::none) return next::fault;
  const bool has_length = answer_.length && *answer_.length == of_->wanted.bytes;
  if (!has_length) return next::unfit;
  try {
    require_memory();
  } catch (const std::bad_alloc&) {  // other requests need not fail for it
    verdict_ = {remote_fault::reset, "there is no memory for the bytes"};
    return next::fault;
  }
  return sum_ && of_->out.has_gaps() ? next::unfit : next::body;  // the kernel drops these
}

direct_receiver::room attempt::next_room() noexcept {
  const auto rest = out_.next();
  return {rest.out, static_cast<std::size_t>(rest.bytes)};
}

void attempt::came(std::size_t bytes) noexcept {
  last_byte_ = clock::now();
  if (sum_) sum_->add({out_.next().out, bytes});
  out_.came(bytes);
  got_ += bytes;
  counters().bytes.fetch_add(bytes, std::memory_order_relaxed);
}

}  // namespace feedline::detail
