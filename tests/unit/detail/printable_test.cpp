#include "detail/printable.hpp"

#include <feedline/dataset/field.hpp>
#include <feedline/error.hpp>

#include "support/checks/catch.hpp"

#include <string>

using feedline::detail::printable;

TEST_CASE("printable: text without control characters is shown as it is", "[host]") {
  for (const std::string text :
       {"", "train/images", "a b\\c\"'", "Größe", "画像", "\xf0\x9f\x99\x82", "n\xcc\x83"})
    CHECK(printable(text) == text);
}

TEST_CASE("printable: characters that control a terminal or look like a new line become escapes",
          "[host]") {
  CHECK(printable("a\nb\tc\rd") == "a\\nb\\tc\\x0dd");
  CHECK(printable("\x1b[2J\x07\x7f") == "\\x1b[2J\\x07\\x7f");
  CHECK(printable(std::string{"a\0b", 3}) == "a\\x00b");
  CHECK(printable("\xc2\x9b"
                  "31m") == "\\xc2\\x9b31m");  // C1's CSI, as UTF-8
  CHECK(printable("\xe2\x80\xae"
                  "gpj") == "\\xe2\\x80\\xaegpj");        // right to left from here on
  CHECK(printable("\xe2\x80\xa8") == "\\xe2\\x80\\xa8");  // a line's end
}

TEST_CASE("printable: bytes that are no UTF-8 become escapes", "[host]") {
  CHECK(printable("\x9b"
                  "31m") == "\\x9b31m");                           // CSI by itself
  CHECK(printable("\xc3") == "\\xc3");                             // cut
  CHECK(printable("\xc0\x8a") == "\\xc0\\x8a");                    // a line feed, overlong
  CHECK(printable("\xe0\x80\x8a") == "\\xe0\\x80\\x8a");           // a line feed, overlong
  CHECK(printable("\xed\xa0\x80") == "\\xed\\xa0\\x80");           // a surrogate
  CHECK(printable("\xf4\x90\x80\x80") == "\\xf4\\x90\\x80\\x80");  // beyond Unicode
  CHECK(printable("\xf0\x9f\x99") == "\\xf0\\x9f\\x99");
}

TEST_CASE("printable: errors and fields show names so, and keep them as they are", "[host]") {
  const feedline::dataset_error error{{.path = "a\x1b[2J.h5", .field = "x\ny"}, "'\x07' is bad"};
  CHECK(std::string{error.what()} == "a\\x1b[2J.h5: field 'x\\ny': '\\x07' is bad");
  CHECK(error.path() == "a\x1b[2J.h5");
  CHECK(error.field() == "x\ny");
  CHECK(error.message() == "'\x07' is bad");
  CHECK(to_string(feedline::field{"x\n", feedline::element_type::u8, {3}}) == "x\\n: uint8[3]");
}

TEST_CASE("printable: addresses lose their passwords and queries, also in errors' paths",
          "[host]") {
  CHECK(printable("https://me:word@a.org/x?sig=1&b=2: is bad; see http://b.org/y?k=v, "
                  "'s3://b/c?d'") ==
        "https://...@a.org/x?...: is bad; see http://b.org/y?..., 's3://b/c?...'");
  CHECK(printable("a?b://c") == "a?b://c");
  CHECK(printable("https://a.org/x@y") == "https://a.org/x@y");
  CHECK(printable("https://u:p@") == "https://...@");
  CHECK(printable("http://a?b?c@d") == "http://a?...");
  CHECK(printable("://?") == "://?...");
  CHECK(printable("http://u:p\nq@h/x?y\nz") == "http://...@h/x?...");
  const feedline::dataset_error odd{{.path = "http://u:p q'@h/x y?s t", .field = {}}, "is bad"};
  CHECK(std::string{odd.what()} == "http://...@h/x y?...: is bad");
  const feedline::dataset_error error{{.path = "http://u:p@h/x?s", .field = {}},
                                      "unlike http://u:p@h/y?s"};
  CHECK(std::string{error.what()} == "http://...@h/x?...: unlike http://...@h/y?...");
  CHECK(error.path() == "http://...@h/x?...");
  CHECK(error.message() == "unlike http://...@h/y?...");
}
