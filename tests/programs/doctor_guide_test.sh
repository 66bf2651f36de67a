#!/usr/bin/env bash
# doctor_guide_test.sh FEEDLINE_DOCTOR FEEDLINE_CONVERT MAKE_DIGITS GUIDE WORK: the report that
# docs/guide/doctor.md shows is what the commands that it shows print, but for what is measured.
set -euo pipefail
doctor=$(realpath "$1") convert=$(realpath "$2") make_digits=$(realpath "$3")
guide=$(realpath "$4") work=$5
rm -rf "$work"
mkdir -p "$work"
cd "$work"

fail() {
  echo "FAILED: $*" >&2
  exit 1
}

# The commands are the guide's own lines, with the programs of this build.
commands=$(sed -n '/^<!-- commands -->$/,/^<!-- \/commands -->$/p' "$guide" | sed -n 's/^    //p')
[[ $(grep -c . <<<"$commands") == 4 ]] || fail "the guide has no commands: $commands"
make_digits() { "$make_digits" "$@"; }
feedline-convert() { "$convert" "$@"; }
feedline-doctor() { "$doctor" "$@" --no-gpu >report; }
eval "$commands"
sed -n '/^<!-- report -->$/,/^<!-- \/report -->$/p' "$guide" | sed '1,2d' | sed '/^```$/,$d' >shown

# stable FILE: the parts that do not depend on the machine. For lines with a label that is the
# label, once a section, except for the file's content; for code everything but the number of
# readers.
stable() {
  awk '
    /^#include/ { code = 1 }
    code { sub(/\.readers = -?[0-9]+/, ".readers = N"); print; next }
    /^notes$/ { section = $0; next }
    section == "notes" && /^(  .*)?$/ { next }
    !/^  / {
      section = $0
      gsub(/[0-9]+(\.[0-9]+)? (ms|us|s|ns)/, "TIME"); gsub(/[0-9]+ readers?/, "N readers")
      gsub(/[0-9]+ cores?/, "N cores"); print; next
    }
    { label = substr($0, 3, 13); sub(/ +$/, "", label) }
    section == "what is in it" || label ~ /^(samples|field|chunks)$/ { print; next }
    label ~ /readers?$/ || label ~ /^(|-|also|begin|later epochs|measured|next)$/ { next }
    told[section, label]++ == 0 { print "  " label }' "$1"
}
[[ -s shown ]] || fail "the guide shows no report"
stable shown >of_guide
stable report >of_run
diff of_guide of_run >difference ||
  fail "the guide (<) shows another report than feedline-doctor prints (>):
$(cat difference)"
[[ $(wc -l <of_guide) -gt 40 ]] || fail "nearly nothing was compared: $(cat of_guide)"
