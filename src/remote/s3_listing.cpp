#include "remote/s3_listing.hpp"

#include "remote/request/percent.hpp"

#include <charconv>
#include <memory>
#include <new>
#include <stdexcept>
#include <type_traits>

#include <expat.h>

namespace feedline::detail {
namespace {

constexpr std::size_t max_depth = 32;

/// Reads a page element by element. One document.
class page_reader {
 public:
  page_reader() : parser_{XML_ParserCreate(nullptr)} {
    if (!parser_) throw std::bad_alloc{};
    XML_SetUserData(parser_.get(), this);
    XML_SetElementHandler(parser_.get(), &page_reader::on_begin, &page_reader::on_end);
    XML_SetCharacterDataHandler(parser_.get(), &page_reader::on_text);
    XML_SetStartDoctypeDeclHandler(parser_.get(), &page_reader::on_type);
  }

  s3_page read(std::string_view xml) {
    if (xml.size() > max_bytes) throw std::runtime_error{"the list is too long"};
    const auto status = XML_Parse(parser_.get(), xml.data(), static_cast<int>(xml.size()), 1);
    if (failure_) std::rethrow_exception(failure_);
    if (status != XML_STATUS_OK)
      throw std::runtime_error{std::string{"the list is not well-formed: "} +
                               XML_ErrorString(XML_GetErrorCode(parser_.get()))};
    if (root_ != "ListBucketResult")
      throw std::runtime_error{"the answer is not a list of objects"};
    if (is_url_encoded_)
      for (auto* names : {&page_.objects, &page_.folders})
        for (std::string& name : *names) name = decoded(name);
    if (page_.is_truncated && page_.next.empty())
      throw std::runtime_error{"the list is truncated, and does not say how it continues"};
    return std::move(page_);
  }

 private:
  static constexpr std::size_t max_bytes = std::size_t{1} << 30;
  struct parser_end {
    void operator()(XML_Parser parser) const noexcept { XML_ParserFree(parser); }
  };

  /// Runs a handler; an exception ends the parser, since it must not pass through its C code.
  template <class Body>
  static void handle(void* self, Body body) noexcept {
    auto& its = *static_cast<page_reader*>(self);
    if (its.failure_) return;
    try {
      body(its);
    } catch (...) {
      its.failure_ = std::current_exception();
      XML_StopParser(its.parser_.get(), XML_FALSE);
    }
  }

  static void on_begin(void* self, const char* name, const char**) {
    handle(self, [name](page_reader& its) { its.begin(name); });
  }
  static void on_end(void* self, const char*) {
    handle(self, [](page_reader& its) { its.end(); });
  }
  static void on_text(void* self, const char* text, int bytes) {
    handle(self, [text, bytes](page_reader& its) {
      its.text_.append(text, static_cast<std::size_t>(bytes));
    });
  }
  static void on_type(void* self, const char*, const char*, const char*, int) {
    handle(self, [](page_reader&) {
      throw std::runtime_error{"the list has a document type, which S3's lists do not"};
    });
  }

  void begin(std::string_view name) {
    if (path_.empty()) root_ = name;
    if (path_.size() >= max_depth) throw std::runtime_error{"the list is nested too deep"};
    path_.emplace_back(name);
    text_.clear();
  }

  void end() {
    const bool is_nested = path_.size() == 3;
    const std::string& name = path_.back();
    if (is_nested && path_[1] == "Contents" && name == "Key") {
      page_.objects.push_back(text_);
      page_.bytes.emplace_back();
    }
    if (is_nested && path_[1] == "Contents" && name == "Size" && !page_.bytes.empty())
      page_.bytes.back() = number_of(text_);
    if (is_nested && path_[1] == "CommonPrefixes" && name == "Prefix")
      page_.folders.push_back(text_);
    if (path_.size() == 2) {
      if (name == "IsTruncated") page_.is_truncated = text_ == "true";
      if (name == "NextContinuationToken") page_.next = text_;
      if (name == "EncodingType") is_url_encoded_ = text_ == "url";
    }
    path_.pop_back();
    text_.clear();
  }

  static std::optional<std::uint64_t> number_of(std::string_view text) noexcept {
    std::uint64_t number = 0;
    const auto read = std::from_chars(text.data(), text.data() + text.size(), number);
    if (read.ec != std::errc{} || read.ptr != text.data() + text.size()) return std::nullopt;
    return number;
  }

  std::unique_ptr<std::remove_pointer_t<XML_Parser>, parser_end> parser_;
  std::exception_ptr failure_;
  std::vector<std::string> path_;
  std::string root_;
  std::string text_;
  bool is_url_encoded_ = false;
  s3_page page_;
};

}  // namespace

s3_page read_s3_page(std::string_view xml) {
  return page_reader{}.read(xml);
}

}  // namespace feedline::detail
