# Sourced by the scripts beside it: `page_commands SECTION` prints the commands of a section of
# docs/guide/installing.md, which are its lines indented by four spaces.

feedline_page=$(readlink -f "$(dirname "${BASH_SOURCE[0]}")/../../docs/guide/installing.md")
page_commands() {
  sed -n "/^## $1\$/,/^## /s/^    //p" "$feedline_page" | grep . ||
    { echo "installing.md has no commands in a section '$1'" >&2; return 1; }
}

# The version that feedline/version.hpp has.
feedline_version=$(sed -nE 's/#define FEEDLINE_VERSION_[A-Z]+ //p' \
  "$(dirname "${BASH_SOURCE[0]}")/../../include/feedline/version.hpp" | paste -s -d .)
