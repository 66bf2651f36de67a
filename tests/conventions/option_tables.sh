#!/usr/bin/env bash
# option_tables.sh SOURCE [update]: the tables in docs/guide/options.md are what the headers say.
#
# A line <!-- members: HEADER#STRUCT [PREFIX] --> is above each table. The table has a row for each
# member of the struct: PREFIX and its name, its default, and its comment (`///` above it, or `///<`
# after it). The prefix = is the struct's name and "::". "update" writes the tables into the page.
set -euo pipefail
export LC_ALL=C.UTF-8
cd "$1"
page=docs/guide/options.md

# members HEADER STRUCT PREFIX: the table.
members() {
  echo '| option | default | meaning |'
  echo '| --- | --- | --- |'
  awk -v wanted="$2" -v prefix="$3" '
    function trimmed(text) { gsub(/^ +| +$/, "", text); return text }
    function add(comment) { meaning = trimmed(meaning " " trimmed(comment)) }
    # A member ends where the next one, its comment, an empty line or the struct ends.
    function flush(   name, value, type, at) {
      if (declared == "" || declared ~ /\(/) { declared = ""; meaning = ""; ended = 0; return }
      sub(/;.*/, "", declared)
      value = declared
      if (declared ~ / = /) { sub(/^.* = */, "", value); sub(/ = .*/, "", declared) }
      else if (declared ~ /\{/) { sub(/^[^{]*/, "", value); sub(/\{.*/, "", declared) }
      else value = ""
      declared = trimmed(declared)
      type = declared; sub(/ [a-z_]+$/, "", type)
      name = declared; sub(/^.* /, "", name)
      gsub(/\047/, "", value)
      if (value ~ /^\{[0-9]+\}$/) {
        gsub(/[{}]/, "", value)
        if (type ~ /milliseconds/) value = value " ms"
      }
      if (value == "" || value == "{}" || value == "std::nullopt") {
        if (type ~ /milliseconds/) value = "0"
        else value = type ~ /optional|vector/ ? "none" : "{}"
      }
      sub(/^.*::/, "", value)
      if (value !~ /^[0-9]/ && value != "none") value = "`" value "`"
      sub(/^.*::/, "", type)
      if (meaning == "") meaning = "`" type "`"
      gsub(/\|/, "\\|", meaning)
      print "| `" prefix name "` | " value " | " \
        toupper(substr(meaning, 1, 1)) substr(meaning, 2) " |"
      declared = ""; meaning = ""; ended = 0
    }
    $0 == "struct " wanted " {" { inside = 1; next }
    inside && /^};/ { flush(); exit }
    !inside { next }
    /^ *$/ { flush(); next }
    /^ *\/\/\/</ { sub(/^ *\/\/\/</, ""); add($0); next }
    /^ *\/\/\// { if (ended) flush(); sub(/^ *\/\/\//, ""); add($0); next }
    {
      if (ended) flush()
      code = $0
      if (code ~ /\/\/\/</) { comment = code; sub(/^.*\/\/\/</, "", comment); add(comment)
                              sub(/\/\/\/<.*/, "", code) }
      declared = declared " " trimmed(code)
      if (code ~ /;/) ended = 1
    }' "$1"
}

written=$(mktemp)
trap 'rm -f "$written"' EXIT
rows=0
table=
while IFS= read -r line; do
  if [[ -n $table && $line == '|'* ]]; then continue; fi
  table=
  printf '%s\n' "$line" >>"$written"
  if [[ $line =~ ^'<!-- members: '([^#]+)#([a-z_]+)( ([a-z_.=]+))?' -->'$ ]]; then
    prefix=${BASH_REMATCH[4]:-}
    table=$(members "${BASH_REMATCH[1]}" "${BASH_REMATCH[2]}" "${prefix/=/${BASH_REMATCH[2]}::}")
    count=$(grep -c '' <<<"$table")
    if ((count < 4)); then
      echo "FAILED: ${BASH_REMATCH[1]} has no struct ${BASH_REMATCH[2]} of two members or more" >&2
      exit 1
    fi
    rows=$((rows + count - 2))
    printf '%s\n' "$table" >>"$written"
  fi
done <"$page"
if ((rows < 20)); then
  echo "FAILED: only $rows options found for $page: this test misreads it" >&2
  exit 1
fi

if [[ ${2:-} == update ]]; then
  cat "$written" >"$page"
elif ! diff -u "$page" "$written" >&2; then
  echo "FAILED: $page is not what the headers say; tests/conventions/option_tables.sh . update" \
    "writes it" >&2
  exit 1
fi
echo "$rows options in $page are as the headers say"
