// How direct connections receive answers.

#include "remote/direct/connections.hpp"

#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <span>
#include <string_view>

namespace feedline::detail {
namespace {

constexpr std::size_t max_head = std::size_t{16} << 10;

char small_letter(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

/// The value of a header; empty if there is none. @param name With its colon, in small_letter case.
std::string_view header(std::string_view head, std::string_view name) noexcept {
  for (std::size_t line = head.find("\r\n"); line != std::string_view::npos;
       line = head.find("\r\n", line + 2)) {
    std::string_view rest = head.substr(line + 2);
    rest = rest.substr(0, rest.find("\r\n"));
    if (rest.size() < name.size() ||
        !std::ranges::equal(rest.substr(0, name.size()), name, {}, small_letter))
      continue;
    rest.remove_prefix(name.size());
    while (!rest.empty() && rest.front() == ' ') rest.remove_prefix(1);
    return rest;
  }
  return {};
}

bool is_close(std::string_view value) noexcept {
  return std::ranges::equal(value, std::string_view{"close"}, {}, small_letter);
}

}  // namespace

void direct_connections::receive(connection& it) {
  while (!it.has_ended && (it.has_head ? receive_body(it) : receive_head(it))) {
  }
}

/// One call of the kernel's. @return False: there is no more now.
bool direct_connections::receive_head(connection& it) {
  const ssize_t got = ::recv(it.socket, part_.data(), part_.size(), MSG_DONTWAIT);
  if (got < 0 && is_again(errno)) return false;
  if (got <= 0) {
    if (it.was_used && it.head.empty())
      finish(it, outcome::was_closed);
    else
      finish(it, got == 0 && it.head.empty() ? outcome::no_answer : outcome::broke);
    return false;
  }
  return take_head(it, {part_.data(), static_cast<std::size_t>(got)});
}

/// @return Whether the body is to be received.
bool direct_connections::take_head(connection& it, std::string_view part) {
  constexpr std::string_view begin = "HTTP/1.1 ";
  constexpr std::string_view end = "\r\n\r\n";
  if (!it.head.empty()) {
    it.head += part;
    part = it.head;
  }
  const std::size_t compared = std::min(part.size(), begin.size());
  if (part.substr(0, compared) != begin.substr(0, compared)) {
    if (part.starts_with("HTTP/"))
      finish(it, outcome::unfit, "is not HTTP/1.1");
    else
      finish(it, outcome::no_http);
    return false;
  }
  const std::size_t size = part.find(end);
  if (size == std::string_view::npos) {
    if (part.size() > max_head)
      finish(it, outcome::unfit, "has a long head");
    else if (it.head.empty())
      it.head = part;
    return !it.has_ended;
  }
  const std::string_view head = part.substr(0, size);
  const bool is_coded = !header(head, "transfer-encoding:").empty();
  it.is_kept = !is_close(header(head, "connection:"));
  it.has_head = true;
  const auto next = is_coded ? direct_receiver::next::unfit : it.by->take_head(head);
  if (next != direct_receiver::next::body) {
    it.is_kept = false;
    if (next == direct_receiver::next::fault)
      finish(it, outcome::judged);
    else
      finish(it, outcome::unfit, is_coded ? "is in chunks" : "is no plain part of an object");
    return false;
  }
  for (part.remove_prefix(size + end.size()); !part.empty() && it.by->left() != 0;) {
    const direct_receiver::room to = it.by->next_room();
    const std::size_t bytes = std::min(part.size(), to.bytes);
    if (to.memory != nullptr)
      std::ranges::copy(std::as_bytes(std::span{part.substr(0, bytes)}), to.memory);
    it.by->came(bytes);
    part.remove_prefix(bytes);
  }
  if (!part.empty()) it.is_kept = false;  // more than the head says
  if (it.by->left() != 0) return true;
  finish(it, outcome::whole);
  return false;
}

/// One call of the kernel's. @return False: there is no more now.
bool direct_connections::receive_body(connection& it) {
  const direct_receiver::room to = it.by->next_room();
  // Without memory the kernel drops the bytes.
  const ssize_t got =
      ::recv(it.socket, to.memory, to.bytes, MSG_DONTWAIT | (to.memory == nullptr ? MSG_TRUNC : 0));
  if (got < 0 && is_again(errno)) return false;
  if (got <= 0) {
    finish(it, got == 0 ? outcome::ended_early : outcome::broke);
    return false;
  }
  it.by->came(static_cast<std::size_t>(got));
  if (it.by->left() != 0) return true;
  finish(it, outcome::whole);
  return false;
}

}  // namespace feedline::detail
