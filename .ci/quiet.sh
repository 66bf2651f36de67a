# Sourced by the scripts that build and test: what they show of the many lines that come by. The
# callers keep all of them in a file.

# feedline_show_build NAME: of ninja's words on standard input, one line for each tenth of the way,
# and all that is no step: warnings and errors.
feedline_show_build() {
  local line tenth=0
  while IFS= read -r line; do
    if [[ $line =~ ^\[([0-9]+)/([0-9]+)\]\  ]]; then
      if ((BASH_REMATCH[1] * 10 / BASH_REMATCH[2] > tenth)); then
        tenth=$((BASH_REMATCH[1] * 10 / BASH_REMATCH[2]))
        echo "$1: built ${BASH_REMATCH[1]} of ${BASH_REMATCH[2]} ($SECONDS s)"
      fi
    elif [[ $line != "ninja: Entering directory"* ]]; then
      printf '%s\n' "$line"
    fi
  done
}

# feedline_show_tests NAME: of ctest's words on standard input, one line for each tenth of the way,
# each test that failed with what it said, and the last lines; not which tests were skipped.
feedline_show_tests() {
  local line tenth=0 showing=no
  while IFS= read -r line; do
    if [[ $line =~ ^\ *([0-9]+)/([0-9]+)\ Test\ +#[0-9]+: ]]; then
      local done=${BASH_REMATCH[1]} all=${BASH_REMATCH[2]}
      showing=yes
      if [[ $line =~ \ Passed\ +[0-9.]+\ sec || $line == *'***Skipped'* ]]; then showing=no; fi
      if ((done * 10 / all > tenth)); then
        tenth=$((done * 10 / all))
        echo "$1: ran $done of $all tests ($SECONDS s)"
      fi
    elif [[ $line =~ ^\ +Start\ +[0-9]+:\  || $line == "The following tests did not run:" ]]; then
      showing=no
    elif [[ $line =~ ^[0-9]+%\ tests\ passed || $line == "The following tests FAILED:" ||
      $line == "No tests were found"* ]]; then
      showing=yes
    fi
    if [[ $showing == yes && -n $line ]]; then printf '%s\n' "$line"; fi
  done
}

# feedline_show_skipped LOG: how many tests were skipped for which reason, from ctest's
# LastTest.log.
feedline_show_skipped() {
  awk '
    /^[0-9]+\/[0-9]+ Testing: / { name = $0; sub(/^[^:]*: /, "", name) }
    /\[feedline skip\]/ { reason = $0; sub(/.*\[feedline skip\] */, "", reason); open = 1; next }
    open && !/^ *$/ && !/^[=<]/ { line = $0; sub(/^ +/, "", line); reason = reason " " line; next }
    open { open = 0; if (!count[reason]++) { first[reason] = name; order[++reasons] = reason } }
    END {
      for (i = 1; i <= reasons; ++i)
        printf "  %d skipped: %s (%s%s)\n", count[order[i]], order[i], first[order[i]],
          (count[order[i]] > 1 ? ", …" : "")
    }' "$1"
}
